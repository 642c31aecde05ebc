"""From images to colour planes, and from colours to luma in [0, 1] as float32, which most methods see."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradcon.arrays import as_array, module_of
from gradcon.errors import InputError
from gradcon.scene.numbers import LARGEST

Image = NDArray[np.float32]  # or CuPy's array of the same kind
Planes = NDArray[Any]  # (..., channel, height, width) of uint8, uint16 or float32, with one channel or three
LUMA_REC601 = (0.299, 0.587, 0.114)
CAMERA_BITS = (8, 10, 12, 14, 16)  # bit depths of cameras, which are often stored in wider types
# That are converted to luma: few calls for small views, little memory for large ones.
PIXELS_AT_ONCE, PIXELS_AT_ONCE_ON_A_GPU = 1 << 20, 1 << 24


def to_planes(image: ArrayLike, name: str = "image") -> Planes:
    """Return the colours of an image as (channel, height, width), with one channel or three; alpha is dropped.

    Unsigned integers of 8 and 16 bits stay as they are, without a copy.  Other integers are divided by the largest
    value of their type, and all that is not such an integer becomes float32.
    """
    array = as_array(image, name)
    xp = module_of(array)
    if array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] not in (1, 2, 3, 4)) or array.size == 0:
        raise InputError(
            name, f"has the shape {array.shape}, which is not an image's", "give (height, width) or (height, width, 3)"
        )
    if array.dtype.kind not in "uibf":
        raise InputError(name, f"its pixels are {array.dtype}", "use integers or real floats")
    if array.ndim == 3 and array.shape[2] == 2:
        array = array[..., :1]
    if array.dtype.kind == "f":
        _refuse_odd_values(array, name)
    planes = array[None] if array.ndim == 2 else xp.moveaxis(array[..., :3], -1, 0)
    if array.dtype.kind == "u" and array.dtype.itemsize <= 2:
        return planes.astype(array.dtype.newbyteorder("="), copy=False)
    planes = planes.astype(np.float32, copy=False)
    if array.dtype.kind in "ui":
        planes *= _step(array.dtype)
    return planes


def _refuse_odd_values(array: Any, name: str) -> None:
    """Refuse floats that are not finite, or so large that their squares are not."""
    xp = module_of(array)
    if not xp.isfinite(array).all():
        bad = int(xp.count_nonzero(~xp.isfinite(array)))
        raise InputError(name, f"{bad} pixel values are NaN or infinite", "repair the image before estimating")
    if (largest := max(float(array.max()), -float(array.min()))) > LARGEST:
        problem = f"its pixel values of up to {largest:g} are too large"
        if largest > float(np.finfo(np.float32).max):
            problem += " for float32"
        raise InputError(name, problem, "scale the image to 0 .. 1")


def to_luma(image: ArrayLike, name: str = "image") -> Image:
    """Convert an image to Rec. 601 luma, without rounding; integers are divided by the largest value of their type."""
    return luma_of(to_planes(image, name))


def luma_of(planes: Planes) -> Image:
    """Return the luma of colour planes, as fractions of their type's range."""
    xp, scale = module_of(planes), _step(planes.dtype)
    if planes.shape[-3] == 1:
        return xp.ascontiguousarray(planes[..., 0, :, :].astype(np.float32) * scale)
    luma = xp.zeros((*planes.shape[:-3], *planes.shape[-2:]), np.float32)
    for k, share in enumerate(LUMA_REC601):  # one channel at a time, because three in float32 may not fit into memory
        luma += np.float32(share) * (planes[..., k, :, :].astype(np.float32) * scale)
    return luma


def luma_of_views(colours: Planes, grey: NDArray[np.bool_], white: float) -> Image:
    """Return the luma of all views, divided by white; `grey` marks views whose channels repeat one grey image."""
    count, channels, *shape = colours.shape
    xp = module_of(colours)
    luma = xp.empty((count, *shape), np.float32)
    views = max(1, (PIXELS_AT_ONCE if xp is np else PIXELS_AT_ONCE_ON_A_GPU) // (shape[0] * shape[1]))
    for first in range(0, count, views):
        luma[first : first + views] = luma_of(colours[first : first + views])
    for k in np.flatnonzero(grey) if channels > 1 else []:  # the weights of the channels would add a rounding error
        luma[k] = luma_of(colours[k, :1])
    if white != 1.0:  # so that the model's constants keep their meaning
        luma /= np.float32(white)
    return luma


def full_scale(dtype: np.dtype[Any]) -> int | None:
    """Return the largest value of an integer type, and None for any other type."""
    return int(np.iinfo(dtype).max) if dtype.kind in "ui" else None


def _step(dtype: np.dtype[Any]) -> np.float32:
    """Return the fraction of a type's range that the value 1 stands for."""
    return np.float32(1.0 / (full_scale(dtype) or 1))


def white_of(largest: float, dtype: Any) -> float:
    """Return the value that stands for white, given the brightest value; both are fractions of the type's range.

    Float images may exceed 1.  Integers of 16 bits or more often hold a camera's 10, 12 or 14 bits, so white is the
    largest value of the smallest bit depth that holds the brightest pixel.
    """
    if dtype.kind in "ui" and dtype.itemsize > 1:
        levels = [(2**bits - 1) / float(np.iinfo(dtype).max) for bits in CAMERA_BITS]
        return next((level for level in levels if largest <= level * (1 + 1e-5)), largest)
    return largest if largest > 1.0 + 1e-5 else 1.0
