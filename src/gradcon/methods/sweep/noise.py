"""How much the views differ even where they agree best, and where the reference has edges.

Differences are judged relative to this level, so that clean and noisy scenes need no different parameters.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.arrays import module_of, on_device, quantile
from gradcon.engines.sweep import Map, SweepEngine, Views
from gradcon.methods.sweep.labels import Labels
from gradcon.methods.sweep.settings import LEAST_EDGE, LEAST_NOISE, NOISE

CELLS = 64  # into which the smallest differences are gathered, along each axis
SPREAD = 0.12  # of the longer side: the standard deviation of the Gaussian that smooths them
OUTLIERS = 0.05  # the share of the largest differences, which come from pixels that no other view sees


def noise_level(engine: SweepEngine, labels: Labels) -> Map:
    """Return the colour difference that counts as a full disagreement, pixel by pixel."""
    height, width = engine.views.shape
    down, across = max(1, height // CELLS), max(1, width // CELLS)
    smallest = engine.difference(labels.first, labels.number, labels.step, down)
    xp = module_of(smallest)
    known = smallest[xp.isfinite(smallest)]
    if known.size == 0:
        return xp.full((height, width), LEAST_NOISE, np.float32)
    smallest = xp.minimum(smallest, quantile(known, 1 - OUTLIERS))
    cells = smallest[:, : width // across * across].reshape(len(smallest), -1, across).mean(axis=2)
    spread = SPREAD * max(height, width)
    vertical = xp.asarray(_weights(height, cells.shape[0], 0, down, spread))
    horizontal = xp.asarray(_weights(width, cells.shape[1], (across - 1) / 2, across, spread))
    smooth = vertical @ cells.astype(np.float32) @ horizontal.T
    return xp.maximum(np.float32(NOISE) * smooth, np.float32(LEAST_NOISE))


@lru_cache
def _weights(size: int, cells: int, first: float, each: int, spread: float) -> NDArray[np.float32]:
    """Return how much of a Gaussian around each of `size` pixels falls into each cell; the outermost have no end."""
    places = first + each * np.arange(cells)
    borders = np.concatenate([[-np.inf], (places[1:] + places[:-1]) / 2, [np.inf]])
    return np.diff(_normal((borders - np.arange(size)[:, None]) / spread), axis=1).astype(np.float32)


def _normal(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the share of a normal distribution below x: SciPy's `ndtr`, whose import takes longer than all calls."""
    tails = map(math.erfc, (-math.sqrt(0.5) * x).ravel().tolist())
    return 0.5 * np.fromiter(tails, np.float64, x.size).reshape(x.shape)


def edge_factors(views: Views, noise: Map, jump: float, edge: float) -> Any:
    """Return what remains of a penalty between neighbours, as `SweepEngine.aggregate` wants it."""
    if on_device(noise):
        from gradcon.engines.cuda import comparison

        return comparison.edge_factors(views, noise, jump, edge, LEAST_EDGE)
    reference = views.colours[0].astype(np.float32) * np.float32(views.scale)
    width = np.float32(-1) / np.maximum(np.float32(LEAST_EDGE), np.float32(edge) * noise)
    factors = np.ones((4, *views.shape), np.float32)
    everywhere, later, earlier = slice(None), slice(1, None), slice(None, -1)
    for factor, here, there in (
        (factors[0], (everywhere, later), (everywhere, earlier)),
        (factors[1], (later, everywhere), (earlier, everywhere)),
        (factors[2], (later, later), (earlier, earlier)),
        (factors[3], (later, earlier), (earlier, later)),
    ):
        difference = np.abs(reference[:, *here] - reference[:, *there]).mean(axis=0)
        factor[here] = np.float32(jump) + np.float32(1 - jump) * np.exp(difference * width[here])
    return factors
