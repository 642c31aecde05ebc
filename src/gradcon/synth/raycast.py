"""A small ray caster: textured surfaces under one lamp, seen by pinhole cameras.

Surfaces are flat patches of any outline, and spheres.  A pixel averages `RAYS` rays that are spread over its area, so
views are anti-aliased like those of a sensor.  Textures and shadows belong to the surfaces and not to the view, so all
views agree on a point that they all see.  Lengths are in metres.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradcon.scene.geometry import Camera
from gradcon.synth.textures import GAMMA, Array, Texture

Outline = Callable[[Array, Array], Array]  # whether the surface exists at its own coordinates (a, b)

RAYS = 8  # per pixel, on a Fibonacci lattice with 8 distinct positions along each axis
AMBIENT = np.float32(0.35)  # the share of the light that also reaches shadows


@dataclass(frozen=True)
class Patch:
    """A flat surface through `point`; `outline(a, b)` says where it exists, and None makes it endless."""

    texture: Texture
    point: Array  # (3, 1)
    axes: Array  # (3, 3): rows a, b and the normal
    outline: Outline | None = None

    def depth(self, o: Array, d: Array) -> Array:
        """Return the s > 0 at which each ray o + s d meets the patch, or inf; d is (3, n)."""
        start = o - self.point
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            s = -_dot(self.axes[2], start) / _dot(self.axes[2], d)
            seen = s > 0
            if self.outline is not None:
                a, b = (_dot(axis, start) + s * _dot(axis, d) for axis in self.axes[:2])
                seen &= self.outline(a, b)
        return np.where(seen, s, np.inf)

    def coordinates(self, points: Array) -> tuple[Array, Array]:
        """Return the coordinates (a, b) of points on the patch, at which the texture is looked up."""
        offset = points - self.point
        return _dot(self.axes[0], offset), _dot(self.axes[1], offset)

    def normal(self, points: Array) -> Array:
        return self.axes[2][:, None]


@dataclass(frozen=True)
class Sphere:
    """A sphere, whose coordinates are arc lengths from the point that faces the cameras."""

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
    """Make a patch whose depth grows by `slope` along x and y, turned in its own plane by `turn` radians."""
    normal = np.array([-slope[0], -slope[1], 1.0]) / np.sqrt(1 + slope[0] ** 2 + slope[1] ** 2)
    a = np.cross([0.0, 1.0, 0.0], normal)
    a /= np.linalg.norm(a)
    b = np.cross(normal, a)
    cos, sin = np.cos(turn), np.sin(turn)
    axes = np.array([cos * a + sin * b, cos * b - sin * a, normal])
    return Patch(texture, _column(point), axes.astype(np.float32), outline)


def ball(texture: Texture, centre: ArrayLike, radius: float) -> Sphere:
    return Sphere(texture, _column(centre), radius)


def box(width: float, height: float) -> Outline:
    """Outline a rectangle around the patch's point."""
    return lambda a, b: (np.abs(a) < width / 2) & (np.abs(b) < height / 2)


def ring(outer: float, inner: float = 0.0) -> Outline:
    """Outline a disc, or a ring with a hole, by its radii."""
    return lambda a, b: (a * a + b * b < outer**2) & (a * a + b * b >= inner**2)


def bars(count: int, pitch: float, thick: float, length: float) -> Outline:
    """Outline a row of upright bars."""
    half = count * pitch / 2
    return lambda a, b: (np.abs(b) < length / 2) & (np.abs(a) < half) & ((a + half) % pitch < thick)


def depth(surfaces: Sequence[Surface], camera: Camera, size: tuple[int, int]) -> Array:
    """Return the exact depth along the rays through the pixel centres."""
    o, d = _rays(camera, range(size[0]), size[1])
    return np.min([surface.depth(o, d) for surface in surfaces], axis=0).reshape(size)


def expose(surfaces: Sequence[Surface], lamp: ArrayLike, camera: Camera, size: tuple[int, int]) -> NDArray[np.uint8]:
    """Render one view in 8-bit RGB; the light is averaged over each pixel's area, then gamma-encoded."""
    height, width = size
    view = np.empty((height, width, 3), np.uint8)
    band = max(1, 65536 // width)  # rows at a time, so that the rays of a band stay in the cache
    for top in range(0, height, band):
        rows = range(top, min(top + band, height))
        light = np.zeros((len(rows) * width, 3), np.float32)
        for k in range(RAYS):
            o, d = _rays(camera, rows, width, (k + 0.5) / RAYS - 0.5, (5 * k % RAYS + 0.5) / RAYS - 0.5)
            light += _radiance(surfaces, _column(lamp), o.astype(np.float32), d.astype(np.float32))
        encoded = np.clip(light / RAYS, 0, 1) ** (1 / GAMMA)
        view[rows.start : rows.stop] = np.rint(255 * encoded).reshape(-1, width, 3)
    return view


def _rays(camera: Camera, rows: range, width: int, dx: float = 0.0, dy: float = 0.0) -> tuple[Array, Array]:
    """Return the origin o (3, 1) and the directions d (3, n) of rays through pixels; o + s d has depth s."""
    y, x = np.meshgrid(np.asarray(rows) + dy, np.arange(width) + dx, indexing="ij")
    back = camera.R.T @ np.linalg.inv(camera.K)
    pixels = np.stack([x.ravel(), y.ravel(), np.ones(x.size)])
    return -(camera.R.T @ camera.t)[:, None], np.stack([_dot(line, pixels) for line in back])


def _radiance(surfaces: Sequence[Surface], lamp: Array, o: Array, d: Array) -> NDArray[np.float32]:
    """Return linear RGB along the rays: the texture of the nearest surface, lit by the lamp or in a shadow."""
    depths = np.stack([surface.depth(o, d) for surface in surfaces])
    nearest = depths.argmin(axis=0)
    rgb = np.zeros((d.shape[1], 3), np.float32)
    casting = [surface for surface in surfaces if isinstance(surface, Sphere) or surface.outline]
    for k, surface in enumerate(surfaces):
        mine = np.flatnonzero((nearest == k) & np.isfinite(depths[k]))
        if len(mine) == 0:
            continue
        points = o + depths[k, mine] * d[:, mine]
        to_lamp = lamp - points
        lit = np.abs(_dot(surface.normal(points), to_lamp)) / np.sqrt(_dot(to_lamp, to_lamp))
        for other in casting:
            if other is not surface:
                lit[other.depth(points, to_lamp) < 1] = 0  # s = 1 is the lamp itself
        shade = AMBIENT + (1 - AMBIENT) * lit
        rgb[mine] = surface.texture(*surface.coordinates(points)) * shade[:, None]
    return rgb


def _dot(p: Array, q: Array) -> Array:
    """Return scalar products of triples without BLAS, whose threads would compete with those that render views."""
    return p[0] * q[0] + p[1] * q[1] + p[2] * q[2]


def _column(vector: ArrayLike) -> Array:
    return np.asarray(vector, np.float32).reshape(3, 1)
