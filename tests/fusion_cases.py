"""Exact maps of several views of the synthetic worlds, with noise if wanted, and how far points are from the truth."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradcon.fusion.maps import ViewMap, ViewMaps
from gradcon.fusion.placement import to_space
from gradcon.scene import Calibration
from gradcon.synth.raycast import Sphere, depth, expose
from gradcon.synth.rendering import FOCAL_MM, PAINTED_AT, SENSOR_MM, _rig
from gradcon.synth.textures import Painter
from gradcon.synth.worlds import SCENES, World

NINE = tuple((4 + 4 * row, 4 + 4 * column) for row, column in [(0, 0), (0, -1), (0, 1), (-1, 0), (1, 0)])
NINE += tuple((4 + 4 * row, 4 + 4 * column) for row, column in [(-1, -1), (-1, 1), (1, -1), (1, 1)])
SEAM = 0.01  # metres around the outline of a surface that still count as on it


@dataclass(frozen=True, eq=False)
class Case:
    """A world, and the maps of some cells of its 9 x 9 grid, with the calibration in metres."""

    world: World
    maps: ViewMaps

    def distance(self, points: Any) -> tuple[Any, Any]:
        """Return the distances from points to the nearest true surface, as shares of theirs, and its number."""
        X = np.asarray(points, np.float64)
        found = np.array([_distance(surface, X.T) for surface in self.world.surfaces])
        return found.min(axis=0) / np.linalg.norm(X, axis=1), found.argmin(axis=0)

    def doubled(self, points: Any) -> float:
        """Return the share of points in double walls.

        These share a pixel of the first view with a point of the same true surface that is more than half a percent of
        the distance farther, or nearer.
        """
        X = np.asarray(points, np.float64)
        h = np.column_stack([X, np.ones(len(X))]) @ np.linalg.inv(_to_space(self.maps, 0)).T
        pixels = np.rint(h[:, :2] / h[:, 2:3]).astype(int)
        places = np.column_stack([pixels, self.distance(X)[1]])
        place = np.unique(places, axis=0, return_inverse=True)[1].ravel()
        away = np.linalg.norm(X, axis=1)
        nearest, farthest = np.full(len(X), np.inf), np.zeros(len(X))
        np.minimum.at(nearest, place, away)
        np.maximum.at(farthest, place, away)
        return float(np.mean((farthest / nearest)[place] > 1.005))


def _to_space(maps: ViewMaps, view: int) -> Any:
    return to_space(maps.views[view], maps.calibration)


@functools.cache
def exact(name: str, cells: tuple[tuple[int, int], ...] = NINE, size: int = 96) -> Case:
    """Return the exact maps of a world, whose uncertainty is 0."""
    focal = FOCAL_MM / SENSOR_MM * size
    world = SCENES[name](Painter(focal / PAINTED_AT, 0))
    rig = _rig(world, (size, size), focal, 9, 0)
    product = world.baseline * focal
    first = rig[cells[0]]
    calibration = Calibration(product, first.K, 0.0 if world.rotated else product / world.focus, "m")
    views = []
    for row, column in cells:
        camera = rig[row, column]
        if world.rotated:
            M, m = camera.relative_to(first)
            m = m / product
        else:
            M, m = np.eye(3), np.array([cells[0][1] - column, cells[0][0] - row, 0.0])
        disparity = product / depth(world.surfaces, camera, (size, size)) - calibration.offset
        colours = expose(world.surfaces, world.lamp, camera, (size, size))
        views.append(ViewMap(f"{row},{column}", disparity, np.zeros_like(disparity), colours, M, m))
    return Case(world, ViewMaps(views, calibration, name))


def noisy(case: Case, deviation: float) -> Case:
    """Return the maps with normal noise, whose standard deviation differs by pixel and is predicted exactly."""
    random = np.random.default_rng(1)
    views = []
    for view in case.maps.views:
        s = deviation * np.exp(random.normal(0, 0.3, view.disparity.shape))
        disparity = view.disparity + s * random.standard_normal(s.shape)
        views.append(ViewMap(view.name, disparity, s, view.colours, view.M, view.m))
    return Case(case.world, ViewMaps(views, case.maps.calibration, case.maps.scene))


def only(case: Case, *views: int) -> ViewMaps:
    return ViewMaps([case.maps.views[k] for k in views], case.maps.calibration, case.maps.scene)


def every_point(maps: ViewMaps) -> Any:
    """Return the points of all pixels of all maps, without any fusion."""
    parts = []
    for view in range(len(maps.views)):
        w = maps.views[view].disparity
        v, u = np.indices(w.shape)
        h = np.stack([u, v, np.ones_like(w), w], axis=-1).reshape(-1, 4) @ _to_space(maps, view).T
        parts.append(h[:, :3] / h[:, 3:])
    return np.concatenate(parts)


def flat(disparity: float, deviation: float = 0.01, step: int = 0, grey: int = 100, size: int = 24) -> ViewMap:
    """Return the map of a plane in front of a camera `step` unit baselines to the right."""
    maps = [np.full((size, size), value) for value in (disparity, deviation)]
    colours = np.full((size, size, 3), grey, np.uint8)
    return ViewMap(f"view {step}", *maps, colours, np.eye(3), np.array([-step, 0.0, 0.0]))


def array_of(*views: ViewMap) -> ViewMaps:
    """Put maps into an array of parallel cameras, whose depth is 100 / disparity."""
    K = np.array([[100, 0, 11.5], [0, 100, 11.5], [0, 0, 1.0]])
    return ViewMaps(list(views), Calibration(100.0, K, unit="mm"), "array")


def _distance(surface: Any, X: Any) -> Any:
    if isinstance(surface, Sphere):
        return np.abs(np.linalg.norm(X - surface.centre, axis=0) - surface.radius)
    a, b, away = (axis.astype(np.float64) @ (X - surface.point) for axis in surface.axes)
    if surface.outline is None:
        return np.abs(away)
    there = np.zeros(X.shape[1], bool)
    for da in (-SEAM, 0, SEAM):
        for db in (-SEAM, 0, SEAM):
            there |= surface.outline(a + da, b + db)
    return np.where(there, np.abs(away), np.inf)
