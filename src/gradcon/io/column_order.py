"""Which way the columns of a light field are counted: the images know.

Between neighbours of a row, a small disparity d changes the image by d dI/dx if columns run to the right, and by
-d dI/dx if they run to the left.  So the horizontal views give d up to its sign, pixel by pixel; the vertical views,
whose direction is not in doubt, and the truth give it with its sign.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.scene.luma import to_luma

Field = NDArray[np.float64]
SMOOTH, AROUND = 1.0, 4.0  # pixels: of the images, and of the neighbourhood that shares a disparity
SMALLEST = 32  # pixels a side, of images that can tell
CLEAR = 0.25  # correlation that decides


def columns_run_right(
    read: Callable[[tuple[int, int]], NDArray[Any]], counts: tuple[int, int], truth: NDArray[Any] | None = None
) -> bool | None:
    """Whether the camera moves to the right as columns grow; None where the images do not tell.

    `read` gives the view of a (row, column), of which there are `counts`; `truth` is the disparity of the middle view.
    Rows grow downwards.
    """
    rows, columns = counts
    v, u = rows // 2, columns // 2
    if columns < 2 or (truth is None and rows < 2):
        return None

    def smooth(v: int, u: int) -> Field:
        return _blur(to_luma(read((v, u))).astype(np.float64), SMOOTH)

    middle = smooth(v, u)
    if min(middle.shape) < SMALLEST:
        return None
    left, right = max(u - 1, 0), min(u + 1, columns - 1)
    across, texture = _disparity((smooth(v, right) - smooth(v, left)) / (right - left), middle, axis=1)
    found = []
    if rows >= 2:
        above, below = max(v - 1, 0), min(v + 1, rows - 1)
        down, more = _disparity((smooth(below, u) - smooth(above, u)) / (below - above), middle, axis=0)
        found.append(_correlation(across, down, np.minimum(texture, more)))
    if truth is not None:
        known = np.where(np.isfinite(truth), truth, 0).astype(np.float64)
        found.append(_correlation(across, known, texture))
    clearest = max(found, key=abs)
    return clearest > 0 if abs(clearest) > CLEAR else None


def _correlation(a: Field, b: Field, texture: Field) -> float:
    weight = texture / (texture + np.median(texture) + 1e-12)
    norm = np.sqrt((weight * a**2).sum() * (weight * b**2).sum())
    return float((weight * a * b).sum() / norm) if norm > 0 else 0.0


def _disparity(difference: Field, image: Field, axis: int) -> tuple[Field, Field]:
    """Disparity by least squares around each pixel, from the difference a step makes, and the texture it rests on."""
    g = np.gradient(image, axis=axis)
    texture = _blur(g * g, AROUND)
    return _blur(g * difference, AROUND) / (texture + 1e-9), texture


def _blur(image: Field, s: float) -> Field:
    from scipy import ndimage

    blurred: Field = ndimage.gaussian_filter(image, s)
    return blurred
