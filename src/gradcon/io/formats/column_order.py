"""Find from the images whether the columns of a light field run to the right or to the left.

Between neighbours in a row, a small disparity d changes the image by d dI/dx if columns run to the right, and by
-d dI/dx if they run to the left.  So the horizontal views give each pixel's d up to its sign.  The vertical views,
whose direction is not in doubt, and the ground truth give it with its sign.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.scene.luma import to_luma

Field = NDArray[np.float64]
SMOOTH, AROUND = 1.0, 4.0  # blur in pixels: of the images, and of the neighbourhood that shares a disparity
SMALLEST = 32  # pixels per side; smaller images are not conclusive
CLEAR = 0.25  # the correlation that is conclusive


def columns_run_right(
    read: Callable[[tuple[int, int]], NDArray[Any]], counts: tuple[int, int], truth: NDArray[Any] | None = None
) -> bool | None:
    """Return whether the camera moves to the right as columns grow; None if the images are not conclusive.

    `read` returns the view at a (row, column), `counts` is the number of rows and columns, and `truth` is the disparity
    of the middle view.  Rows run down.
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
    """Fit each pixel's disparity to the difference between adjacent views; also return the texture it rests on."""
    g = np.gradient(image, axis=axis)
    texture = _blur(g * g, AROUND)
    return _blur(g * difference, AROUND) / (texture + 1e-9), texture


def _blur(image: Field, s: float) -> Field:
    from scipy import ndimage

    blurred: Field = ndimage.gaussian_filter(image, s)
    return blurred
