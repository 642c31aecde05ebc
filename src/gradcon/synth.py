"""Synthetic scenes with exact ground truth: what the demo and the tests run on, with nothing to download.

A world is a list of textured surfaces (flat patches of any outline, spheres) under one lamp; a small ray
caster sees it through pinhole cameras.  A pixel averages `RAYS` rays spread over its area, so views are
anti-aliased as a sensor's are; the ground truth is the analytic depth on the ray through the pixel's centre.
Textures and shadows belong to the surfaces, not to the view, so all views agree on a point that they all see.

Lengths are metres.  The reference camera stands at the origin and looks along +z, x to the right and y down.
A planar array's cameras are parallel and converged as the 4D Light Field Benchmark's are: principal points
are shifted so that disparity = b f (1/Z - 1/focus), with b the baseline and f the focal length in pixels.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradcon.errors import InputError
from gradcon.geometry import Camera
from gradcon.scene import Scene, Views, choose_views

Array = NDArray[Any]
Outline = Callable[[Array, Array], Array]  # whether the surface is there, at its own coordinates (a, b)
Cell = tuple[int, int]  # (row, column) of a camera in the grid

FOCAL_MM, SENSOR_MM = 50.0, 36.0  # the sensor's larger side, as in the benchmark's parameters.cfg
RAYS = 8  # a pixel: a Fibonacci lattice, 8 distinct positions along each axis
OCTAVES = 8  # of the noise, at a size of about 512 pixels
GAMMA = 2.2
AMBIENT = 0.35  # of the light, where the lamp does not reach
WIDER = 0.97  # focal length of a turned camera, in that of the reference
NO_FOCUS = 1e6  # focus depth of an array that is not converged: disparity is then b f / Z


# -------------------------------------------------------------------------------------------- textures


@dataclass(frozen=True)
class Texture:
    """A periodic picture on a surface: `tile` is linear RGB, `period` its side in metres."""

    tile: NDArray[np.float32]  # (n * n, 3)
    period: float

    @staticmethod
    def of(srgb: Array, period: float) -> Texture:
        linear = np.clip(srgb, 0.0, 1.0) ** GAMMA
        return Texture(linear.reshape(-1, 3).astype(np.float32), period)

    def __call__(self, a: Array, b: Array) -> NDArray[np.float32]:
        """Linear RGB at surface coordinates, interpolated bilinearly."""
        n = int(np.sqrt(len(self.tile)))  # a power of two, so that & wraps
        x, y = (a * np.float32(n / self.period), b * np.float32(n / self.period))
        x0, y0 = np.floor(x), np.floor(y)
        fx, fy = (x - x0)[:, None], (y - y0)[:, None]
        i, j = x0.astype(np.int32) & (n - 1), y0.astype(np.int32) & (n - 1)
        right, row, below = (i + 1) & (n - 1), j * n, ((j + 1) & (n - 1)) * n
        take: Callable[[Array], Array] = partial(np.take, self.tile, axis=0)
        top, bottom = take(row + i), take(below + i)
        top += fx * (take(row + right) - top)
        bottom += fx * (take(below + right) - bottom)
        top += fy * (bottom - top)
        return top


@dataclass(frozen=True)
class Painter:
    """Makes textures whose finest waves are about three pixels of an image `pixels` wide: hardly aliased."""

    pixels: int
    seed: int
    depth: float = 2.4  # metres: where "three pixels" holds

    def noise(self, period: float, key: int, slope: float = 1.0, stretch: int = 1) -> Array:
        """Periodic noise, amplitude 1/f^slope, of unit variance if it had all waves up to `OCTAVES`.

        The octaves are the same at every size, so that a larger picture shows the same world in more detail.
        """
        highest = max(2.0, period * FOCAL_MM / SENSOR_MM * self.pixels / (3.0 * self.depth))  # waves a period
        n = self.side(period)
        spectrum = np.zeros((n, n // 2 + 1), dtype=np.complex128)
        low = 1
        while low < highest:
            m = 4 * low
            white = np.fft.rfft2(np.random.default_rng([self.seed, key, low]).standard_normal((m, m))) / m
            fy, fx = np.fft.fftfreq(m, 1 / m)[:, None], np.arange(m // 2 + 1)
            f = np.hypot(fy, stretch * fx)
            ring = (f >= low) & (f < min(2 * low, highest))
            rows, columns = np.nonzero(ring)
            spectrum[fy[rows, 0].astype(int) % n, columns] += white[ring] * f[ring] ** -slope
            low *= 2
        f = np.arange(1.0, 2**OCTAVES)
        power = 2 * np.pi * np.sum(f ** (1 - 2 * slope)) / stretch  # of the rings, by Parseval
        return np.fft.irfft2(spectrum, (n, n)) * (n * n / np.sqrt(power))

    def side(self, period: float) -> int:
        """Texels a period: a power of two, at most one pixel each, and fine enough for seams and mortar."""
        return 1 << int(np.ceil(np.log2(max(512, period * FOCAL_MM / SENSOR_MM * self.pixels / self.depth))))

    def smooth(self, rgb: Array, period: float) -> Array:
        """Round off hard edges by a Gaussian of 0.7 pixels: pixels are too coarse for edges to be exact."""
        n = len(rgb)
        sigma = 0.7 * self.depth * SENSOR_MM / (FOCAL_MM * self.pixels * period)  # in periods
        fy, fx = np.fft.fftfreq(n, 1 / n)[:, None], np.arange(n // 2 + 1)
        gain = np.exp(-2 * (np.pi * sigma) ** 2 * (fy**2 + fx**2))
        return np.fft.irfft2(np.fft.rfft2(rgb, axes=(0, 1)) * gain[..., None], (n, n), axes=(0, 1))

    def clouds(self, key: int, palette: ArrayLike, grain: float = 0.12, period: float = 1.5) -> Texture:
        """Colours of the palette flowing into each other, under a fine grain."""
        colours = np.asarray(palette, dtype=float)
        tone = 0.5 + 0.28 * self.noise(period, key, 1.35)
        stops = np.linspace(0, 1, len(colours))
        rgb = np.stack([np.interp(tone, stops, channel) for channel in colours.T], axis=-1)
        return Texture.of(rgb * (1 + grain * self.noise(period, key + 1, 0.9))[..., None], period)

    def boards(self, key: int, palette: ArrayLike, planks: int = 8, period: float = 1.6) -> Texture:
        """Wooden boards along a, with a dark seam between them."""
        n = self.side(period)
        rng = np.random.default_rng([self.seed, key])
        plank, within = np.divmod(np.arange(n) * planks / n, 1.0)
        index = plank.astype(int)
        grain = self.noise(period, key, 0.8, stretch=10)
        tone = 0.5 + 0.17 * grain + 0.22 * rng.uniform(-1, 1, planks)[index][:, None]
        tone += 0.07 * self.noise(period, key + 1, 0.8)
        light, dark = np.asarray(palette, dtype=float)
        rgb = dark + np.clip(tone, -0.1, 1.1)[..., None] * (light - dark)
        seam = np.clip(np.minimum(within, 1 - within) / 0.03, 0.35, 1.0)
        return Texture.of(self.smooth(rgb * seam[:, None, None], period), period)

    def bricks(self, key: int, palette: ArrayLike, rows: int = 12, period: float = 1.5) -> Texture:
        """Bricks in a running bond; the palette is two brick colours and the mortar's."""
        n = self.side(period)
        rng = np.random.default_rng([self.seed, key])
        y, x = np.meshgrid(np.arange(n) * rows / n, np.arange(n) * (rows / 2) / n, indexing="ij")
        row = y.astype(int)
        x = (x + 0.5 * (row % 2)) % (rows / 2)
        column = x.astype(int)
        first, second, mortar = np.asarray(palette, dtype=float)
        pick = rng.uniform(0, 1, (rows, rows))[row, column] + 0.15 * self.noise(period, key, 1.0)
        rgb = first + np.clip(pick, 0, 1)[..., None] * (second - first)
        edge = np.minimum(np.minimum(y % 1, 1 - y % 1), 2 * np.minimum(x % 1, 1 - x % 1))
        brick = np.clip((edge - 0.05) / 0.06, 0, 1)[..., None]
        rough = 1 + 0.10 * self.noise(period, key + 1, 0.8)
        return Texture.of(self.smooth(mortar + brick * (rgb - mortar), period) * rough[..., None], period)


# -------------------------------------------------------------------------------------------- surfaces


@dataclass(frozen=True)
class Patch:
    """A flat surface through `point`; `outline(a, b)` says where it is, None is an endless backdrop."""

    texture: Texture
    point: Array  # (3, 1)
    axes: Array  # (3, 3): rows a, b and the normal
    outline: Outline | None = None

    def depth(self, o: Array, d: Array) -> Array:
        """The s > 0 at which each ray o + s d meets the patch, inf where it does not; d is (3, n)."""
        start = o - self.point
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            s = -_dot(self.axes[2], start) / _dot(self.axes[2], d)
            seen = s > 0
            if self.outline is not None:
                a, b = (_dot(axis, start) + s * _dot(axis, d) for axis in self.axes[:2])
                seen &= self.outline(a, b)
        return np.where(seen, s, np.inf)

    def coordinates(self, points: Array) -> tuple[Array, Array]:
        """(a, b) of points on it: where the texture is looked up."""
        offset = points - self.point
        return _dot(self.axes[0], offset), _dot(self.axes[1], offset)

    def normal(self, points: Array) -> Array:
        return self.axes[2][:, None]


@dataclass(frozen=True)
class Sphere:
    """A sphere; its coordinates are arc lengths from the point that faces the cameras."""

    texture: Texture
    centre: Array  # (3, 1)
    radius: float

    def depth(self, o: Array, d: Array) -> Array:
        c = self.centre - o
        dd, dc = _dot(d, d), _dot(d, c)
        inside = dc * dc - dd * (_dot(c, c) - self.radius**2)
        s = (dc - np.sqrt(np.maximum(inside, 0))) / dd
        return np.where((inside > 0) & (s > 0), s, np.inf)

    def coordinates(self, points: Array) -> tuple[Array, Array]:
        x, y, z = self.normal(points)
        across = np.hypot(x, y)
        arc = self.radius * np.arctan2(across, -z) / np.maximum(across, 1e-6)
        return x * arc, y * arc

    def normal(self, points: Array) -> Array:
        return (points - self.centre) / self.radius


Surface = Patch | Sphere


def patch(
    texture: Texture,
    point: ArrayLike,
    slope: tuple[float, float] = (0.0, 0.0),
    turn: float = 0.0,
    outline: Outline | None = None,
) -> Patch:
    """A patch whose depth grows by `slope` along x and y, turned in its own plane by `turn` radians."""
    normal = np.array([-slope[0], -slope[1], 1.0]) / np.sqrt(1 + slope[0] ** 2 + slope[1] ** 2)
    a = np.cross([0.0, 1.0, 0.0], normal)
    a /= np.linalg.norm(a)
    b = np.cross(normal, a)
    cos, sin = np.cos(turn), np.sin(turn)
    axes = np.array([cos * a + sin * b, cos * b - sin * a, normal])
    return Patch(texture, _column(point), axes.astype(np.float32), outline)


def box(width: float, height: float) -> Outline:
    """A rectangle about the patch's point, metres."""
    return lambda a, b: (np.abs(a) < width / 2) & (np.abs(b) < height / 2)


def ring(outer: float, inner: float = 0.0) -> Outline:
    """A disc, or a ring with a hole, radii in metres."""
    return lambda a, b: (a * a + b * b < outer**2) & (a * a + b * b >= inner**2)


def bars(count: int, pitch: float, thick: float, length: float) -> Outline:
    """A row of upright bars."""
    half = count * pitch / 2
    return lambda a, b: (np.abs(b) < length / 2) & (np.abs(a) < half) & ((a + half) % pitch < thick)


def ball(texture: Texture, centre: ArrayLike, radius: float) -> Sphere:
    return Sphere(texture, _column(centre), radius)


def _dot(p: Array, q: Array) -> Array:
    """Scalar products of triples; spelt out, because a threaded BLAS would fight the threads over views."""
    return p[0] * q[0] + p[1] * q[1] + p[2] * q[2]


def _column(vector: ArrayLike) -> Array:
    return np.asarray(vector, np.float32).reshape(3, 1)


# ---------------------------------------------------------------------------------------------- worlds


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


# ------------------------------------------------------------------------------------------- rendering


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
    return _scene(_shoot(name, size, grid, views, seed))


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
    from gradcon.io.hci import write_hci
    from gradcon.io.rig import write_rig

    shot = _shoot(name, size, grid, views, seed)
    scene = _scene(shot)
    if shot.world.rotated:
        names = [view_name(cell, grid) for cell in shot.cells]
        images = dict(zip(names, shot.images, strict=True))
        return write_rig(folder, images, shot.cameras, reference=names[0], ground_truth=scene.ground_truth, name=name)
    array = np.zeros((grid, grid, *size, 3), np.uint8)
    for cell, image in zip(shot.cells, shot.images, strict=True):
        array[cell] = image
    return write_hci(folder, array, scene.ground_truth, shot.parameters, cells=shot.cells)


def view_name(cell: Cell, grid: int) -> str:
    """The benchmark's file name of the camera in that row and column."""
    return f"input_Cam{cell[0] * grid + cell[1]:03d}.png"


@dataclass(frozen=True)
class Shot:
    """A world and what its cameras saw, the reference's first."""

    world: World
    cells: list[Cell]
    cameras: list[Camera]
    images: list[NDArray[np.uint8]]
    depth: Array  # of the reference's pixel centres, metres
    parameters: dict[str, int | float | str]  # as in the benchmark's parameters.cfg
    seed: int


def _shoot(name: str, size: tuple[int, int], grid: int, views: Views, seed: int) -> Shot:
    if name not in SCENES:
        raise InputError(f"{name}: is not a synthetic scene; choose one of {', '.join(SCENES)}.")
    if min(size) < 1:
        raise InputError(f"size: {size[1]} x {size[0]} pixels is no image; give two positive numbers.")
    if grid < 3 or grid % 2 == 0:
        raise InputError(f"grid: {grid} cameras a side have no middle; give an odd number of at least 3.")
    if seed < 0:
        raise InputError(f"seed: {seed} is negative; give 0 or more.")
    world = SCENES[name](Painter(max(size), seed))
    rig = _rig(world, size, grid, seed)
    middle = (grid // 2, grid // 2)
    others = [cell for cell in rig if cell != middle]
    cells = [middle, *(others[k] for k in choose_views(_baselines([middle, *others]), views))]
    cameras = [rig[cell] for cell in cells]
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
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        images = list(pool.map(lambda camera: _expose(world, camera, size), cameras))
    return Shot(world, cells, cameras, images, _depth(world, cameras[0], size), parameters, seed)


def _scene(shot: Shot) -> Scene:
    size, grid = shot.depth.shape, int(shot.parameters["num_cams_x"])
    names = [view_name(cell, grid) for cell in shot.cells]
    matrices = [{part: getattr(camera, part).tolist() for part in "KRt"} for camera in shot.cameras]
    more: dict[str, Any] = {
        "name": shot.parameters["scene"],
        "reference_name": names[0],
        "target_names": names[1:],
        "metadata": {
            **shot.parameters,
            "seed": shot.seed,
            "cameras": dict(zip(names, matrices, strict=True)),
        },
    }
    if shot.world.rotated:
        scene = Scene.from_cameras(shot.images[0], shot.images[1:], shot.cameras, **more)
        unit = scene.metadata["disparity_times_depth"]  # from_cameras chose it
        scene.ground_truth = (unit / shot.depth).astype(np.float32)
        return scene
    unit = shot.world.baseline * _focal(size)
    truth = unit * (1 / shot.depth - 1 / shot.world.focus)
    return Scene(shot.images[0], shot.images[1:], _baselines(shot.cells), ground_truth=truth, **more)


def _baselines(cells: list[Cell]) -> list[Cell]:
    """(B_x, B_y) of all cells but the first, the reference: against the cameras' movement."""
    (row, column), *others = cells
    return [(column - u, row - v) for v, u in others]


def _focal(size: tuple[int, ...]) -> float:
    """Focal length in pixels: the sensor's size is that of the image's larger side."""
    return FOCAL_MM / SENSOR_MM * max(size)


def _rig(world: World, size: tuple[int, int], grid: int, seed: int) -> dict[Cell, Camera]:
    """The grid's cameras: parallel and converged, or turned by a few degrees about each axis and off the plane."""
    height, width = size
    rng = np.random.default_rng([seed, grid])
    rig = {}
    for v in range(grid):
        for u in range(grid):
            f, R = _focal(size), np.eye(3)
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


def _rotation(angles: Array) -> Array:
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


def _rays(camera: Camera, rows: range, width: int, dx: float = 0.0, dy: float = 0.0) -> tuple[Array, Array]:
    """Origin o (3, 1) and directions d (3, n) of rays through pixels; o + s d has depth s in the camera."""
    y, x = np.meshgrid(np.asarray(rows) + dy, np.arange(width) + dx, indexing="ij")
    back = camera.R.T @ np.linalg.inv(camera.K)
    pixels = np.stack([x.ravel(), y.ravel(), np.ones(x.size)])
    return -(camera.R.T @ camera.t)[:, None], np.stack([_dot(line, pixels) for line in back])


def _depth(world: World, camera: Camera, size: tuple[int, int]) -> Array:
    o, d = _rays(camera, range(size[0]), size[1])
    return np.min([surface.depth(o, d) for surface in world.surfaces], axis=0).reshape(size)


def _expose(world: World, camera: Camera, size: tuple[int, int]) -> NDArray[np.uint8]:
    """One view, 8-bit RGB: light is averaged over each pixel's area, then encoded."""
    height, width = size
    view = np.empty((height, width, 3), np.uint8)
    band = max(1, 65536 // width)  # rows at a time, so that a band's rays stay in cache
    for top in range(0, height, band):
        rows = range(top, min(top + band, height))
        light = np.zeros((len(rows) * width, 3), np.float32)
        for k in range(RAYS):
            o, d = _rays(camera, rows, width, (k + 0.5) / RAYS - 0.5, (5 * k % RAYS + 0.5) / RAYS - 0.5)
            light += _radiance(world, o.astype(np.float32), d.astype(np.float32))
        encoded = np.clip(light / RAYS, 0, 1) ** (1 / GAMMA)
        view[rows.start : rows.stop] = np.rint(255 * encoded).reshape(-1, width, 3)
    return view


def _radiance(world: World, o: Array, d: Array) -> NDArray[np.float32]:
    """Linear RGB along the rays: the nearest surface's texture in the lamp's light, or in a shadow."""
    depths = np.stack([surface.depth(o, d) for surface in world.surfaces])
    nearest = depths.argmin(axis=0)
    rgb = np.zeros((d.shape[1], 3), np.float32)
    objects = [surface for surface in world.surfaces if isinstance(surface, Sphere) or surface.outline]
    for k, surface in enumerate(world.surfaces):
        mine = np.flatnonzero((nearest == k) & np.isfinite(depths[k]))
        if len(mine) == 0:
            continue
        points = o + depths[k, mine] * d[:, mine]
        to_lamp = _column(world.lamp) - points
        lit = np.abs(_dot(surface.normal(points), to_lamp)) / np.sqrt(_dot(to_lamp, to_lamp))
        for other in objects:
            if other is not surface:
                lit[other.depth(points, to_lamp) < 1] = 0  # s = 1 is the lamp itself
        shade = np.float32(AMBIENT) + np.float32(1 - AMBIENT) * lit
        rgb[mine] = surface.texture(*surface.coordinates(points)) * shade[:, None]
    return rgb
