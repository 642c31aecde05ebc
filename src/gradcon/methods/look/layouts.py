"""Whether the cameras stand where the baselines say: one check over the eight layouts of a grid.

Rows or columns may be counted from the wrong end, and x and y may be exchanged.  That makes eight layouts, in four
pairs.  The two of a pair have opposite baselines; they explain the images equally well, with all disparities negated.

*Which pair*: with wrong axes the views agree at no disparity.  A search of all disparities on a small copy shows which
pair explains the images best.

*Which of the two*: near and far are exchanged, and that shows where surfaces hide each other.  A pixel that another
view cannot see, because a nearer surface lands on it, looks different there.  If instead the pixels that a *farther*
surface lands on look different, all baselines are reversed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradcon import engines
from gradcon.arrays import module_of, to_host
from gradcon.engines.sweep import Views
from gradcon.methods.look.small_copy import seen_at
from gradcon.methods.sweep.labels import whole_range
from gradcon.scene import Scene
from gradcon.scene.layout import Layout

STEP = 1.0  # pixels of the farthest view, from label to label
EVERY = 2  # rows of the small copy
SMALLEST = 16  # pixels on the shorter side of a copy that tells anything
CLEARLY = 0.93  # another layout leaves less than this share of the difference; right ones leave 0.995 or more
HIDDEN_STEP = 1.5  # pixels in the other view between a surface and what it hides
FARTHEST = 4  # views in which to look for hidden pixels
ACROSS = 256  # pixels along the longer side, at least, that are looked at
ENOUGH = 100  # hidden pixels for a verdict
REVERSED = 1.5  # ratio of the differences behind farther surfaces to those behind nearer ones

AXES = (Layout(), Layout(y=True), Layout(transposed=True), Layout(y=True, transposed=True))  # one of each pair


def can_tell(scene: Scene, small: Views) -> bool:
    """Return whether the layout can be wrong, and whether the small copy is large enough to show it."""
    return min(small.shape) >= SMALLEST and scene.is_planar


def better_axes(small: Views, engine: str) -> Layout | None:
    """Return the layout whose axes explain the images clearly better than those that are given, if there is one."""
    found = differences(small, engine)
    best = min(found, key=lambda layout: found[layout])
    return best if found[best] < CLEARLY * found[AXES[0]] else None


def differences(small: Views, engine: str) -> dict[Layout, float]:
    """Return the difference between the views that remains in one layout of each pair that can be told apart."""
    B = small.epipoles[:, :2]
    in_line = np.linalg.matrix_rank(B, tol=1e-6 * np.abs(B).max()) == 1
    along = [not np.abs(axis).max() > 1e-6 * np.abs(B).max() for axis in B.T]  # a row or a column
    others = AXES[2:3] if in_line and any(along) else AXES[1:]
    return {layout: _least_difference(small, layout, engine) for layout in (AXES[0], *others)}


def _least_difference(small: Views, layout: Layout, engine: str) -> float:
    """Return the difference between the reference and the targets that remains at each pixel's best disparity."""
    epipoles = small.epipoles.copy()
    epipoles[:, :2] = layout.of(epipoles[:, :2])
    sweep = engines.create_sweep(engine, small._replace(epipoles=epipoles))
    labels = whole_range(sweep, STEP)
    smallest = sweep.difference(labels.first, labels.number, labels.step, EVERY)
    known = smallest[module_of(smallest).isfinite(smallest)]
    return float(known.mean()) if known.size else np.inf


class Behind(NamedTuple):
    """How different pixels look in other views that a nearer surface hides there, and that a farther one would hide."""

    nearer: float
    farther: float

    @property
    def reversed(self) -> bool:
        return self.farther > REVERSED * self.nearer


def behind_surfaces(scene: Scene, disparity: NDArray[np.float32]) -> Behind | None:
    """Compare pixels behind nearer and behind farther surfaces; None if there are too few of either."""
    from gradcon.engines.cpu.visibility import front

    w, reference = np.ascontiguousarray(disparity, np.float32), to_host(scene.reference)
    every = max(1, max(scene.shape) // ACROSS)
    y, x = (np.arange(0, n, every) for n in scene.shape)
    y, x = (a.ravel() for a in np.meshgrid(y, x, indexing="ij"))
    at, surface = w[y, x].astype(np.float64), np.empty(scene.shape)
    sums, counts = np.zeros(2), np.zeros(2)  # of differences behind nearer and behind farther surfaces
    for t in np.argsort(np.hypot(*scene.baselines.T), kind="stable")[-FARTHEST:]:
        bx, by = scene.baselines[t]
        step, target = HIDDEN_STEP / np.hypot(bx, by), to_host(scene.target(t))[None]
        u, v = np.rint(x + bx * at), np.rint(y + by * at)
        inside = np.flatnonzero((u >= 0) & (u < scene.shape[1]) & (v >= 0) & (v < scene.shape[0]))
        u, v = (a[inside].astype(np.intp) for a in (u, v))  # far outside, they would not fit into integers
        for k, sign in enumerate((1, -1)):
            front(sign * w, sign * bx, sign * by, surface)
            hidden = inside[surface[v, u] > sign * at[inside] + step]
            seen = seen_at(target, x[hidden], y[hidden], at[hidden], (bx, by, 0))[0]
            difference = np.abs(seen - reference[y[hidden], x[hidden]])
            known = np.isfinite(difference)
            sums[k] += difference[known].sum(dtype=np.float64)
            counts[k] += np.count_nonzero(known)
    if every**2 * counts.min() < ENOUGH:
        return None
    return Behind(*(sums / counts).tolist())
