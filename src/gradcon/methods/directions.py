"""Check whether the cameras stand where the baselines say: two checks for a mistake that everyone makes once.

*An axis reversed.*  If rows are counted from the wrong end, the views of a row and the views of a column ask for
opposite disparities.  A search of all disparities on a small copy of the scene, as given and with one axis reversed,
shows which explains the images better.

*Both axes reversed.*  Every disparity then only changes its sign, and the images are explained just as well.  But near
and far are exchanged, and that shows where surfaces hide each other.  A pixel that another view cannot see, because a
nearer surface lands on it, looks different there.  If instead the pixels that a *farther* surface lands on look
different, all baselines are reversed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from gradcon import engines
from gradcon.arrays import module_of, to_host
from gradcon.engines.sweep import Views
from gradcon.engines.sweep_views import shrunk, views_of
from gradcon.methods.sweep.labels import shrink_factor, whole_range
from gradcon.scene import Scene, geometry

QUICK_STEP = 1.0  # pixels of the farthest view, from label to label
CLEARLY = 0.75  # the reversed axis leaves less than this share of the error
HIDDEN_STEP = 1.5  # pixels in the other view between a surface and what it hides
FARTHEST = 4  # views in which to look for hidden pixels
ENOUGH = 100  # hidden pixels for a verdict
REVERSED = 1.5  # ratio of the differences behind farther surfaces to those behind nearer ones


def check_directions(scene: Scene, engine: str, disparity: NDArray[np.float32]) -> list[str]:
    """Return a sentence for the user for each mistake found; the engine called `engine` estimated the disparity."""
    if not all(geometry.is_planar(M, m) for M, m in zip(scene.M, scene.m, strict=True)):
        return []  # calibrated cameras: M fixes the directions
    found = []
    if _axis_reversed(scene, engine):
        found.append(
            f"{scene.name}: one axis of the cameras seems to be reversed: with the vertical baselines turned around, "
            "the views agree much better. Check which way rows are counted, or use --flip y (Scene.flipped)."
        )
    elif _all_reversed(scene, disparity):
        found.append(
            f"{scene.name}: the cameras seem to be reversed: where surfaces hide each other, the far one is in front. "
            "Near and far are exchanged; turn all baselines around, or use --flip xy (Scene.flipped)."
        )
    return found


def _axis_reversed(scene: Scene, engine: str) -> bool:
    B, k = scene.baselines, shrink_factor(scene.shape)
    across = np.abs(B).max(axis=0) > 1e-6 * np.abs(B).max()
    if not across.all() or min(scene.shape) < max(16, 4 * k):  # too small to tell
        return False
    small = shrunk(views_of(scene), k)
    reversed_y = small._replace(epipoles=small.epipoles * (1, -1, 1))
    return _least_difference(reversed_y, engine) < CLEARLY * _least_difference(small, engine)


def _least_difference(views: Views, engine: str) -> float:
    """Return the difference between the reference and the targets that remains at each pixel's best disparity."""
    sweep = engines.create_sweep(engine, views)
    labels = whole_range(sweep, QUICK_STEP)
    smallest = sweep.difference(labels.first, labels.number, labels.step, 1)
    known = smallest[module_of(smallest).isfinite(smallest)]
    return float(known.mean()) if known.size else np.nan


def _all_reversed(scene: Scene, disparity: NDArray[np.float32]) -> bool:
    from gradcon.engines.cpu.visibility import hidden_difference

    reference = to_host(scene.reference)
    y, x = np.indices(scene.shape, dtype=np.float32)
    near, far = np.zeros(2), np.zeros(2)  # sum and number of differences behind nearer and behind farther surfaces
    for t in np.argsort(np.hypot(*scene.baselines.T), kind="stable")[-FARTHEST:]:
        bx, by = scene.baselines[t]
        step = HIDDEN_STEP / np.hypot(bx, by)
        places = y + np.float32(by) * disparity, x + np.float32(bx) * disparity
        warped = ndimage.map_coordinates(to_host(scene.target(t)), places, order=1, mode="nearest")
        near += hidden_difference(disparity, bx, by, step, warped, reference)
        far += hidden_difference(-disparity, -bx, -by, step, warped, reference)
    if min(near[1], far[1]) < ENOUGH:
        return False
    return bool(far[0] / far[1] > REVERSED * near[0] / near[1])
