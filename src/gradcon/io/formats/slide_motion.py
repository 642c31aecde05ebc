"""Measure by how many pixels the image moves from frame to frame, when a camera slides past a scene.

Near and far parts of the scene move by different amounts; what is measured is the movement of the most, or most
textured, of it.  It is found by phase correlation of small copies, of frames that lie 1, 2, 4, 8 ... apart: as long as
the movement doubles with the distance, the longer one measures it more precisely.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.scene.luma import to_luma

Field = NDArray[np.float64]
SMALL = 256  # pixels of the longer side of the copies
FARTHEST = 64  # frames between two that are compared
LARGEST = 0.2  # share of the copy's side: a movement beyond it leaves too little in common
SMALLEST = 0.5  # pixels of the copies: a smaller movement does not show its direction
CLEAR = 8.0  # a peak that stands out by so many standard deviations is no coincidence
BLUR = 0.15  # cycles per pixel of the copies: finer detail is mostly noise


def image_motion(read: Callable[[int], NDArray[Any]], first: int, last: int) -> tuple[float, float] | None:
    """Return the pixels (x, y) by which the image moves per frame, from frame `first` on; None if that is not clear."""
    pixels = to_luma(read(first)).astype(np.float64)
    factor = max(1, -(-max(pixels.shape) // SMALL))
    start = _reduced(pixels, factor)
    found: NDArray[np.float64] | None = None
    apart, d = 0, 1
    while first + d <= last and d <= FARTHEST:
        shift = _shift(start, _reduced(to_luma(read(first + d)).astype(np.float64), factor))
        if shift is None or (np.abs(shift) > LARGEST * np.array(start.shape[::-1])).any():
            break
        if found is not None and np.hypot(*(shift - 2 * found)) > 1.0 + 0.5 * np.hypot(*found):
            break
        found, apart, d = shift, d, 2 * d
    if found is None or np.hypot(*found) < SMALLEST:
        return None
    x, y = factor * found / apart
    return float(x), float(y)


def _shift(a: Field, b: Field) -> Field | None:
    """Return the (x, y) by which the content of `a` has moved in `b`; None if no movement stands out."""
    window = np.outer(*(np.hanning(length) for length in a.shape))
    A, B = (np.fft.fft2((image - image.mean()) * window) for image in (a, b))
    cross = B * np.conj(A)
    fy, fx = (np.fft.fftfreq(length) for length in a.shape)
    passed = np.exp(-(fy[:, None] ** 2 + fx[None] ** 2) / (2 * BLUR**2))
    peaks = np.fft.ifft2(passed * cross / (np.abs(cross) + 1e-12)).real
    row, column = np.unravel_index(int(np.argmax(peaks)), peaks.shape)
    if not peaks[row, column] > CLEAR * peaks.std():
        return None
    place = [_vertex(peaks[:, column], int(row)), _vertex(peaks[row], int(column))]
    y, x = (at - length if at > length / 2 else at for at, length in zip(place, peaks.shape, strict=True))
    return np.array([x, y])


def _vertex(values: Field, k: int) -> float:
    """Return the place of the maximum near index k, by a parabola through its neighbours, which wrap around."""
    before, here, after = values[k - 1], values[k], values[(k + 1) % len(values)]
    bend = 2 * here - before - after
    return k + (float(after - before) / (2 * float(bend)) if bend > 0 else 0.0)


def _reduced(image: Field, factor: int) -> Field:
    """Average over blocks of factor x factor pixels."""
    height, width = (length // factor for length in image.shape)
    if min(height, width) < 1:
        return image
    blocks = image[: height * factor, : width * factor].reshape(height, factor, width, factor)
    averaged: Field = blocks.mean(axis=(1, 3))
    return averaged
