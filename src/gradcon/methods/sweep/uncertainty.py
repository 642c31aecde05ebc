"""The predicted standard deviation of a swept map.

Three observations tell how far off a pixel may be: how sharply the cost rises beside the best label, by how much that
label beats all others, and how much the map varies around the pixel, because most errors stand beside depth jumps.
Their powers were fitted to the errors on two benchmarks; `docs/accuracy.md` shows how well they predict.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcon.arrays import filters_of, module_of, on_device
from gradcon.engines.sweep import Map, Views
from gradcon.methods.sweep.passes import Swept
from gradcon.methods.sweep.window_means import window_means

SCALE = 0.085
CURVATURE, LEAD, NEAR, AROUND = -0.45, -0.5, 0.23, 0.19  # powers
NEAR_RADIUS, AROUND_RADIUS = 2, 7  # pixels


def deviation(views: Views, first: Map | None, last: Swept) -> Map:
    """Return the deviation in pixels per unit baseline; `first` is the lead in the first pass, if there was one."""
    xp = module_of(last.w)
    longest = np.float32(views.lengths.max())
    lead = last.lead if first is None else first
    logarithm = (
        CURVATURE * xp.log(xp.maximum(last.curvature, 0) + np.float32(0.01))
        + LEAD * xp.log(xp.maximum(lead, 0) + np.float32(0.02))
        + NEAR * xp.log(_spread(last.w, NEAR_RADIUS) * longest + np.float32(0.02))
        + AROUND * xp.log(_spread(last.w, AROUND_RADIUS) * longest + np.float32(0.05))
    )
    scale = np.float32(SCALE / (longest * np.sqrt(len(views.epipoles))))
    return (scale * xp.exp(logarithm)).astype(np.float32)


def _spread(w: Map, radius: int) -> Map:
    """Return the standard deviation of w in a window around each pixel."""
    xp = module_of(w)
    centred = (w - w.mean()).astype(np.float64)  # so that the squares keep their precision
    both = xp.stack([centred, centred * centred])
    mean, square = _means_on_device(both, radius) if on_device(w) else window_means(both, radius)
    return xp.sqrt(xp.maximum(square - mean * mean, 0)).astype(np.float32)


def _means_on_device(fields: Any, radius: int) -> Any:
    uniform_filter = filters_of(fields).uniform_filter
    return [uniform_filter(field, 2 * radius + 1, mode="nearest") for field in fields]
