"""Tell near from far by what surfaces hide from other views.

A pixel that another view cannot see, because a nearer surface lands on it, looks different there.  If instead the
pixels that a *farther* surface lands on look different, all baselines are reversed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradcon.arrays import beside, module_of, on_device
from gradcon.engines.sweep import Map
from gradcon.methods.look.small_copy import interpolated
from gradcon.scene import Scene
from gradcon.scene.luma import Image

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
    w, every = beside(disparity, scene.reference), max(1, max(scene.shape) // ACROSS)
    farthest = np.argsort(np.hypot(*scene.baselines.T), kind="stable")[-FARTHEST:].tolist()
    targets, baselines = module_of(w).stack([scene.target(t) for t in farthest]), scene.baselines[farthest]
    if on_device(w):
        from gradcon.engines.cuda import surfaces

        found = surfaces.behind(w, scene.reference, targets, baselines, every, HIDDEN_STEP)
    else:
        found = _compared_on_host(w, scene.reference, targets, baselines, every)
    sums, counts = found.T
    if every**2 * counts.min() < ENOUGH:
        return None
    return Behind(*(sums / counts).tolist())


def _compared_on_host(
    w: Map, reference: Image, targets: Image, baselines: NDArray[np.float64], every: int
) -> NDArray[np.float64]:
    """Return the sum and the number of the differences behind nearer surfaces, and behind farther ones, (2, 2)."""
    height, width = w.shape
    y, x = (a.ravel() for a in np.meshgrid(np.arange(0, height, every), np.arange(0, width, every), indexing="ij"))
    at, shown = w[y, x].astype(np.float64), reference[y, x]
    bx, by = baselines.T
    u, v = x + bx[:, None] * at, y + by[:, None] * at
    column, row = np.rint(u), np.rint(v)
    view, pixel = np.nonzero((column >= 0) & (column < width) & (row >= 0) & (row < height))
    column, row = (a[view, pixel].astype(np.intp) for a in (column, row))  # elsewhere, integers could not hold them
    step = HIDDEN_STEP / np.hypot(bx, by)[view]
    found = np.empty((2, 2))
    for sums, sign in zip(found, (1, -1), strict=True):
        surfaces = _fronts(sign * w, sign * baselines)
        hidden = surfaces[view, row, column] > sign * at[pixel] + step
        t, n = view[hidden], pixel[hidden]
        difference = np.abs(interpolated(targets[:, None], t, u[t, n], v[t, n])[:, 0] - shown[n])
        known = np.isfinite(difference)
        sums[:] = np.where(known, difference, 0).sum(dtype=np.float64), known.sum()
    return found


def _fronts(w: Map, baselines: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for each pixel of the views at these baselines the largest w of the reference pixels that land on it."""
    from gradcon.engines.cpu.visibility import front

    w, surfaces = np.ascontiguousarray(w, np.float32), np.empty((len(baselines), *w.shape))
    for (bx, by), surface in zip(baselines, surfaces, strict=True):
        front(w, bx, by, surface)
    return surfaces
