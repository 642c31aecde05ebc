"""Which labels a search tries, and how the range of the disparities is found."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from gradcon.arrays import module_of, quantile, to_host
from gradcon.engines.sweep import Map, SweepEngine
from gradcon.errors import InputError
from gradcon.methods.sweep.settings import MOST_COSTS, MOST_LABELS

SMALL = 128  # pixels on the longer side of the copy on which the range is searched
REACH = 0.25  # of the longer side: how far the farthest view may see a surface move
SURE = 0.15  # by how much the best label must be cheaper than any other, on average along its paths
RARE = 0.003  # the share of sure pixels on either side that may lie outside the range,
RARE_OF_TWO = 0.05  # and the same of a pair; it falls with the square of the number of targets
MARGIN = 0.05  # of the range, which is added on either side
FEWEST = 50  # sure pixels that tell a range
CHANCE = 4.0  # times as many sure pixels as the median label: fewer may match by chance


class Labels(NamedTuple):
    """The labels first, first + 1, ..., as many as `number` says; label k is the disparity k * step."""

    first: int
    number: int
    step: float

    @classmethod
    def between(cls, low: float, high: float, step: float) -> Labels:
        first = math.floor(low / step)
        return cls(first, max(3, math.ceil(high / step) - first + 1), step)


def step_of(engine: SweepEngine, pixels: float) -> float:
    """Return the disparity that moves a surface by so many pixels in the farthest view."""
    return pixels / float(engine.views.lengths.max())


def whole_range(engine: SweepEngine, pixels: float) -> Labels:
    """Return all labels that are within reach."""
    reach = REACH * max(engine.views.shape) / float(engine.views.lengths.max())
    return Labels.between(-reach, reach, step_of(engine, pixels))


def found_range(w: Map, lead: Map, tried: Labels, targets: int) -> tuple[float, float]:
    """Return the range of the disparities that a small copy shows, of the labels that were tried.

    `lead` says by how much the best label of each pixel is cheaper than any other.  A pixel without texture has no say,
    because its label is as good as any: a range that is too long lets it stray.  Where hardly any third view can
    contradict, textures also match by chance, which many pixels do at labels far outside the range.
    """
    sure = w[lead > SURE]
    if sure.size < min(FEWEST, w.size // 4):
        return -tried.step, tried.step
    rare = max(RARE, RARE_OF_TWO / targets**2)
    if rare > RARE:
        sure = _not_by_chance(sure, tried)
    low, high = (float(quantile(sure, share)) for share in (rare, 1 - rare))
    margin = 2 * tried.step + MARGIN * (high - low)
    return low - margin, high + margin


def _not_by_chance(sure: Map, tried: Labels) -> Map:
    """Leave out the disparities that no more pixels have than match by chance, unless that would leave too few.

    Pixels match by chance at any label, and about as often at one as at another.
    """
    label = module_of(sure).clip(sure / np.float32(tried.step) - tried.first + 0.5, 0, tried.number - 1).astype(np.intp)
    counts = to_host(module_of(sure).bincount(label, minlength=tried.number))
    by_chance = counts <= CHANCE * np.median(counts)
    if counts[~by_chance].sum() < FEWEST:
        return sure
    return sure[module_of(sure).asarray(~by_chance)[label]]


def halvings(shape: tuple[int, int], low: float, high: float, step: float) -> int:
    """Return how often the views must be halved until the range can be searched at every pixel.

    Half as many pixels along each axis need half as many labels.  So the first pass takes no more than a certain time,
    however large the views are, and all else takes time in proportion to their pixels.
    """
    halved = _halvings(shape, high - low, step)
    if min(shape) >> halved < 1:
        problem = f"from {low:g} to {high:g} is too wide for views of {shape[1]} x {shape[0]} pixels"
        widest = _widest(shape, high - low, step)
        raise InputError("disparity_range", problem, f"give one that is narrower than {widest:.3g}")
    return halved


def searchable(shape: tuple[int, int], low: float, high: float, step: float) -> tuple[float, float]:
    """Return the middle of a range, as wide as it can be searched in views of this shape: strips may be too thin."""
    middle, half = (low + high) / 2, _widest(shape, high - low, step) / 2
    return (low, high) if 2 * half >= high - low else (middle - half, middle + half)


def _halvings(shape: tuple[int, int], width: float, step: float) -> int:
    pixels, labels, halved = float(shape[0] * shape[1]), width / step, 0
    while labels > MOST_LABELS or pixels * labels > MOST_COSTS:
        pixels, labels, halved = pixels / 4, labels / 2, halved + 1
    return halved


def _widest(shape: tuple[int, int], width: float, step: float) -> float:
    """Return the width, halved until a range of that width can be searched in views of this shape."""
    while min(shape) >> _halvings(shape, width, step) < 1:
        width /= 2
    return width


def shrink_factor(shape: tuple[int, int]) -> int:
    """Return how many pixels along each axis become one in the copy on which the range is searched."""
    return int(np.clip(math.ceil(max(shape) / SMALL), 1, max(1, min(shape) // 2)))
