"""Synthetic scenes with exact ground truth: what the demo and the tests run on, with nothing to download.

A world is a list of textured surfaces under one lamp, and the array of cameras that sees it.  The views are ray-cast;
the ground truth is the analytic depth on the ray through a pixel's centre.

Lengths are metres.  The reference camera stands at the origin and looks along +z, x to the right and y down.
A planar array's cameras are parallel and converged as the 4D Light Field Benchmark's are: principal points
are shifted so that disparity = b f (1/Z - 1/focus), with b the baseline and f the focal length in pixels.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.errors import InputError
from gradcon.geometry import Camera, Floats
from gradcon.io.hci import view_name, write_hci
from gradcon.io.hci_parameters import calibration
from gradcon.io.rig import write_rig
from gradcon.raycast import Surface, ball, bars, box, depth, expose, patch, ring
from gradcon.scene import Scene, Views, choose_views
from gradcon.textures import Painter

Cell = tuple[int, int]  # (row, column) of a camera in the grid

FOCAL_MM, SENSOR_MM = 50.0, 36.0  # the sensor's larger side, as in the benchmark's parameters.cfg
PAINTED_AT = 2.4  # depth at which textures have the detail that pixels can show
WIDER = 0.97  # focal length of a turned camera, in that of the reference
NO_FOCUS = 1e6  # focus depth of an array that is not converged: disparity is then b f / Z


@dataclass(frozen=True)
class World:
    """Surfaces, a lamp, and the array of cameras they are seen by; metres."""

    surfaces: list[Surface]
    lamp: tuple[float, float, float] = (-1.6, -2.2, -0.6)
    baseline: float = 0.018
    focus: float = 2.15
    rotated: bool = False


SKY = [(0.13, 0.28, 0.42), (0.25, 0.50, 0.58), (0.62, 0.74, 0.66), (0.93, 0.86, 0.66)]
EMBER = [(0.35, 0.06, 0.10), (0.80, 0.22, 0.12), (0.97, 0.58, 0.18), (1.0, 0.88, 0.55)]
LEAF = [(0.08, 0.20, 0.12), (0.20, 0.42, 0.18), (0.55, 0.68, 0.25), (0.85, 0.85, 0.50)]
PLUM = [(0.20, 0.10, 0.28), (0.48, 0.22, 0.45), (0.80, 0.50, 0.60), (0.96, 0.82, 0.78)]
OAK = [(0.86, 0.66, 0.42), (0.42, 0.25, 0.13)]
SLATE = [(0.72, 0.76, 0.80), (0.30, 0.36, 0.44)]
CHALK, TEAL = [(0.80, 0.79, 0.74), (0.83, 0.81, 0.76)], [(0.42, 0.56, 0.62), (0.45, 0.58, 0.63)]
CLAY = [(0.84, 0.50, 0.36), (0.86, 0.53, 0.38)]
BRICK = [(0.72, 0.36, 0.26), (0.50, 0.22, 0.18), (0.80, 0.77, 0.70)]


def planes(paint: Painter) -> World:
    """Slanted textured planes, with a step in depth where one stands before another."""
    return World(
        [
            patch(paint.boards(10, SLATE), (0, 0, 2.9), (0.25, -0.15), np.pi / 2),
            patch(paint.clouds(20, EMBER), (0.32, -0.05, 2.1), (0.5, 0.1), 0.2, box(0.62, 0.85)),
            patch(paint.clouds(30, LEAF), (-0.38, 0.15, 1.95), (-0.55, -0.2), -0.15, box(0.55, 0.7)),
        ]
    )


def occlusion(paint: Painter) -> World:
    """Objects before each other and before a wall, with thin bars and a ring to look through."""
    return World(
        [
            patch(paint.bricks(10, BRICK), (0, 0, 3.1), (0.1, 0.0)),
            patch(paint.boards(20, OAK), (0, 0.62, 2.4), (0.0, -4.0)),
            ball(paint.clouds(30, SKY), (-0.42, 0.36, 2.35), 0.27),
            patch(paint.clouds(40, PLUM), (0.35, 0.05, 2.5), (-0.2, 0.0), 0.0, box(0.5, 0.95)),
            patch(paint.boards(50, OAK, 16), (0.30, 0.05, 2.1), (0.1, 0.0), 0.0, bars(6, 0.11, 0.022, 1.1)),
            patch(paint.clouds(60, EMBER), (-0.26, -0.22, 1.9), (0.2, 0.1), 0.0, ring(0.25, 0.17)),
            patch(paint.clouds(70, LEAF), (0.0, 0.1, 1.7), (0.15, 0.0), 0.6, box(0.014, 1.6)),
        ]
    )


def sphere(paint: Painter) -> World:
    """A sphere before a slanted wall."""
    return World(
        [
            patch(paint.bricks(10, BRICK), (0, 0, 2.9), (0.35, -0.1)),
            ball(paint.clouds(20, SKY), (0.02, 0.04, 2.1), 0.46),
        ]
    )


def low_texture(paint: Painter) -> World:
    """Large regions of nearly one colour, whose gradients are weak."""
    return World(
        [
            patch(paint.clouds(10, CHALK, 0.008), (0, 0, 2.9), (0.3, 0.0)),
            patch(paint.clouds(20, TEAL, 0.008), (0, 0.6, 2.4), (0.0, -4.0)),
            ball(paint.clouds(30, CLAY, 0.008), (-0.3, 0.25, 2.1), 0.32),
            patch(paint.clouds(40, PLUM), (0.36, -0.02, 2.1), (-0.3, 0.0), 0.1, box(0.36, 0.6)),
        ]
    )


def parallel(paint: Painter) -> World:
    """The world of `sphere`, seen by parallel cameras that are not converged: disparity 0 is at infinity."""
    return replace(sphere(paint), baseline=0.006, focus=NO_FOCUS)


def rotated(paint: Painter) -> World:
    """The world and the baselines of `parallel`, seen by cameras that are rotated and not coplanar."""
    return replace(parallel(paint), rotated=True)


SCENES: dict[str, Callable[[Painter], World]] = {
    "planes": planes,
    "occlusion": occlusion,
    "sphere": sphere,
    "low-texture": low_texture,
    "parallel": parallel,
    "rotated": rotated,
}


def render(
    name: str,
    size: tuple[int, int] = (256, 256),
    *,
    grid: int = 9,
    views: Views = "cross",
    seed: int = 0,
) -> Scene:
    """Render a named scene, with its ground truth.

    Parameters
    ----------
    name : str
        One of `SCENES`.
    size : (height, width)
        Pixels of a view.  The cameras stay where they are: disparities grow with the larger of the two.
    grid : int
        Cameras a side of the square array, odd; the reference is the middle one.
    views : "cross", "star", "all" or int
        Which cameras of the grid to use, as in `gradcon.scene.choose_views`.
    seed : int
        Of the textures, and of the cameras' turns in `rotated`.

    Returns
    -------
    Scene
        8-bit RGB views, and the ground truth in pixels per distance of adjacent cameras.  `metadata` holds
        the parameters of the array and, by view, the camera matrices (world in metres).
    """
    return _shoot(name, size, grid, views, seed).scene


def write(
    name: str,
    folder: str | Path,
    size: tuple[int, int] = (256, 256),
    *,
    grid: int = 9,
    views: Views = "cross",
    seed: int = 0,
) -> Path:
    """Render a named scene and write it as a folder of the 4D Light Field Benchmark; return the folder.

    Takes the parameters of `render`; `gradcon.open_scene` reads the same scene back.  The cameras of
    `rotated` cannot be told in a parameters.cfg, so a rig.toml stands beside its images instead.
    """
    shot = _shoot(name, size, grid, views, seed)
    truth = shot.scene.ground_truth
    if shot.world.rotated:
        images = {view_name(*cell, grid): image for cell, image in shot.images.items()}
        return write_rig(
            folder, images, shot.cameras, reference=next(iter(images)), ground_truth=truth, name=name, unit="m"
        )
    array = np.zeros((grid, grid, *size, 3), np.uint8)
    for cell, image in shot.images.items():
        array[cell] = image
    return write_hci(folder, array, truth, shot.parameters, cells=shot.images)


@dataclass(frozen=True)
class _Shot:
    """A world and what its cameras saw, the reference's first."""

    world: World
    scene: Scene
    cameras: list[Camera]
    images: dict[Cell, NDArray[np.uint8]]  # RGB
    parameters: dict[str, int | float | str]  # as in the benchmark's parameters.cfg


def _shoot(name: str, size: tuple[int, int], grid: int, views: Views, seed: int) -> _Shot:
    if name not in SCENES:
        raise InputError(f"{name}: is not a synthetic scene; choose one of {', '.join(SCENES)}.")
    if min(size) < 1:
        raise InputError(f"size: {size[1]} x {size[0]} pixels is no image; give two positive numbers.")
    if grid < 3 or grid % 2 == 0:
        raise InputError(f"grid: {grid} cameras a side have no middle; give an odd number of at least 3.")
    if seed < 0:
        raise InputError(f"seed: {seed} is negative; give 0 or more.")
    cells = _cells(grid, views)
    focal = FOCAL_MM / SENSOR_MM * max(size)  # pixels: the sensor's size is that of the image's larger side
    world = SCENES[name](Painter(focal / PAINTED_AT, seed))
    rig = _rig(world, size, focal, grid, seed)
    cameras = [rig[cell] for cell in cells]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        images = list(pool.map(lambda camera: expose(world.surfaces, world.lamp, camera, size), cameras))
    parameters: dict[str, int | float | str] = {
        "focal_length_mm": FOCAL_MM,
        "image_resolution_x_px": size[1],
        "image_resolution_y_px": size[0],
        "sensor_size_mm": SENSOR_MM,
        "num_cams_x": grid,
        "num_cams_y": grid,
        "baseline_mm": round(1e3 * world.baseline, 9),
        "focus_distance_m": world.focus,
        "scene": name,
        "category": "synthetic",
    }
    names = [view_name(*cell, grid) for cell in cells]
    matrices = [{part: getattr(camera, part).tolist() for part in "KRt"} for camera in cameras]
    more: dict[str, Any] = {
        "name": name,
        "reference_name": names[0],
        "target_names": names[1:],
        "metadata": {**parameters, "seed": seed, "cameras": dict(zip(names, matrices, strict=True))},
    }
    Z = depth(world.surfaces, cameras[0], size)
    if world.rotated:
        scene = Scene.from_cameras(images[0], images[1:], cameras, unit="m", **more)
        assert scene.calibration is not None
        scene.ground_truth = scene.calibration.disparity(Z)  # its choice of unit baseline
    else:
        truth = world.baseline * focal * (1 / Z - 1 / world.focus)
        more["calibration"] = calibration(parameters, size)
        scene = Scene(images[0], images[1:], _baselines(cells), ground_truth=truth, **more)
    return _Shot(world, scene, cameras, dict(zip(cells, images, strict=True)), parameters)


def _cells(grid: int, views: Views) -> list[Cell]:
    """The cells to use, the middle one first."""
    middle = (grid // 2, grid // 2)
    cells = [middle, *(cell for cell in np.ndindex(grid, grid) if cell != middle)]
    return [middle, *(cells[1 + k] for k in choose_views(_baselines(cells), views))]


def _baselines(cells: list[Cell]) -> list[Cell]:
    """(B_x, B_y) of all cells but the first, the reference: against the cameras' movement."""
    (row, column), *others = cells
    return [(column - u, row - v) for v, u in others]


def _rig(world: World, size: tuple[int, int], focal: float, grid: int, seed: int) -> dict[Cell, Camera]:
    """The grid's cameras: parallel and converged, or turned by a few degrees about each axis and off the plane."""
    height, width = size
    rng = np.random.default_rng([seed, grid])
    rig = {}
    for v, u in np.ndindex(grid, grid):
        f, R = focal, np.eye(3)
        centre = np.array([u - grid // 2, v - grid // 2, 0.0]) * world.baseline
        turns = rng.uniform(-1, 1, 4)
        ahead = (0.0, 0.0, 1.0) - centre / world.focus  # on the ray that the middle pixel is to have
        if world.rotated and centre.any():
            R = _rotation(np.deg2rad(turns[:3] * (2.5, 2.5, 2.0)))
            centre[2] = 0.6 * turns[3] * np.hypot(centre[0], centre[1])
            # As careful people set up a rig: all views still show what the reference shows.  The principal
            # point makes up for the turn, and a slightly wider angle for the corners that it would cut off.
            ahead = R[:, 2] / R[2, 2]
            f *= WIDER
        x, y = f * ahead[:2]
        K = np.array([[f, 0, (width - 1) / 2 - x], [0, f, (height - 1) / 2 - y], [0, 0, 1]])
        rig[v, u] = Camera(K, R, -R @ centre)
    return rig


def _rotation(angles: Floats) -> Floats:
    """Tilt about x, then pan about y, then roll about z; radians."""
    R = np.eye(3)
    for axis, angle in enumerate(angles):
        i, j = (axis + 1) % 3, (axis + 2) % 3
        turn = np.eye(3)
        turn[i, i] = turn[j, j] = np.cos(angle)
        turn[j, i] = np.sin(angle)
        turn[i, j] = -turn[j, i]
        R = turn @ R
    return R
