"""Do the cameras stand where the baselines say?  Two checks for the mistake that everyone makes once.

*An axis reversed.*  If rows are counted from the wrong end, views of a row and views of a column ask for opposite
disparities.  A quick estimate on a small copy of the scene is made as given and with one axis reversed: the right one
explains the images better.

*Both axes reversed.*  Then every disparity only changes its sign, and the images are explained as well; but near and
far are exchanged, and it shows where surfaces hide each other.  A pixel that another view cannot see, because a nearer
surface lands on it, looks different there.  If instead the pixels differ that a *farther* surface lands on, all
baselines are reversed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gradcon import geometry
from gradcon.scene import Scene

SMALL = 112  # pixels: the longer side of the small copy
QUICK_SOLVES = 5
CLEARLY = 0.75  # the reversed axis leaves less than this share of the error
HIDDEN_STEP = 1.5  # pixels in the other view between a surface and what it hides
ENOUGH = 100  # hidden pixels for a verdict
REVERSED = 1.5  # how much more the pixels differ that a farther surface lands on

Field = NDArray[np.float64]


def check_directions(scene: Scene, disparity: NDArray[np.floating]) -> list[str]:
    """Sentences for the user, one for each mistake found; `disparity` is the scene's estimate."""
    if not all(geometry.is_planar(M, m) for M, m in zip(scene.M, scene.m, strict=True)):
        return []  # calibrated cameras: M fixes the directions
    found = []
    if _axis_reversed(scene):
        found.append(
            f"{scene.name}: one axis of the cameras seems to be reversed: with the vertical baselines turned around, "
            "the views agree clearly better. Check which way rows are counted, or use --flip y (Scene.flipped)."
        )
    elif _all_reversed(scene, np.asarray(disparity, np.float64)):
        found.append(
            f"{scene.name}: the cameras seem to be reversed: where surfaces hide each other, the far one is in front. "
            "Near and far are exchanged; turn all baselines around, or use --flip xy (Scene.flipped)."
        )
    return found


def _axis_reversed(scene: Scene) -> bool:
    B = scene.baselines
    across = np.abs(B).max(axis=0) > 1e-6 * np.abs(B).max()
    if not across.all() or min(scene.shape) < 16:
        return False
    small = _small(scene)
    return _quick_error(small.flipped(y=True)) < CLEARLY * _quick_error(small)


def _small(scene: Scene) -> Scene:
    """The scene at a size where a few solves take no time; its disparities shrink with it."""
    k = max(1, -(-max(scene.shape) // SMALL))
    height, width = (n // k * k for n in scene.shape)

    def shrink(image: NDArray[np.float32]) -> NDArray[np.float32]:
        return image[:height, :width].reshape(height // k, k, width // k, k).mean(axis=(1, 3))

    return Scene(shrink(scene.reference), [shrink(t) for t in scene.targets], scene.baselines, name=scene.name)


def _quick_error(scene: Scene) -> float:
    """Mean absolute difference between the reference and the warped views, after a few solves."""
    from gradcon import engines, schedules

    machine = engines.create("cpu", scene, 2e-4)
    (stage,) = schedules.build("gcm", scene.baselines, 0.5)
    w = machine.upload(np.zeros(scene.shape, np.float32))
    for solve in range(QUICK_SOLVES):
        term = machine.data_term(w, machine.warp(w, stage), stage, solve > 0)
        dw, _ = machine.solve(w, term, stage.alpha, solve > 0)
        w, _ = machine.update(w, dw, stage.limit)
    w = np.asarray(machine.download(w), np.float64) / scene.unit
    return float(np.mean([np.nanmean(_difference(scene, t, w)) for t in range(len(scene.targets))]))


def _difference(scene: Scene, t: int, w: Field) -> Field:
    """|target warped by w - reference|, NaN where the target does not see the pixel."""
    from gradcon.engines.reference import sample_cubic

    y, x = np.indices(scene.shape, dtype=np.float64)
    u, v = x + scene.baselines[t, 0] * w, y + scene.baselines[t, 1] * w
    height, width = scene.shape
    seen = (u >= 0) & (u <= width - 1) & (v >= 0) & (v <= height - 1)
    warped = sample_cubic(scene.targets[t].astype(np.float64), np.where(seen, u, 0), np.where(seen, v, 0))
    return np.where(seen, np.abs(warped - scene.reference), np.nan)


def _all_reversed(scene: Scene, w: Field) -> bool:
    behind_near: list[Field] = []
    behind_far: list[Field] = []
    farthest = np.argsort(np.hypot(*scene.baselines.T), kind="stable")[-4:]
    for t in farthest:
        difference = _difference(scene, int(t), w)
        known = np.isfinite(difference)
        behind_near.append(difference[known & _covered(w, scene.baselines[t])])
        behind_far.append(difference[known & _covered(-w, -scene.baselines[t])])
    near, far = np.concatenate(behind_near), np.concatenate(behind_far)
    if min(near.size, far.size) < ENOUGH:
        return False
    return bool(far.mean() > REVERSED * near.mean())


def _covered(w: Field, B: Field) -> NDArray[np.bool_]:
    """Pixels on which, in the view at baseline B, a surface of larger w lands."""
    height, width = w.shape
    y, x = np.indices(w.shape)
    u = np.rint(x + B[0] * w).astype(int)
    v = np.rint(y + B[1] * w).astype(int)
    inside = (u >= 0) & (u < width) & (v >= 0) & (v < height)
    front = np.full(w.shape, -np.inf)
    np.maximum.at(front, (v[inside], u[inside]), w[inside])
    covered = np.zeros(w.shape, bool)
    covered[inside] = front[v[inside], u[inside]] > w[inside] + HIDDEN_STEP / np.hypot(*B)
    return covered
