"""Checks of the numbers that users and files give: what counts as one, and how large it may be.

Engines work in float32, whose squares and quotients must stay finite.  So every number has a range, which is far wider
than any sensible value.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.errors import InputError

SMALLEST, LARGEST = 1e-12, 1e12  # magnitudes of settings, baselines, disparities, cameras and pixels
WORST_CONDITION = 1e12  # of a matrix that is inverted: beyond that, float64 has hardly a digit left


def finite_number(value: Any) -> float | None:
    """Convert an int or a float, also NumPy's, to a finite float; return None for anything else, including a bool."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
        return None
    try:
        number = float(value)
    except OverflowError:  # an integer of hundreds of digits
        return None
    return number if math.isfinite(number) else None


def whole_number(value: Any) -> int | None:
    """Convert an int, also NumPy's, to an int; return None for anything else, including a bool."""
    return int(value) if isinstance(value, (int, np.integer)) and not isinstance(value, bool) else None


def checked_positive(field: str, value: Any, smallest: float = SMALLEST, largest: float = LARGEST) -> float:
    """Return a positive number as a float; refuse anything else, and what is too small or too large to compute with."""
    number = finite_number(value)
    if number is None or number <= 0:
        raise InputError(field, f"{shortly(value)} is not a positive number")
    if not smallest <= number <= largest:
        size = "small" if number < smallest else "large"
        problem = f"{number:g} is too {size} to compute with"
        raise InputError(field, problem, f"give a number from {smallest:g} to {largest:g}")
    return number


def checked_whole(field: str, value: Any, most: int) -> int:
    """Return a whole number from 1 to `most`; refuse anything else."""
    number = whole_number(value)
    if number is None or not 1 <= number <= most:
        raise InputError(field, f"{shortly(value)} is not a whole number from 1 to {most}")
    return number


def checked_numbers(where: str, what: str, value: Any, remedy: str = "give finite numbers") -> NDArray[np.float64]:
    """Return an array of float64; refuse texts, objects, complex numbers and rows of different lengths."""
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "uif":
            raise TypeError
        with np.errstate(invalid="ignore"):  # a NaN that signals becomes one that does not
            return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(where, f"{what} are not an array of real numbers", remedy) from None


def in_measure(values: NDArray[np.float64]) -> bool:
    """Return whether all numbers are finite, and none is too large to compute with."""
    return bool((np.abs(values) <= LARGEST).all())


def is_invertible(matrix: NDArray[np.float64]) -> bool:
    """Return whether the inverse of a matrix of numbers in measure is in measure too, and has correct digits."""
    largest, *_, smallest = np.linalg.svd(matrix, compute_uv=False)
    return bool(smallest >= max(SMALLEST, largest / WORST_CONDITION))


def shortly(value: Any) -> str:
    """Return what a value looks like, for a message; Python refuses to print very long integers."""
    try:
        text = repr(value)
    except Exception:  # whatever the value's own type raises
        return f"this {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:57]}..."
