"""The predicted standard deviation of a swept map.

Three observations tell how far off a pixel may be: how sharply the cost rises beside the best label, by how much that
label beats all others, and how much the map varies around the pixel, because most errors stand beside depth jumps.
Their powers were fitted to the errors on two benchmarks; `docs/accuracy.md` shows how well they predict.
"""

from __future__ import annotations

import numpy as np

from gradcon.arrays import module_of
from gradcon.engines.sweep import Map, Views
from gradcon.methods.sweep.passes import Swept

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
    centred = w - w.mean()  # so that the squares keep their precision
    mean = _box(centred, radius)
    return module_of(w).sqrt(module_of(w).maximum(_box(centred * centred, radius) - mean * mean, 0))


def _box(values: Map, radius: int) -> Map:
    """Return the mean over a window, cut off at the frame."""
    xp = module_of(values)
    for axis in (0, 1):
        size = values.shape[axis]
        ends = np.arange(size)
        low, high = np.maximum(ends - radius, 0), np.minimum(ends + radius + 1, size)
        sums = xp.cumsum(values, axis=axis, dtype=np.float64)
        sums = xp.concatenate([xp.zeros_like(sums.take([0], axis=axis)), sums], axis=axis)
        shape = (-1, 1) if axis == 0 else (1, -1)
        count = xp.asarray((high - low).reshape(shape), np.float64)
        values = (sums.take(xp.asarray(high), axis=axis) - sums.take(xp.asarray(low), axis=axis)) / count
    return values.astype(np.float32)
