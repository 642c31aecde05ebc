"""A small copy of a scene, whose estimate takes little time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.arrays import module_of, to_host
from gradcon.scene.scene import Scene


def blocks(masks: NDArray[np.bool_], k: int) -> NDArray[np.bool_]:
    """Return masks (..., height, width) as (..., rows, k, columns, k): in blocks of k x k pixels."""
    *count, height, width = masks.shape
    rows, columns = height // k, width // k
    return masks[..., : rows * k, : columns * k].reshape(*count, rows, k, columns, k)


def shrunk(scene: Scene, longest: int) -> Scene:
    """Return the scene with at most `longest` pixels along each axis, by averaging blocks of pixels.

    Disparities keep their unit, so the baselines shrink.
    """
    k = min(-(-max(scene.shape) // longest), *scene.shape)  # a narrow strip keeps at least one pixel across
    if k == 1:
        return scene
    height, width = (n // k * k for n in scene.shape)

    def average(planes: Any) -> Any:
        rows = planes[:, :height, :width].reshape(-1, height // k, k, width).mean(axis=-2, dtype=np.float32)
        return rows.reshape(*rows.shape[:-1], width // k, k).mean(axis=-1) * np.float32(scene.colour_scale)

    small = to_host(module_of(scene.colours).stack([average(planes) for planes in scene.colours]))  # view by view
    reference, *targets = np.moveaxis(small, 1, -1)
    seen = None
    if scene.seen is not None:
        seen = blocks(scene.seen, k).any(axis=(-3, -1))
    more: dict[str, Any] = {"name": scene.name, "seen": seen}
    if scene.is_planar:
        return Scene(reference, targets, scene.baselines / k, **more)
    shift = (1 / k - 1) / 2  # the centre of a small pixel lies at the centre of its block
    S = np.array([[1 / k, 0, shift], [0, 1 / k, shift], [0, 0, 1]])
    return Scene(reference, targets, transforms=(S @ scene.M @ np.linalg.inv(S), scene.m @ S.T), **more)
