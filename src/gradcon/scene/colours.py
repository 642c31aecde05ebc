"""Images as 8-bit colours, for pictures and point clouds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.scene.luma import Planes, white_of

LONGEST_SIDE = 512  # of a small copy, in pixels

Colours = NDArray[np.uint8]  # (height, width, 3)


def to_rgb(image: NDArray[Any]) -> Colours:
    """Convert an image of any supported type to 8-bit RGB: grey becomes three equal channels, alpha is dropped."""
    array = image[..., None] if image.ndim == 2 else image
    array = array[..., :3] if array.shape[2] >= 3 else np.repeat(array[..., :1], 3, axis=2)
    if array.dtype == np.uint8:
        return array
    full = float(np.iinfo(array.dtype).max) if array.dtype.kind in "ui" else 1.0
    return _to_bytes(array, full * white_of(float(array.max()) / full, array.dtype))


def rgb_of_planes(planes: Planes, scale: float) -> Colours:
    """Convert a view of a scene, (channel, height, width) in the host's memory, to 8-bit RGB; `scale` makes white 1."""
    array = np.moveaxis(np.broadcast_to(planes, (3, *planes.shape[1:])), 0, -1)
    if array.dtype == np.uint8 and scale == 1 / 255:
        return np.ascontiguousarray(array)
    return _to_bytes(array, 1 / scale)


def small_planes(planes: Planes, scale: float, longest: int = LONGEST_SIDE) -> NDArray[np.uint8]:
    """Return a view of a scene in 8 bits, (channel, height, width), with at most `longest` pixels a side."""
    from PIL import Image

    if planes.dtype != np.uint8 or scale != 1 / 255:
        planes = np.stack([_to_bytes(plane, 1 / scale) for plane in planes])
    height, width = planes.shape[1:]
    size = _small_size(width, height, longest)
    if size == (width, height):
        return planes
    return np.stack([np.asarray(Image.fromarray(plane).resize(size, Image.Resampling.BOX)) for plane in planes])


def _to_bytes(array: NDArray[Any], white: float) -> Colours:
    colours = np.empty(array.shape, np.uint8)
    for row, values in zip(colours, array, strict=True):  # row by row, or the float64 copies would need much memory
        row[...] = np.rint(255 * np.clip(values.astype(np.float64) / white, 0, 1))
    return colours


def small_copy(image: NDArray[Any], longest: int = LONGEST_SIDE) -> Colours:
    """Return a copy in 8-bit RGB that is shrunk, if need be, to at most `longest` pixels a side."""
    from PIL import Image

    colours = to_rgb(image)
    height, width = colours.shape[:2]
    size = _small_size(width, height, longest)
    if size == (width, height):
        return colours.copy()  # not a view, which would keep all of a larger array in memory
    return np.asarray(Image.fromarray(colours).resize(size, Image.Resampling.BOX))


def _small_size(width: int, height: int, longest: int) -> tuple[int, int]:
    shrink = min(1.0, longest / max(height, width))
    return max(1, round(shrink * width)), max(1, round(shrink * height))
