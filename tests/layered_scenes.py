"""Scenes of flat layers, rendered exactly at any sub-pixel shift, with their true disparity."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon import Scene
from sweep_cases import Waves

Inside = Callable[[Any, Any], Any]  # of positions (x, y) in the reference: whether the layer covers them
SAMPLES = 4  # along each side of a pixel, so that it may show two layers

CROSS = [(dx, 0) for dx in range(-4, 5) if dx] + [(0, dy) for dy in range(-4, 5) if dy]
GRID = [(dx, dy) for dy in range(-2, 3) for dx in range(-2, 3) if (dx, dy) != (0, 0)]
RIGS = {"cross of 17": CROSS, "grid of 25": GRID}


def everywhere(x: Any, y: Any) -> Any:
    return np.ones(np.shape(x), bool)


@dataclass(frozen=True)
class Layer:
    """A surface that faces the cameras."""

    disparity: float
    texture: Callable[[Any, Any], NDArray[np.float64]]
    covers: Inside = everywhere


def layered(
    layers: Sequence[Layer],
    baselines: Sequence[tuple[float, float]],
    shape: tuple[int, int] = (96, 96),
    noise: float = 0.0,
    seed: int = 0,
) -> Scene:
    """Return a scene of layers, the farthest first."""
    rng = np.random.default_rng(seed)
    views = [render(layers, B, shape) for B in ((0, 0), *baselines)]
    views = [
        np.clip(np.rint(255 * (view + noise * rng.normal(size=view.shape))), 0, 255).astype("u1") for view in views
    ]
    return Scene(views[0], views[1:], baselines, ground_truth=truth(layers, shape))


def render(layers: Sequence[Layer], baseline: tuple[float, float], shape: tuple[int, int]) -> NDArray[np.float64]:
    """Return what the view with this baseline sees, (height, width, 3); a pixel at an edge is a mixture."""
    y, x = np.indices(shape).astype(float)
    offsets = (np.arange(SAMPLES) + 0.5) / SAMPLES - 0.5
    seen = np.zeros((*shape, 3))
    for layer in layers:
        u, v = x - baseline[0] * layer.disparity, y - baseline[1] * layer.disparity
        share = np.mean([layer.covers(u + dx, v + dy) for dy in offsets for dx in offsets], axis=0)[..., None]
        seen = share * np.moveaxis(layer.texture(u, v), 0, -1) + (1 - share) * seen
    return seen


def truth(layers: Sequence[Layer], shape: tuple[int, int]) -> NDArray[np.float64]:
    y, x = np.indices(shape).astype(float)
    w = np.zeros(shape)
    for layer in layers:
        w = np.where(layer.covers(x, y), layer.disparity, w)
    return w


def plane(disparity: float, rig: Sequence[tuple[float, float]], **more: Any) -> Scene:
    return layered([Layer(disparity, Waves(11))], rig, **more)


def edge(angle: float, rig: Sequence[tuple[float, float]], near: float = 1.1, far: float = -0.7, **more: Any) -> Scene:
    """Return two planes; the nearer one lies in the direction `angle` (degrees) from the middle of the frame."""
    height, width = more.get("shape", (96, 96))
    c, s = np.cos(np.radians(angle)), np.sin(np.radians(angle))

    def beyond(x: Any, y: Any) -> Any:
        return c * (x - 0.5 * (width - 1)) + s * (y - 0.5 * (height - 1)) > 0.3  # between the centres of pixels

    return layered([Layer(far, Waves(11)), Layer(near, Waves(12), beyond)], rig, **more)


def bar(width: int, rig: Sequence[tuple[float, float]], upright: bool, **more: Any) -> Scene:
    """Return a bar of some pixels across the middle of the frame, before a plane."""

    def covers(x: Any, y: Any) -> Any:
        across = (x if upright else y) - 47.5
        return (across > -0.001) & (across < width - 0.001)

    return layered([Layer(-0.7, Waves(11)), Layer(1.1, Waves(12), covers)], rig, **more)


def turned_over(scene: Scene, turn: str) -> Scene:
    """Return a scene as a mirror shows it ("x" or "y"), or by a quarter turn ("turn")."""
    images = [np.moveaxis(view, 0, -1) for view in scene.colours]
    B = np.array({"x": ((-1, 0), (0, 1)), "y": ((1, 0), (0, -1)), "turn": ((0, 1), (-1, 0))}[turn])
    moved = [turned_map(image, turn) for image in images]
    return Scene(moved[0], moved[1:], scene.baselines @ B.T, ground_truth=turned_map(scene.ground_truth, turn))


def turned_map(array: NDArray[Any], turn: str) -> NDArray[Any]:
    return {"x": lambda a: a[:, ::-1], "y": lambda a: a[::-1], "turn": np.rot90}[turn](array)
