"""Filters of whole images for the cpu engine, needed once a run or once a stage."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import correlate1d

from gradcon.engines.filters import Filters

Field = NDArray[np.float32]


def blur(image: Field, taps: NDArray[np.float64]) -> Field:
    """Smooth the image in both directions; samples past the border repeat it."""
    return np.asarray(_filtered(_filtered(image, taps, 0), taps, 1))


def derivatives(image: Field, filters: Filters, q: int) -> Field:
    """Return the derivatives of scale q along x and y, one below the other."""
    even, odd = filters.smoothing(q), filters.derivative(q)
    along_x = _filtered(_filtered(image, even, 0), odd, 1)
    along_y = _filtered(_filtered(image, odd, 0), even, 1)
    return np.concatenate([along_x, along_y])


def _filtered(image: Field, taps: NDArray[np.float64], axis: int) -> Field:
    return np.asarray(correlate1d(image, taps, axis, mode="nearest"))
