"""What one view's map says about points that another view claims: confirmed, seen through, or hidden."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from gradcon.fusion.maps import ViewMap
from gradcon.fusion.placement import Floats, between, moved, rate, to_space
from gradcon.fusion.surface import Planes, fit_planes, floating, steepest_step
from gradcon.scene.calibration import Calibration

Mask = NDArray[np.bool_]

WITHIN = 3.0  # predicted standard deviations by which two views may differ on the same point
LEAST = 1e-4  # pixels per unit baseline: no map is more precise than this
SLOWEST = 1e-9  # a disparity that changes by less than this share of another one says nothing about it


@dataclass(frozen=True)
class Pixels:
    """Pixels of one view, with the disparity w of what they show and its standard deviation."""

    u: NDArray[np.intp]
    v: NDArray[np.intp]
    w: Floats
    deviation: Floats

    def __len__(self) -> int:
        return len(self.u)

    def only(self, mask: Mask) -> Pixels:
        return Pixels(self.u[mask], self.v[mask], self.w[mask], self.deviation[mask])


class Sheet:
    """The map of a view as a surface: what is known of it, its planes, and its place in space.

    `unknown` are the pixels without a depth, and `gaps` those that float between two surfaces; the disparity of both
    is NaN.
    """

    def __init__(self, view: ViewMap, calibration: Calibration) -> None:
        self.view = view
        self.space = to_space(view, calibration)
        v, u = np.indices(view.disparity.shape)
        q = self.space[3, 0] * u + self.space[3, 1] * v + self.space[3, 2] + self.space[3, 3] * view.disparity
        usable = np.isfinite(view.disparity) & np.isfinite(view.uncertainty) & (q > 0)  # else at or beyond infinity
        self.disparity = np.where(usable, view.disparity, np.nan)
        self.deviation = np.where(usable, np.maximum(view.uncertainty, LEAST), np.nan)
        self.unknown = ~usable
        self.steepest = steepest_step(self.space, self.disparity, self.deviation[usable])
        self.gaps = floating(self.disparity, self.steepest)
        self.disparity[self.gaps] = np.nan
        self.planes = self._planes(self.pixels())

    @property
    def shape(self) -> tuple[int, int]:
        return self.disparity.shape

    def pixels(self) -> Pixels:
        """Return all pixels that show a surface."""
        v, u = np.nonzero(np.isfinite(self.disparity))
        return Pixels(u, v, self.disparity[v, u], self.deviation[v, u])

    def replaced(self, pixels: Pixels) -> Sheet:
        """Return the sheet that shows these pixels alone, at their disparities."""
        new = copy.copy(self)
        new.__dict__.pop("nearest_around", None)
        new.disparity = np.full(self.shape, np.nan)
        new.disparity[pixels.v, pixels.u] = pixels.w
        new.planes = new._planes(pixels)
        return new

    def _planes(self, pixels: Pixels) -> Planes:
        """Return maps of the slopes of the planes, which are 0 elsewhere."""
        maps = np.zeros((2, *self.shape))
        maps[:, pixels.v, pixels.u] = fit_planes(self.disparity, self.steepest, pixels.v, pixels.u)
        return Planes(*maps)

    @cached_property
    def nearest_around(self) -> Floats:
        """The largest disparity in the 3 x 3 pixels around each one; infinite where one of them is unknown."""
        filled = np.where(np.isfinite(self.disparity), self.disparity, np.inf)
        return np.asarray(ndimage.maximum_filter(filled, 3, mode="constant", cval=np.inf))


@dataclass(frozen=True)
class Opinion:
    """What a view says about points of another one.

    Attributes
    ----------
    inside : mask
        The view's picture shows the place of the point, be it hidden or not.
    confirms : mask
        The view finds the surface where the point is, within the predicted deviations.
    same : mask
        It does, or the step between its surface and the point is small enough for a surface.
    through : mask
        It finds nothing there, but a surface farther away, at the pixel and at the eight around it.
    row, column : int arrays
        The nearest pixel of the view, where the point is inside.
    difference, deviation : float arrays
        How much larger a disparity the view would give the pixel of the point, and the standard deviation of that,
        which is infinite where the view cannot tell.
    """

    inside: Mask
    confirms: Mask
    same: Mask
    through: Mask
    row: NDArray[np.intp]
    column: NDArray[np.intp]
    difference: Floats
    deviation: Floats


def opinion(of: Sheet, about: Sheet, pixels: Pixels) -> Opinion:
    """Compare points of the view `about` with the map of another view."""
    T = between(about.view, of.view)
    x, y, expected, scale = moved(T, pixels.u, pixels.v, pixels.w)
    height, width = of.shape
    with np.errstate(invalid="ignore"):
        inside = (scale > 0) & (x > -0.5) & (x < width - 0.5) & (y > -0.5) & (y < height - 0.5)
    x, y, expected = (np.where(inside, part, 0.0) for part in (x, y, expected))  # elsewhere they may be infinite
    row, column = (np.rint(part).astype(np.intp) for part in (y, x))
    slope_x, slope_y = of.planes.x[row, column], of.planes.y[row, column]
    found = of.disparity[row, column] + slope_x * (x - column) + slope_y * (y - row)
    change = rate(T, expected, np.where(inside, scale, 1.0))
    own = of.deviation[row, column]
    within = WITHIN * np.hypot(own, change * pixels.deviation) + 0.5 * (np.abs(slope_x) + np.abs(slope_y))
    with np.errstate(invalid="ignore"):
        apart = np.abs(found - expected)
        confirms = inside & (apart <= within)
        same = confirms | (inside & (apart <= of.steepest[row, column]))
        through = inside & (of.nearest_around[row, column] < expected - within)
    tells = np.abs(change) > SLOWEST
    change = np.where(tells, change, 1.0)
    difference, deviation = (found - expected) / change, own / np.abs(change)
    return Opinion(
        inside, confirms, same, through, row, column, np.where(tells, difference, 0), np.where(tells, deviation, np.inf)
    )
