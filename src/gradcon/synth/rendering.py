"""Render the views of a world by ray casting; the ground truth is the exact depth at each pixel's centre.

Lengths are in metres.  The reference camera stands at the origin and looks along +z, with x to the right and y down.
The cameras of a planar array are parallel and converge like those of the 4D Light Field Benchmark: their principal
points are shifted so that disparity = b f (1/Z - 1/focus), with the baseline b and the focal length f in pixels.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.errors import InputError
from gradcon.io import hci_view_name
from gradcon.scene import Calibration, Camera, Scene, Views, choose_views
from gradcon.scene.geometry import Floats
from gradcon.synth.raycast import depth, expose
from gradcon.synth.textures import Painter
from gradcon.synth.worlds import SCENES, World

Cell = tuple[int, int]  # (row, column) of a camera in the grid

FOCAL_MM, SENSOR_MM = 50.0, 36.0  # the sensor's longer side, as in the benchmark's parameters.cfg
PAINTED_AT = 2.4  # the depth at which textures have as much detail as pixels can show
WIDER = 0.97  # focal length of a rotated camera, relative to the reference's


def render(
    name: str,
    size: tuple[int, int] = (256, 256),
    *,
    grid: int = 9,
    views: Views = "cross",
    seed: int = 0,
) -> Scene:
    """Render a named scene with its ground truth.

    Parameters
    ----------
    name : str
        One of `SCENES`.
    size : (height, width)
        The size of a view in pixels.  The cameras stay where they are, so disparities grow with the longer side.
    grid : int
        The number of cameras along each side of the square array.  It is odd; the reference is in the middle.
    views : "cross", "star", "all" or int
        Which cameras of the grid to use, as in `gradcon.open_scene`.
    seed : int
        The seed of the textures, and of the rotations in `rotated`.

    Returns
    -------
    Scene
        A scene with views in 8-bit RGB.  The unit baseline is the distance between adjacent cameras.  `metadata` holds
        the parameters of the array and the camera matrices by view, with the world in metres.

    Examples
    --------
    >>> from gradcon import synth
    >>> synth.render("planes", size=(48, 64), views=5)
    <Scene 'planes': 5 views of 64 x 48, with ground truth>
    """
    return shoot(name, size, grid, views, seed).scene


@dataclass(frozen=True)
class Shot:
    """A world and what its cameras saw; the reference comes first."""

    world: World
    scene: Scene
    cameras: list[Camera]
    images: dict[Cell, NDArray[np.uint8]]  # RGB
    parameters: dict[str, int | float | str]  # as in the benchmark's parameters.cfg


def shoot(name: str, size: tuple[int, int], grid: int, views: Views, seed: int) -> Shot:
    """Render a named scene, as `render` does, and keep its world, cameras and colours."""
    if name not in SCENES:
        raise InputError(name, "is not a synthetic scene", f"choose one of {', '.join(SCENES)}")
    if min(size) < 1:
        raise InputError("size", f"{size[1]} x {size[0]} pixels is not an image", "give two positive numbers")
    if grid < 3 or grid % 2 == 0:
        raise InputError("grid", f"{grid} x {grid} cameras have no middle", "give an odd number of at least 3")
    if seed < 0:
        raise InputError("seed", f"{seed} is negative", "give 0 or more")
    cells = _cells(grid, views)
    focal = FOCAL_MM / SENSOR_MM * max(size)  # in pixels; the sensor's size is that of the image's longer side
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
    names = [hci_view_name(*cell, grid) for cell in cells]
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
        scene.ground_truth = scene.calibration.disparity(Z)  # in the unit baseline that the scene chose
    else:
        truth = world.baseline * focal * (1 / Z - 1 / world.focus)
        more["calibration"] = Calibration.of_converged_array(parameters, size)
        scene = Scene(images[0], images[1:], _baselines(cells), ground_truth=truth, **more)
    return Shot(world, scene, cameras, dict(zip(cells, images, strict=True)), parameters)


def _cells(grid: int, views: Views) -> list[Cell]:
    """Return the cells to use, the middle one first."""
    middle = (grid // 2, grid // 2)
    cells = [middle, *(cell for cell in np.ndindex(grid, grid) if cell != middle)]
    return [middle, *(cells[1 + k] for k in choose_views(_baselines(cells), views))]


def _baselines(cells: list[Cell]) -> list[Cell]:
    """Return (B_x, B_y) of all cells but the first, which is the reference; they point against the movement."""
    (row, column), *others = cells
    return [(column - u, row - v) for v, u in others]


def _rig(world: World, size: tuple[int, int], focal: float, grid: int, seed: int) -> dict[Cell, Camera]:
    """Return the cameras of the grid: parallel and converged, or rotated by a few degrees and off the plane."""
    height, width = size
    rng = np.random.default_rng([seed, grid])
    rig = {}
    for v, u in np.ndindex(grid, grid):
        f, R = focal, np.eye(3)
        centre = np.array([u - grid // 2, v - grid // 2, 0.0]) * world.baseline
        turns = rng.uniform(-1, 1, 4)
        ahead = (0.0, 0.0, 1.0) - centre / world.focus  # on the ray of the middle pixel
        if world.rotated and centre.any():
            R = _rotation(np.deg2rad(turns[:3] * (2.5, 2.5, 2.0)))
            centre[2] = 0.6 * turns[3] * np.hypot(centre[0], centre[1])
            # As in a rig that was set up with care, all views still show what the reference shows.  The principal
            # point compensates the rotation, and a slightly wider angle the corners that it would cut off.
            ahead = R[:, 2] / R[2, 2]
            f *= WIDER
        x, y = f * ahead[:2]
        K = np.array([[f, 0, (width - 1) / 2 - x], [0, f, (height - 1) / 2 - y], [0, 0, 1]])
        rig[v, u] = Camera(K, R, -R @ centre)
    return rig


def _rotation(angles: Floats) -> Floats:
    """Return the rotation that tilts about x, then pans about y, then rolls about z, in radians."""
    R = np.eye(3)
    for axis, angle in enumerate(angles):
        i, j = (axis + 1) % 3, (axis + 2) % 3
        turn = np.eye(3)
        turn[i, i] = turn[j, j] = np.cos(angle)
        turn[j, i] = np.sin(angle)
        turn[i, j] = -turn[j, i]
        R = turn @ R
    return R
