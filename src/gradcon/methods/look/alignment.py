"""Find by how much each view is shifted, turned and scaled against the place where it should be.

The disparity is not known either, so both are found in turns, on a copy of moderate size.  A shift of all views in
proportion to their baselines is a disparity, and cannot be told from one; it is left out.
"""

from __future__ import annotations

import math

import numpy as np

from gradcon.engines.sweep import Views
from gradcon.engines.sweep_views import views_of
from gradcon.methods.look.agreement import Motion, displacements
from gradcon.methods.look.gains import compare
from gradcon.scene import Scene
from gradcon.scene.geometry import Floats
from gradcon.scene.variants import moved

LARGE = 256  # pixels on the longer side of the copy
ROUNDS = 6
SETTLED = 0.02  # pixels of the copy


def alignment(scene: Scene, engine: str) -> Floats:
    """Return a matrix (3, 3) for each target, which takes the place where it should show a pixel to where it does."""
    k = math.ceil(max(scene.shape) / LARGE)
    S = np.diag([k, k, 1.0])
    S[:2, 2] = (k - 1) / 2  # from the copy's pixels to the scene's
    A = np.tile(np.eye(3), (len(scene.M), 1, 1))
    for _ in range(ROUNDS):
        views = views_of(moved(scene, A), k=k)
        assert views.order is not None
        motion = _without_disparity(displacements(views, compare(views, engine)), views)
        A = A @ (S @ motion.matrices(views.shape) @ np.linalg.inv(S))[np.argsort(views.order)]
        if np.hypot(*motion.shift.T).max() < SETTLED:
            break
    return A


def _without_disparity(motion: Motion, views: Views) -> Motion:
    """Return the motion without the part that a disparity of all pixels explains."""
    B = views.epipoles[:, :2]
    return motion._replace(shift=motion.shift - B * (motion.shift * B).sum() / (B * B).sum())
