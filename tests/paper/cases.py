"""Small random scenes, as gradcon's engine `reference` gets them and as the paper's formulas get them."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradcon import Scene
from gradcon.engines import PRINTED, Choices, Stage
from gradcon.engines.reference import ReferenceEngine
from gradcon.methods.schedules import build
from gradcon.scene.geometry import Camera
from paper import transcription as paper

SHAPE = 24, 28
ALPHA = 0.05  # so small that some solves of a run meet the limit
SEED = 7

# The choices of a solve that have a second value in the transcription, with this value.
SECOND: dict[str, Any] = {
    "scale_term": "coarser",
    "unseen": "uncoupled",
    "smoothness": "isotropic",
    "smoothness_weight": "half",
    "widths": "composed",
}
ALL_SECOND = replace(PRINTED, **SECOND)
CHOICES = {name: replace(PRINTED, **{name: value}) for name, value in SECOND.items()} | {"all": ALL_SECOND}

GRID = [(x, y) for y in range(-2, 3) for x in range(-2, 3) if (x, y) != (0, 0)]
LAYOUTS = {
    "cross": [(x, y) for x, y in GRID if x * y == 0],
    "line": [(-3.0, 0.0), (-1.5, 0.0), (1.5, 0.0), (4.5, 0.0)],
    "star": [(x, y) for x, y in GRID if x * y == 0 or abs(x) == abs(y)],
    "3x3": [(x, y) for x, y in GRID if max(abs(x), abs(y)) == 1],
    "5x5": GRID,
    "alone": [(1.0, 0.3), (0.9, -1.2), (-1.4, 0.2), (-0.4, -1.5)],  # each view has a sector to itself
    "uneven": [(1.0, 0.1), (0.95, 0.5), (-1.1, 0.0), (-1.0, -0.6), (0.2, 1.2), (2.0, 0.6)],  # no two are equally far
}
LAYOUT_NAMES = [*LAYOUTS, "turned"]  # "turned" has the cameras below


@dataclass(frozen=True)
class Case:
    """A scene, the paper's problem that it poses, and a map to start a step from, in pixels of the nearest view."""

    scene: Scene
    problem: paper.Problem
    w: np.ndarray
    choices: Choices

    @property
    def B(self) -> np.ndarray:
        return np.array([view.B for view in self.problem.views])

    def stages(self, method: str, scales: int = 3, without: str = "") -> list[paper.Stage]:
        """Return the stages of the transcription; `without` is "", "G" or "O"."""
        return paper.stages(method, self.B, ALPHA, scales, without)

    def engine_stages(self, method: str, scales: int = 3, without: str = "") -> list[Stage]:
        """Return the stages of gradcon."""
        return build(method, self.scene.baselines, ALPHA, scales, TERMS[without], self.choices)

    def engine(self) -> KeepingEngine:
        return KeepingEngine(self.scene, self.problem.epsilon, self.choices)


TERMS = {"": None, "G": "gradient", "O": "scale"}  # the names that gradcon has for the terms of N^2


class KeepingEngine(ReferenceEngine):
    """The engine, which keeps the delta w of its last solve, before limit and filter."""

    delta_w: np.ndarray

    def update(self, w: Any, dw: Any, limit: float, counts: Any) -> Any:
        self.delta_w = dw
        return super().update(w, dw, limit, counts)


@functools.cache
def case(layout: str, choices: Choices = PRINTED) -> Case:
    """Make a scene of one of `LAYOUT_NAMES`."""
    if layout == "turned":
        scene, views = turned_views()
    else:
        scene, views = planar_views(np.array(LAYOUTS[layout], float))
    chosen = paper.Open(**{name: getattr(choices, name) for name in SECOND})
    problem = paper.Problem(scene.reference.astype(float), views, chosen=chosen)
    return Case(scene, problem, some_map(), choices)


def planar_views(given: np.ndarray) -> tuple[Scene, list[paper.View]]:
    """Return a planar array of cameras with these baselines, as a scene and as views in the scene's order."""
    B = paper.normalised(given)
    reference, *targets = images(B)
    scene = Scene(reference, targets, given, target_names=numbers(len(B)))
    views = [paper.View(targets[t].astype(float), tuple(B[t])) for t in order_in(scene)]
    return scene, views


def turned_views() -> tuple[Scene, list[paper.View]]:
    """Return views from cameras that are turned and do not stand in a plane, likewise.

    The paper does not say what |B_t| and the angle of B_t are in this case; gradcon's own are used.
    """
    nearest = 1.2  # depth times disparity
    cameras = turned_cameras()
    reference, *targets = images(np.array([camera.t[:2] for camera in cameras[1:]]) / 0.04)
    scene = Scene.from_cameras(
        reference, targets, cameras, nearest=nearest, target_names=numbers(len(targets))
    )  # fmt: skip
    views = []
    for t, B in zip(order_in(scene), scene.baselines / scene.unit, strict=True):
        camera = cameras[1 + t]
        M = camera.K @ camera.R @ np.linalg.inv(cameras[0].K)
        m = camera.K @ camera.t / (nearest * scene.unit)
        views.append(paper.View(targets[t].astype(float), tuple(B), M, m))
    return scene, views


def numbers(count: int) -> list[str]:
    """Return names of views that say where they stood in the list."""
    return [str(t) for t in range(count)]


def order_in(scene: Scene) -> list[int]:
    """Return where the views of a scene stood in the list of `numbers`: a scene sorts them."""
    return [int(name) for name in scene.target_names]


def turned_cameras() -> list[Camera]:
    """Return the reference's camera, two beside it, and two that are turned and at other depths."""
    K = np.array([[30.0, 0, 13.5], [0, 31.0, 11.5], [0, 0, 1]])
    other = np.array([[29.0, 0.1, 13.0], [0, 30.0, 12.0], [0, 0, 1]])
    intrinsics = [K, K, K, K, other]
    angles = [(0, 0, 0), (0, 0, 0), (0, 0, 0), (0.03, 0, 0), (-0.03, 0.02, 0.05)]
    places = [(0, 0, 0), (0.04, 0, 0), (-0.05, 0.001, 0), (0.01, 0.07, -0.02), (-0.06, -0.06, 0.03)]
    return [Camera.of(*parts) for parts in zip(intrinsics, map(rotation, angles), places, strict=True)]


def rotation(angles: tuple[float, float, float]) -> np.ndarray:
    """Return the rotation about x, then y, then z."""
    R = np.eye(3)
    for axis, angle in enumerate(angles):
        i, j = (axis + 1) % 3, (axis + 2) % 3
        turn = np.eye(3)
        turn[i, i] = turn[j, j] = np.cos(angle)
        turn[i, j], turn[j, i] = -np.sin(angle), np.sin(angle)
        R = turn @ R
    return R


def images(B: np.ndarray) -> list[np.ndarray]:
    """Return the reference and a view for each baseline, noisy, of two planes that meet in the middle."""
    x, y = paper.pixels(SHAPE)
    w = np.where(x < SHAPE[1] / 2, 0.6, -0.9)
    noise = np.random.default_rng(SEED)
    views = []
    for B_x, B_y in [(0.0, 0.0), *B]:
        view = 0.5 + 0.08 * waves(x - B_x * w, y - B_y * w, SEED) + noise.normal(0, 0.01, SHAPE)
        views.append(np.clip(view, 0, 1).astype(np.float32))
    return views


def some_map() -> np.ndarray:
    """Return a map with slopes, noise, and jumps between its quarters, which carries some pixels out of every view."""
    x, y = paper.pixels(SHAPE)
    rng = np.random.default_rng(SEED + 1)
    quarters = np.where((x < SHAPE[1] / 2) == (y < SHAPE[0] / 2), 0.5, -0.5)
    return 0.05 * waves(x / 3, y / 3, SEED + 1) + quarters + rng.normal(0, 0.02, SHAPE)


def waves(x: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    """Return the sum of twelve waves of random directions and lengths."""
    rng = np.random.default_rng(seed)
    directions = rng.uniform((-1, -1, 0), (1, 1, 2 * np.pi), (12, 3))
    return np.sum([np.sin(a * x + b * y + c) for a, b, c in directions], axis=0)
