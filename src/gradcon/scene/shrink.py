"""A small copy of a scene, on which a few solves take almost no time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.arrays import to_host
from gradcon.scene import geometry
from gradcon.scene.scene import Scene

SMALL = 112  # pixels on the longer side of the copy


def shrink_factor(scene: Scene, longest: int = SMALL) -> int:
    """Return how many pixels along each axis become one in the small copy."""
    return min(-(-max(scene.shape) // longest), *scene.shape)  # a narrow strip keeps at least one pixel across


def shrunk(scene: Scene, longest: int = SMALL) -> Scene:
    """Return the scene with blocks of pixels averaged; disparities keep their unit, so the baselines shrink."""
    k = shrink_factor(scene, longest)
    height, width = (n // k * k for n in scene.shape)

    def average(images: Any) -> NDArray[np.float32]:
        rows = images[..., :height, :width].reshape(*images.shape[:-2], height // k, k, width).mean(axis=-2)
        return to_host(rows.reshape(*rows.shape[:-1], width // k, k).mean(axis=-1))

    images = average(scene.reference), average(scene.targets)
    if all(geometry.is_planar(M, m) for M, m in zip(scene.M, scene.m, strict=True)):
        return Scene(*images, scene.baselines / k, name=scene.name)
    shift = (1 / k - 1) / 2  # the centre of a small pixel lies at the centre of its block
    S = np.array([[1 / k, 0, shift], [0, 1 / k, shift], [0, 0, 1]])
    return Scene(*images, transforms=(S @ scene.M @ np.linalg.inv(S), scene.m @ S.T), name=scene.name)
