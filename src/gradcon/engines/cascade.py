"""The filters of all scales, as a cascade: each scale is filtered from the next finer one.

Scale 0 is filtered by the Gaussian of sigma_0 itself, which has three pairs of mirrored taps.  Scale q is filtered from
scale q - 1 by three pairs again, 2^(q-1) pixels apart, so that every scale costs the same.  The taps are those whose
cascade comes nearest to the Gaussian of sigma_q, or to its derivative; `docs/model.md` says how near that is.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from gradcon.engines import model

PAIRS = 3  # of mirrored taps, on every scale

Taps = NDArray[np.float64]


def spacing(q: int) -> int:
    """Return how many pixels apart the taps are that make scale q."""
    return 2 ** (q - 1) if q > 0 else 1


def radius(q: int) -> int:
    """Return how far the whole filter of scale q reaches."""
    return PAIRS * sum(spacing(level) for level in range(q + 1))


@cache
def even_taps(q: int, composed: bool = False) -> Taps:
    """Return the taps at 0, 1, ... PAIRS spacings that smooth scale q - 1 to q; with their mirrors they sum to 1.

    `composed` as in `model.width`, here and below.
    """
    if q == 0:
        return model.gaussian(model.sigma(0))[PAIRS:]
    return _nearest(model.gaussian(model.width(q, composed)), smoothing(q - 1, composed), spacing(q), mirror=1)


@cache
def odd_taps(q: int, composed: bool = False) -> Taps:
    """Return the taps that derive scale q from scale q - 1, as `even_taps`; a ramp gives its slope."""
    if q == 0:
        return model.gaussian_derivative(model.sigma(0))[PAIRS:]
    wanted = model.gaussian_derivative(model.width(q, composed))
    return _nearest(wanted, smoothing(q - 1, composed), spacing(q), mirror=-1)


@cache
def smoothing(q: int, composed: bool = False) -> Taps:
    """Return the whole filter that smooths an image to scale q, from -radius to radius."""
    return _joined(q, even_taps(q, composed), mirror=1, composed=composed)


@cache
def derivative(q: int, composed: bool = False) -> Taps:
    """Return the whole filter that derives an image at scale q, in correlation order: a rising ramp is positive."""
    return _joined(q, odd_taps(q, composed), mirror=-1, composed=composed)


def _joined(q: int, taps: Taps, mirror: int, composed: bool) -> Taps:
    """Return one step of the cascade after all steps before it."""
    step = np.zeros(2 * PAIRS * spacing(q) + 1)
    step[:: spacing(q)] = np.concatenate([mirror * taps[:0:-1], taps])
    return step if q == 0 else np.convolve(smoothing(q - 1, composed), step)


def _nearest(wanted: Taps, before: Taps, apart: int, mirror: int) -> Taps:
    """Return the one-sided taps, `apart` pixels from each other, that make the filter `wanted` of `before`.

    They have the least squared error among those that leave a constant (even taps) or the slope of a ramp (odd taps) as
    it is.
    """
    reach = len(before) // 2 + PAIRS * apart
    offsets = np.arange(-reach, reach + 1)
    columns = np.zeros((PAIRS + 1, len(offsets)))
    for k in range(PAIRS + 1):
        for offset, sign in ((k * apart, 0.5), (-k * apart, 0.5 * mirror)):
            columns[k] += (
                sign
                * (1 + (k > 0))
                * np.interp(offsets, offset + offsets[PAIRS * apart : -PAIRS * apart], before, 0, 0)
            )
    target = np.pad(wanted, reach - len(wanted) // 2)
    kept = offsets ** (0 if mirror > 0 else 1)  # its sum over a filter is 1
    exactly = 1e6  # how much more that sum counts than the error
    equations = np.vstack([columns.T, exactly * (columns @ kept)])
    return np.asarray(np.linalg.lstsq(equations, np.append(target, exactly), rcond=None)[0])
