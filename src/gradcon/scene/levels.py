"""The levels of a view's luma, and views of floats whose ranges do not fit together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gradcon.errors import InputError
from gradcon.scene.luma import Planes, luma_of

RANGES = ((1.0, 255.0), (1.0, 65535.0), (255.0, 65535.0))  # the largest values of two ranges that people mix
BLOCK = 8  # pixels
ALIKE = 1.5  # cameras differ in brightness and contrast by less than this factor


class Levels(NamedTuple):
    """The levels of a view, as fractions of its type's range."""

    brightest: float
    mean: float = 0.0  # known for floats only
    contrast: float = 0.0  # the standard deviation of block means, which noise hardly has; known for floats only


def levels_of(planes: Planes) -> Levels:
    """Measure the levels of a view."""
    if planes.dtype == np.uint8:
        return Levels(1.0)  # nothing depends on it, because 255 is white
    luma = luma_of(planes)
    brightest = max(float(luma.max()), -float(luma.min()))
    if planes.dtype != np.float32:
        return Levels(brightest)
    height, width = (length // BLOCK for length in luma.shape)
    blocks = luma[: height * BLOCK, : width * BLOCK].reshape(height, BLOCK, width, BLOCK).mean(axis=(1, 3))
    return Levels(brightest, float(luma.mean()), float((blocks if blocks.size > 1 else luma).std()))


def refuse_mixed_ranges(levels: Sequence[Levels], names: Sequence[str]) -> None:
    """Refuse views of which some hold 0 .. 1 and others 0 .. 255, or any other two of the usual ranges.

    The values of one view must fit into the smaller range, and both its mean and its contrast must differ from those of
    a typical view by about the ratio of the ranges.  So a view that is black, over-exposed or has highlights is not
    refused.
    """
    order = np.argsort([level.mean for level in levels], kind="stable")
    typical = int(order[len(order) // 2])
    for k in range(len(levels)):
        for low, high in RANGES:
            if _differ_by(levels[k], levels[typical], low, high):
                own, other = low, high
            elif _differ_by(levels[typical], levels[k], low, high):
                own, other = high, low
            else:
                continue
            problem = f"its values seem to be in the range 0 .. {own:g} but those of {names[typical]} in 0 .. {other:g}"
            raise InputError(names[k], problem, "bring all views to one range")


def _differ_by(dark: Levels, bright: Levels, low: float, high: float) -> bool:
    if not (0 < dark.brightest <= 1.001 * low < bright.brightest and dark.mean > 0 and dark.contrast > 0):
        return False
    ratios = np.array([bright.mean / dark.mean, bright.contrast / dark.contrast]) * low / high
    return bool(((ratios > 1 / ALIKE) & (ratios < ALIKE)).all())
