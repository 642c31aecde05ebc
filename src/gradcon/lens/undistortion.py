"""Undistort a view: make of it what a pinhole camera at the same place would have seen."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.errors import InputError
from gradcon.lens.distortion import Distortion
from gradcon.lens.folding import refuse_folds, refuse_half_space
from gradcon.scene.geometry import Floats
from gradcon.scene.luma import full_scale, to_planes

GRID = 129  # places along each axis at which folds are looked for
EDGE = 0.01  # pixels outside the image that rounding may make
LEAST = 0.01  # share of an undistorted view that must show something
PIXELS_AT_ONCE = 2**13  # so that what is computed for them stays in a cache


@dataclass(frozen=True, eq=False)
class Undistortion:
    """From the view of a lens to that of a pinhole camera.

    Attributes
    ----------
    K : (3, 3) array
        The intrinsic matrix of the camera with the lens.
    distortion : Distortion
    new_K : (3, 3) array
        The intrinsic matrix of the pinhole camera.
    where : str
        The camera, for messages.
    """

    K: Floats
    distortion: Distortion
    new_K: Floats
    where: str

    @cached_property
    def key(self) -> tuple[Any, ...]:
        """What two cameras have in common that see and bend alike."""
        return self.distortion, self.K.tobytes(), self.new_K.tobytes()

    @cached_property
    def _rays(self) -> Floats:
        """The matrix that takes an undistorted pixel to its direction."""
        return np.asarray(np.linalg.inv(self.new_K), np.float64)

    def places(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Return where the given view shows what the undistorted view shows at (x, y)."""
        a, b = self.distortion.distorted(*_on_plane(self._rays, x, y))
        return _on_plane(self.K, a, b)

    def seen(self, shape: tuple[int, int]) -> NDArray[np.bool_] | None:
        """Return which pixels of the undistorted view the camera saw; None if it saw them all.

        Refuse a distortion that folds the image over, or leaves next to nothing of it.
        """
        height, width = shape
        x, y = np.meshgrid(*(np.linspace(0, n - 1, min(n, GRID)) for n in (width, height)))
        refuse_half_space(self.distortion, self.K, shape, self.where)
        refuse_folds(self.distortion, *_on_plane(self._rays, x, y), np.stack([x, y]), self.where)
        across, down = np.arange(width, dtype=np.float64), np.arange(height, dtype=np.float64)
        frame = [(across, 0.0 * across), (across, 0.0 * across + height - 1)]
        frame += [(0.0 * down, down), (0.0 * down + width - 1, down)]
        # Without folds, all that the frame encloses is shown inside of what it is shown as.
        if all(self._inside(*self.places(*side), shape).all() for side in frame):
            return None
        seen = np.empty(shape, bool)
        for rows, x, y in _bands(shape):
            seen[rows] = self._inside(*self.places(x, y), shape)
        if seen.mean() < LEAST:
            problem = f"only {100 * seen.mean():.2g} % of its undistorted view show something of the image"
            raise InputError(self.where, problem, "correct K, or that of the undistorted view")
        return seen

    def image(self, image: NDArray[Any], name: str) -> NDArray[Any]:
        """Return the undistorted view, without alpha, by cubic interpolation.

        What the camera did not see repeats the border.
        """
        from gradcon.engines.cpu.resampling import resample, with_margin  # only a scene with lenses waits for it

        planes = to_planes(image, name)
        (channels, height, width), full = planes.shape, full_scale(planes.dtype)
        source, out = with_margin(planes), np.empty_like(planes, order="C")
        for rows, x, y in _bands((height, width)):
            u, v = (
                np.fmax(np.fmin(place, n - 1), 0.0) for place, n in zip(self.places(x, y), (width, height), strict=True)
            )
            values = np.empty((channels, *u.shape), np.float32)
            resample(source, u, v, values)
            out[:, rows] = values if full is None else np.rint(np.clip(values, 0, full))
        return np.moveaxis(out, 0, -1)

    @staticmethod
    def _inside(u: Floats, v: Floats, shape: tuple[int, int]) -> NDArray[np.bool_]:
        height, width = shape
        return (u >= -EDGE) & (u <= width - 1 + EDGE) & (v >= -EDGE) & (v <= height - 1 + EDGE)


def _on_plane(A: Floats, x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Return A (x, y, 1), where the last row of A is 0, 0, 1."""
    return A[0, 0] * x + A[0, 1] * y + A[0, 2], A[1, 0] * x + A[1, 1] * y + A[1, 2]


def _bands(shape: tuple[int, int]) -> Any:
    """Yield bands of rows, and the x and y of their pixels."""
    height, width = shape
    rows = max(1, PIXELS_AT_ONCE // width)
    for top in range(0, height, rows):
        bottom = min(top + rows, height)
        y, x = np.mgrid[top:bottom, 0:width].astype(np.float64)
        yield slice(top, bottom), x, y
