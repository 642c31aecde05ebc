"""Whether the cameras stand where the baselines say: one check over the eight layouts of a grid.

Rows or columns may be counted from the wrong end, and x and y may be exchanged.  That makes eight layouts, in four
pairs.  The two of a pair have opposite baselines; they explain the images equally well, with all disparities negated.

*Which pair*: with wrong axes the views agree at no disparity.  A search of all disparities on a small copy shows which
pair explains the images best.

*Which of the two*: near and far are exchanged, and that shows where surfaces hide each other (`hidden`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcon import engines
from gradcon.arrays import module_of
from gradcon.engines.sweep import Views
from gradcon.methods.sweep.labels import whole_range
from gradcon.scene import Scene
from gradcon.scene.layout import Layout

STEP = 1.0  # pixels of the farthest view, from label to label
EVERY = 2  # rows of the small copy
SMALLEST = 16  # pixels on the shorter side of a copy that tells anything
CLEARLY = 0.93  # another layout leaves less than this share of the difference; right ones leave 0.995 or more

AXES = (Layout(), Layout(y=True), Layout(transposed=True), Layout(y=True, transposed=True))  # one of each pair


def can_tell(scene: Scene, small: Views) -> bool:
    """Return whether the layout can be wrong, and whether the small copy is large enough to show it.

    Two views match by chance about as well along one axis as along the other; only a third contradicts.
    """
    return min(small.shape) >= SMALLEST and scene.is_planar and len(scene.target_names) > 1


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
    found = {layout: _least_difference(small, layout, engine) for layout in (AXES[0], *others)}
    return {layout: float(difference) for layout, difference in found.items()}  # a GPU is waited for only here


def _least_difference(small: Views, layout: Layout, engine: str) -> Any:
    """Return the difference between the reference and the targets that remains at each pixel's best disparity."""
    epipoles = small.epipoles.copy()
    epipoles[:, :2] = layout.of(epipoles[:, :2])
    sweep = engines.create_sweep(engine, small._replace(epipoles=epipoles))
    labels = whole_range(sweep, STEP)
    smallest = sweep.difference(labels.first, labels.number, labels.step, EVERY)
    xp = module_of(smallest)
    known = xp.isfinite(smallest)
    total, count = xp.where(known, smallest, 0).sum(dtype=np.float64), known.sum()
    return xp.where(count > 0, total / xp.maximum(count, 1), np.inf)
