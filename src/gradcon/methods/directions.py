"""Check whether the cameras stand where the baselines say: two checks for a mistake that everyone makes once.

*An axis reversed.*  If rows are counted from the wrong end, the views of a row and the views of a column ask for
opposite disparities.  Two quick estimates on a small copy of the scene, as given and with one axis reversed, show which
explains the images better.

*Both axes reversed.*  Every disparity then only changes its sign, and the images are explained just as well.  But near
and far are exchanged, and that shows where surfaces hide each other.  A pixel that another view cannot see, because a
nearer surface lands on it, looks different there.  If instead the pixels that a *farther* surface lands on look
different, all baselines are reversed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcon.arrays import to_host
from gradcon.engines import AnyEngine, Stage, Weighting
from gradcon.methods import schedules
from gradcon.methods.options import Options
from gradcon.scene import Scene, geometry
from gradcon.scene.shrink import shrink_factor, shrunk

QUICK_SOLVES = 5
CLEARLY = 0.75  # the reversed axis leaves less than this share of the error
HIDDEN_STEP = 1.5  # pixels in the other view between a surface and what it hides
FARTHEST = 4  # views in which to look for hidden pixels
ENOUGH = 100  # hidden pixels for a verdict
REVERSED = 1.5  # ratio of the differences behind farther surfaces to those behind nearer ones


def check_directions(scene: Scene, engine: AnyEngine, w: Any) -> list[str]:
    """Return a sentence for the user for each mistake found; `w` is the disparity that `engine` has estimated."""
    if not all(geometry.is_planar(M, m) for M, m in zip(scene.M, scene.m, strict=True)):
        return []  # calibrated cameras: M fixes the directions
    found = []
    if _axis_reversed(scene, engine):
        found.append(
            f"{scene.name}: one axis of the cameras seems to be reversed: with the vertical baselines turned around, "
            "the views agree much better. Check which way rows are counted, or use --flip y (Scene.flipped)."
        )
    elif _all_reversed(scene, engine, w):
        found.append(
            f"{scene.name}: the cameras seem to be reversed: where surfaces hide each other, the far one is in front. "
            "Near and far are exchanged; turn all baselines around, or use --flip xy (Scene.flipped)."
        )
    return found


def _axis_reversed(scene: Scene, engine: AnyEngine) -> bool:
    B = scene.baselines
    across = np.abs(B).max(axis=0) > 1e-6 * np.abs(B).max()
    if not across.all() or min(scene.shape) < max(16, 4 * shrink_factor(scene)):  # too small to tell
        return False
    small = shrunk(scene)
    return _quick_error(small.flipped(y=True), engine) < CLEARLY * _quick_error(small, engine)


def _quick_error(scene: Scene, engine: AnyEngine) -> float:
    """Return the mean absolute difference between the reference and the warped views, after a few solves."""
    engine = engine.another(scene, Options.epsilon)
    (stage,) = schedules.build("gcm", scene.baselines, Options.alpha)
    w = engine.upload(np.zeros(scene.shape, np.float32))
    for solve in range(QUICK_SOLVES):
        w = engine.step(w, stage, reweight=solve > 0).w
    disparity = engine.download(w) / scene.unit
    y, x = np.indices(scene.shape)
    height, width = scene.shape
    errors = []
    for (bx, by), warped in zip(scene.baselines, engine.warped_images(w, stage), strict=True):
        u, v = x + bx * disparity, y + by * disparity
        seen = (u >= 0) & (u <= width - 1) & (v >= 0) & (v <= height - 1)
        if seen.any():
            errors.append(np.abs(warped - scene.reference)[seen].mean(dtype=np.float64))
    return float(np.mean(errors)) if errors else np.nan


def _all_reversed(scene: Scene, engine: AnyEngine, w: Any) -> bool:
    from gradcon.engines.cpu.visibility import hidden_difference

    farthest = np.argsort(np.hypot(*scene.baselines.T), kind="stable")[-FARTHEST:]
    stage = Stage(tuple(farthest.tolist()), (0,), 1.0, 1.0, Weighting())
    reference, disparity = to_host(scene.reference), engine.download(w) / np.float32(scene.unit)
    near, far = np.zeros(2), np.zeros(2)  # sum and number of differences behind nearer and behind farther surfaces
    for t, warped in zip(farthest, engine.warped_images(w, stage), strict=True):
        bx, by = scene.baselines[t]
        step = HIDDEN_STEP / np.hypot(bx, by)
        near += hidden_difference(disparity, bx, by, step, warped, reference)
        far += hidden_difference(-disparity, -bx, -by, step, warped, reference)
    if min(near[1], far[1]) < ENOUGH:
        return False
    return bool(far[0] / far[1] > REVERSED * near[0] / near[1])
