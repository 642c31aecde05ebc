"""What a plane sweep needs of an engine: four operations on whole images.

A sweep tries many disparities, the labels, at every pixel.  Label k stands for the disparity k * step.  Each pixel has
its own band of L successive labels, which starts at `start`; a start may lie between two labels.

    costs        how badly the views agree at each label of the band, from 0 to 1, as integers
    aggregate    the label that fits best, along with its neighbours (semi-global matching)
    fit_planes   a smooth surface through a disparity map, which stops at edges
    median       a disparity map without its outliers

`difference` prepares them: it tells how well the views can agree at all.  `gradcon.methods.sweep` owns the passes, and
whatever costs little: noise levels, penalties, ranges and the uncertainty.

An engine computes in float32 and stores costs as integers.  Sums of integers do not depend on their order, so the
result is the same on any number of threads.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradcon.arrays import to_host
from gradcon.engines.device import Device

Map = Any  # one float32 per pixel, (height, width), in the memory of the engine's device
Volume = Any  # (height, width, labels) uint16

RIDGE = 0.02
LEAST_WEIGHT = 1e-9
SHORTEST = 1e-6  # what a baseline of length 0 counts as, relative to the longest


class Views(NamedTuple):
    """The views of a sweep.

    If the cameras are turned against each other, the targets are resampled first, so that what is infinitely far away
    lies at the same pixel in all views.  Target t then sees the reference pixel (x, y) of disparity w at

        ((x + e_x w) / (1 + e_z w), (y + e_y w) / (1 + e_z w)),    (e_x, e_y, e_z) = epipoles[t].

    In a planar array e_z is 0, and (e_x, e_y) is the baseline: a label shifts the whole view.
    """

    colours: Any  # (1 + T, channels, height, width) uint8, uint16 or float32: the reference, then the targets by arm
    scale: float  # colours * scale is from 0 to 1
    epipoles: NDArray[np.float64]  # (T, 3)
    arms: NDArray[np.int32]  # arm a has the targets arms[a] to arms[a + 1] - 1, the nearest first
    order: NDArray[np.intp] | None = None  # which of the scene's targets each one is, if they come from a scene
    known: NDArray[np.bool_] | None = None  # which pixels of the reference its camera saw; None if it saw them all

    @property
    def shape(self) -> tuple[int, int]:
        """The height and width of a view."""
        height, width = self.colours.shape[-2:]
        return height, width

    @property
    def lengths(self) -> NDArray[np.float64]:
        """How far each target sees the reference move, in pixels per unit of disparity: the root mean square."""
        height, width = self.shape
        e_x, e_y, e_z = self.epipoles.T
        middle = np.hypot(e_x - (width - 1) / 2 * e_z, e_y - (height - 1) / 2 * e_z)
        spread = np.sqrt((width**2 + height**2) / 12)  # of the pixels around the middle
        lengths = np.hypot(middle, spread * e_z)
        return np.maximum(lengths, SHORTEST * (lengths.max() or 1.0))


@dataclass(frozen=True)
class ArmCosts:
    """How the views' differences become one cost.

    A view's cost is its colour difference in units of the noise, at most 1.  An arm, which is the views in one
    direction, has the mean cost of its views, weighted by `view_weights`.  An arm that an obstacle hides should not
    count, so each arm a has the weight ((c_min + c0) / (c_a + c0))^sharpness.
    """

    near: float  # 0 weighs all views of an arm alike
    blur: float  # standard deviation of the Gaussian that smooths an arm's costs (see `blur_kernel`); 0 for none
    c0: float  # above 0
    sharpness: int  # 1 or 2


class Best(NamedTuple):
    """The best label of each pixel, and how clearly it is the best; costs are in units of `costs`."""

    label: Map  # counted from the start of the pixel's band, with a fraction
    lowest: Map  # the sum of the eight paths' costs at the best label
    curvature: Map  # its second difference there; 0 at either end of the band
    second: Map  # the lowest sum at any label that differs by more than 2 from the best; infinite if there is none


class SweepEngine(ABC):
    """The arithmetic of a plane sweep on one set of views."""

    name: ClassVar[str]
    note: str = ""
    device: Device

    def __init__(self, views: Views) -> None:
        self.views = views._replace(colours=to_host(views.colours))

    @abstractmethod
    def for_views(self, views: Views) -> SweepEngine:
        """Return an engine for other views that works on the same device, with the same threads."""

    def upload(self, w: ArrayLike) -> Map:
        """Return a disparity map in the memory of the engine's device."""
        return np.ascontiguousarray(to_host(w), np.float32)

    @abstractmethod
    def difference(self, first: int, labels: int, step: float, every: int) -> Map:
        """Return the smallest difference at any label between the reference and the targets, for some rows.

        Parameters
        ----------
        first, labels : int
            The labels from `first` to `first + labels - 1` are tried.
        step : float
            The disparity between two labels.
        every : int
            The rows 0, every, 2 every, ... are returned, as an array of (rows, width).

        Notes
        -----
        The difference at a label is |I_t - I_r|, averaged over the channels and then over the targets that see the
        pixel inside their frame.  It is 0 to 1, and infinite if no target sees the pixel at any label.
        """

    @abstractmethod
    def costs(self, start: Map, labels: int, step: float, noise: Map, arms: ArmCosts, unit: float) -> Volume:
        """Return each pixel's costs in its band.

        Parameters
        ----------
        start : Map
            The first label of each pixel's band.
        labels : int
            The length of the band.
        step : float
            The disparity between two labels.
        noise : Map
            The colour difference that counts as a full disagreement, from 0 to 1.
        arms : ArmCosts
        unit : float
            What a cost of 1 is stored as; a cost c becomes floor(unit * c + 0.5).

        Notes
        -----
        Costs c(k) are computed at whole labels k, the same for all pixels.  At label n of its band a pixel has the cost
        (1 - p) c(k + n) + p c(k + n + 1), where k is the whole part of its start and p the fraction.

        Views are interpolated by cubic convolution; at the frame the outermost pixels are repeated.  An engine may take
        a position within 1e-5 pixels of a whole one as whole, because rounding makes it so anyway.  A target counts
        where it sees the pixel inside its frame, in front of the camera (1 + e_z w > 0), and the interpolated colour is
        not NaN (a view has NaN where its camera saw nothing).  An arm whose targets all do not count has the cost 1 in
        its neighbours' blur and does not count itself.  If no arm counts, the cost is 1.
        """

    @abstractmethod
    def aggregate(self, costs: Volume, edges: Any, small: float, large: float) -> Best:
        """Return the best labels by semi-global matching along eight paths.

        Parameters
        ----------
        costs : Volume
        edges : (4, height, width) float32
            By how much a change of label between two neighbours is cheaper because the image changes there.  Entry
            (0, y, x) is for the pixels (y, x - 1) and (y, x); 1 is for (y - 1, x), 2 for (y - 1, x - 1), and 3 for
            (y - 1, x + 1), each with (y, x).  Entries whose other pixel is outside the frame are not used.
        small, large : float
            What a change by one label and by any other number of labels costs where `edges` is 1, in units of `costs`.
            P1 is floor(small * edge + 0.5) and P2 is floor(large * edge + 0.5), in float32.  An engine may keep the
            sums of the eight paths in 16 bits, so eight times the largest cost plus `large` must be less than 65536.

        Notes
        -----
        Along a path the cost is

            L(p, n) = C(p, n) + min(L(q, n), L(q, n +- 1) + P1, min_i L(q, i) + P2) - min_i L(q, i),

        where q is the pixel before p; the first pixel of a path has L = C.  The best label has the lowest sum of the
        eight L, and is the lowest of several.  Its fraction is the vertex of the parabola through the sums beside it,
        if both exist and it has one.
        """

    @abstractmethod
    def fit_planes(self, w: Map, radius: int, stride: int, colour: float, distance: float, disparity: float) -> Map:
        """Return at each pixel the value of a plane that is fitted to the disparity map around it.

        Parameters
        ----------
        w : Map
        radius, stride : int
            The plane is fitted to the pixels at the offsets -radius, -radius + stride, ..., radius along each axis.
        colour, distance, disparity : float
            A neighbour at the distance d has the weight exp(-(dI / colour)^2 - (d / distance)^2 / 2 -
            (dw / disparity)^2 / 2), where dI is the mean absolute colour difference to the pixel (0 to 1).

        Notes
        -----
        Neighbours outside the frame do not count.  Offsets are divided by `radius`, and `RIDGE` is added to the
        variances of both, so that a plane that nothing holds is level.  A pixel keeps its value if the weights around
        it add up to less than `LEAST_WEIGHT`.
        """

    @abstractmethod
    def median(self, w: Map, radius: int, colour: float) -> Map:
        """Return the weighted median of each pixel's neighbourhood; weights are exp(-(dI / colour)^2) as above.

        It is the first of the sorted values at which the sum of the weights reaches half of the whole.  Neighbours
        outside the frame do not count.
        """


def blur_kernel(sigma: float) -> NDArray[np.float64]:
    """Return the taps of a Gaussian from -radius to radius; the border's pixels are repeated outside the image."""
    if sigma == 0:
        return np.ones(1)
    radius = max(1, math.ceil(2 * sigma))
    taps = np.exp(-0.5 * (np.arange(-radius, radius + 1) / sigma) ** 2)
    return taps / taps.sum()


def view_weights(views: Views, near: float) -> NDArray[np.float64]:
    """Return each target's weight in the mean of its arm: length^-near, and 1 for the nearest target."""
    return (views.lengths / views.lengths.min()) ** -near
