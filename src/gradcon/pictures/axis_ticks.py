"""Round values along an axis, and how they are written."""

from __future__ import annotations

import math

NICE = (1.0, 2.0, 2.5, 5.0, 10.0)  # steps from tick to tick, times a power of ten
LARGEST = 1e6  # that is written in full
MOST_DECIMALS = 6
ALIKE = 1e-6  # of their magnitude: numbers that differ by less have nothing between them


def ticks(low: float, high: float, most: int) -> list[tuple[float, str]]:
    """Return round values from low to high, at most so many, each with its text.

    >>> [text for _, text in ticks(0.2, 1.9, most=5)]
    ['0.5', '1.0', '1.5']
    """
    span, magnitude = high - low, max(abs(low), abs(high))
    if not span > ALIKE * magnitude:
        return [(low, _with_minus(f"{low:.4g}"))]
    power = 10.0 ** math.floor(math.log10(span / most))
    step = next(nice * power for nice in NICE if span / (nice * power) < most or nice == NICE[-1])
    decimals = next((d for d in range(MOST_DECIMALS + 1) if abs(round(step, d) - step) < ALIKE * step), None)
    form = ".4g" if decimals is None or magnitude >= LARGEST else f".{decimals}f"
    values = [k * step for k in range(math.ceil(low / step), math.floor(high / step) + 1)]
    return [(value, _with_minus(f"{value:{form}}")) for value in values]


def _with_minus(number: str) -> str:
    """Return a number with a minus sign in place of the shorter hyphen."""
    return number.replace("-", "\N{MINUS SIGN}")
