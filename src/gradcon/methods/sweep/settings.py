"""The parameters of the sweep: the same for every scene, because they are relative to the noise and the baselines."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from gradcon.engines.sweep import ArmCosts

# What an ablation may leave out, and what the method then does.
TERMS = {
    "colour": "compares luma instead of colours",
    "arms": "gives all arms the same weight, so hidden views count",
    "near": "weighs near and far views alike in the first pass",
    "noise": "takes one noise level for every pixel and scene",
    "edges": "charges the same for a jump at an image edge as elsewhere",
    "surface": "ends after the first pass, whose labels have no slant",
    "median": "skips the median filters",
}

MOST_LABELS = 192  # of the first pass; if the range needs more, it runs on a smaller copy
MOST_COSTS = 96 * 2**20  # of the first pass, for the same reason: pixels times labels
NOISE = 6.0  # times the smallest difference between the views is a full disagreement
LEAST_NOISE = 0.002
NOISY, VERY_NOISY = 1.75 / 255, 9 / 255  # noise that is worth smoothing, and that always needs it
STRONG, FAIR = 2.4, 1.0  # textures, in units of the noise, that need no smoothing, and little
LITTLE_SMOOTHING = (0.4, 0)
SMOOTHING = ((3.0 / 255, (0.5, 0)), (9.0 / 255, (0.8, 1)), (18.0 / 255, (1.2, 1)), (math.inf, (1.2, 2)))  # by noise
FIXED_NOISE = 0.03  # without the term `noise`: what it is on average
COLOUR_OF_PLANE, COLOUR_OF_MEDIAN = 0.15, 0.07  # differences at which a neighbour counts 1/e as much
LEAST_EDGE = 0.003  # the smallest difference of colour that makes an edge


@dataclass(frozen=True)
class Planes:
    """How the surface that a pass searches around is fitted to the map before it; see `SweepEngine.fit_planes`."""

    disparity: float  # in pixels of the farthest view
    distance: float
    radius: int
    stride: int
    fits: int = 3


@dataclass(frozen=True)
class Pass:
    """One search for the best labels."""

    name: str
    step: float  # from label to label, in pixels of the farthest view
    arms: ArmCosts
    small: float  # penalties for a change by one label, and by more; a view that disagrees fully costs 1
    large: float
    jump: float  # the share of the penalties that remains at a strong edge
    edge: float  # the difference of colour that makes an edge, in units of the noise
    median: int  # radius
    labels: int = 0  # of each pixel's band; 0 for the whole range
    planes: Planes | None = None  # None for a flat surface

    @property
    def unit(self) -> float:
        """What a cost of 1 is stored as: the most for which the sums of eight paths fit into 16 bits."""
        return float(65535 // (8 * (1 + self.large)))


FIRST = Pass(
    "first",
    step=0.5,
    arms=ArmCosts(near=2.0, blur=0.0, c0=0.3, sharpness=2),
    small=2.0,
    large=36.0,
    jump=0.003,
    edge=0.2,
    median=1,
)
SECOND = Pass(
    "second",
    step=0.24,
    arms=ArmCosts(near=0.0, blur=0.7, c0=0.1, sharpness=1),
    small=0.4,
    large=8.0,
    jump=0.01,
    edge=0.05,
    median=1,
    labels=41,
    planes=Planes(disparity=2.0, distance=18.0, radius=24, stride=6),
)
THIRD = replace(
    SECOND,
    name="third",
    step=0.32,
    arms=ArmCosts(near=0.0, blur=1.2, c0=0.2, sharpness=2),
    small=0.6,
    median=2,
    labels=9,
    planes=Planes(disparity=0.24, distance=13.0, radius=16, stride=4),
)


def smoothing(noise: float, texture: float) -> tuple[float, int]:
    """Return how much noisy views are smoothed (sigma in pixels), and how often they are halved at least.

    Noise hides weak textures, and more the finer they are.  So the first pass looks at them on a larger scale.  Strong
    textures, in units of the noise, are better left alone, unless there is a lot of noise.
    """
    if noise < NOISY or (noise < VERY_NOISY and texture > STRONG):
        return 0.0, 0
    if noise < VERY_NOISY and texture > FAIR:
        return LITTLE_SMOOTHING
    return next(how for most, how in SMOOTHING if noise < most)


def without(term: str | None) -> list[Pass]:
    """Return the three passes, changed by what is left out."""
    passes = [FIRST, SECOND, THIRD]
    if term == "near":
        passes[0] = replace(FIRST, arms=replace(FIRST.arms, near=0.0))
    elif term == "arms":
        # So large a constant makes all weights the same.
        passes = [replace(each, arms=replace(each.arms, c0=1e3)) for each in passes]
    elif term == "edges":
        passes = [replace(each, jump=1.0) for each in passes]
    elif term == "median":
        passes = [replace(each, median=0) for each in passes]
    return passes
