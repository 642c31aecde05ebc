"""Tell near from far by what surfaces hide from other views.

A pixel that another view cannot see, because a nearer surface lands on it, looks different there.  If instead the
pixels that a *farther* surface lands on look different, all baselines are reversed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradcon.arrays import beside, module_of, on_device, to_host
from gradcon.engines.sweep import Map
from gradcon.methods.look.small_copy import interpolated
from gradcon.scene import Scene

HIDDEN_STEP = 1.5  # pixels in the other view between a surface and what it hides
FARTHEST = 4  # views in which to look for hidden pixels
ACROSS = 256  # pixels along the longer side, at least, that are looked at
ENOUGH = 100  # hidden pixels for a verdict
REVERSED = 1.5  # ratio of the differences behind farther surfaces to those behind nearer ones


class Behind(NamedTuple):
    """How different pixels look in other views that a nearer surface hides there, and that a farther one would hide."""

    nearer: float
    farther: float

    @property
    def reversed(self) -> bool:
        return self.farther > REVERSED * self.nearer


def behind_surfaces(scene: Scene, disparity: Map) -> Behind | None:
    """Compare pixels behind nearer and behind farther surfaces; None if there are too few of either."""
    xp, w = module_of(scene.reference), beside(disparity, scene.reference)
    every, (height, width) = max(1, max(scene.shape) // ACROSS), scene.shape
    y, x = (a.ravel() for a in xp.meshgrid(xp.arange(0, height, every), xp.arange(0, width, every), indexing="ij"))
    at, shown = w[y, x].astype(np.float64), scene.reference[y, x]
    farthest = np.argsort(np.hypot(*scene.baselines.T), kind="stable")[-FARTHEST:].tolist()
    targets = xp.stack([scene.target(t) for t in farthest])[:, None]
    bx, by = xp.asarray(scene.baselines[farthest].T)
    u, v = x + bx[:, None] * at, y + by[:, None] * at
    column, row = xp.rint(u), xp.rint(v)
    view, pixel = xp.nonzero((column >= 0) & (column < width) & (row >= 0) & (row < height))
    column, row = (a[view, pixel].astype(np.intp) for a in (column, row))  # elsewhere, integers could not hold them
    step = HIDDEN_STEP / xp.hypot(bx, by)[view]
    sums = []  # of differences behind nearer and behind farther surfaces, and how many there are
    for sign in (1, -1):
        surfaces = _fronts(sign * w, sign * scene.baselines[farthest])
        hidden = surfaces[view, row, column] > sign * at[pixel] + step
        t, n = view[hidden], pixel[hidden]
        difference = xp.abs(interpolated(targets, t, u[t, n], v[t, n])[:, 0] - shown[n])
        known = xp.isfinite(difference)
        sums.append(xp.stack([xp.where(known, difference, 0).sum(dtype=np.float64), known.sum()]))
    sums, counts = to_host(xp.stack(sums)).T
    if every**2 * counts.min() < ENOUGH:
        return None
    return Behind(*(sums / counts).tolist())


def _fronts(w: Map, baselines: NDArray[np.float64]) -> Any:
    """Return for each pixel of the views at these baselines the largest w of the reference pixels that land on it."""
    height, width = w.shape
    if not on_device(w):
        from gradcon.engines.cpu.visibility import front

        w, surfaces = np.ascontiguousarray(w, np.float32), np.empty((len(baselines), height, width))
        for (bx, by), surface in zip(baselines, surfaces, strict=True):
            front(w, bx, by, surface)
        return surfaces
    xp, precise = module_of(w), w.astype(np.float64)
    bx, by = xp.asarray(baselines.T)[:, :, None, None]
    u = xp.rint(xp.arange(width) + bx * precise)
    v = xp.rint(xp.arange(height)[:, None] + by * precise)
    lands = (u >= 0) & (u < width) & (v >= 0) & (v < height)
    places = xp.where(lands, v * width + u, 0).astype(np.int64) + height * width * xp.arange(len(bx))[:, None, None]
    surfaces = xp.full(len(bx) * height * width, -np.inf, np.float32)
    xp.maximum.at(surfaces, places, xp.where(lands, w, np.float32(-np.inf)))
    return surfaces.reshape(len(bx), height, width)
