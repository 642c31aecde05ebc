"""What the model sees of the images: their luma in [0, 1] as float32, with all views in one array."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradcon.arrays import as_array, module_of, on_device, to_device
from gradcon.errors import InputError

Image = NDArray[np.float32]  # or CuPy's array of the same kind
Source = ArrayLike | Callable[[], ArrayLike]  # an image, or a function that returns it
LUMA_REC601 = (0.299, 0.587, 0.114)
CAMERA_BITS = (8, 10, 12, 14, 16)  # bit depths of cameras, which are often stored in wider types
READERS = 8  # the most images that are read at once


def to_luma(image: ArrayLike, name: str = "image") -> Image:
    """Convert an image to Rec. 601 luma, without rounding; integers are divided by the largest value of their type."""
    array = as_array(image)
    xp = module_of(array)
    if array.ndim == 3 and array.shape[2] in (1, 2):
        array = array[..., 0]
    if array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] not in (3, 4)) or array.size == 0:
        raise InputError(
            name, f"has the shape {array.shape}, which is not an image's", "give (height, width) or (height, width, 3)"
        )
    if array.dtype.kind in "ui":
        scale = 1.0 / np.iinfo(array.dtype).max
    elif array.dtype.kind in "bf":
        scale = 1.0
    else:
        raise InputError(name, f"its pixels are {array.dtype}", "use integers or real floats")
    if array.dtype.kind == "f" and not xp.isfinite(array).all():
        bad = int(xp.count_nonzero(~xp.isfinite(array)))
        raise InputError(name, f"{bad} pixel values are NaN or infinite", "repair the image before estimating")
    with np.errstate(over="ignore"):  # an overflow is refused below
        if array.ndim == 2:
            luma = array.astype(np.float32) * np.float32(scale)
        else:  # one channel at a time, because three in float32 may not fit into memory
            luma = xp.zeros(array.shape[:2], np.float32)
            for k, share in enumerate(LUMA_REC601):
                luma += np.float32(share) * (array[..., k].astype(np.float32) * np.float32(scale))
    if array.dtype.itemsize > 4 and not xp.isfinite(luma).all():
        raise InputError(name, "some pixel values are too large for float32", "scale the image to 0 .. 1")
    return xp.ascontiguousarray(luma)


def stack_luma(
    reference: Image,
    targets: Sequence[Source],
    names: Sequence[str],
    reference_name: str,
    dtype: np.dtype[Any],
    inspect: Callable[[int, Any], None],
) -> Image:
    """Read the targets one by one, and return the luma of all of them in one array.

    The colours are not kept, so that memory holds those of only a few views at a time.  `inspect` is called with the
    index and the pixels of each target while they are there.  `dtype` is the type of the reference's pixels.
    """
    xp = module_of(reference)
    stack = xp.empty((len(targets), *reference.shape), np.float32)

    def fill(k: int) -> None:
        source: Any = targets[k]
        image = as_array(source() if callable(source) else source)
        if full_scale(image.dtype) != full_scale(dtype):  # one white value must hold for all views
            raise InputError(
                names[k],
                f"its pixels are {image.dtype.name} but those of {reference_name} are {dtype.name}",
                "store all views in one type, with one bit depth",
            )
        luma = to_luma(to_device(image) if xp is not np else image, names[k])
        if luma.shape != reference.shape:
            (height, width), (h, w) = reference.shape, luma.shape
            raise InputError(
                names[k],
                f"is {w} x {h} pixels but {reference_name} is {width} x {height}",
                "give views that all have the same size",
            )
        stack[k] = luma
        del luma  # `inspect` may need the memory
        inspect(k, image)

    if xp is np and any(callable(target) for target in targets):  # then most of the time goes into reading
        with ThreadPoolExecutor(min(READERS, os.cpu_count() or 1)) as pool:
            list(pool.map(fill, range(len(targets))))
    else:
        for k in range(len(targets)):
            fill(k)
    return stack


def full_scale(dtype: np.dtype[Any]) -> int | None:
    """Return the largest value of an integer type, and None for any other type."""
    return int(np.iinfo(dtype).max) if dtype.kind in "ui" else None


def white_of(largest: float, dtype: Any) -> float:
    """Return the value that stands for white, given the brightest value; both are fractions of the type's range.

    Float images may exceed 1.  Integers of 16 bits or more often hold a camera's 10, 12 or 14 bits, so white is the
    largest value of the smallest bit depth that holds the brightest pixel.
    """
    if dtype.kind in "ui" and dtype.itemsize > 1:
        levels = [(2**bits - 1) / float(np.iinfo(dtype).max) for bits in CAMERA_BITS]
        return next((level for level in levels if largest <= level * (1 + 1e-5)), largest)
    return largest if largest > 1.0 + 1e-5 else 1.0


def brightest(reference: Image, targets: Image) -> float:
    """Return the largest luma of all views."""
    return max(float(abs(reference).max()), *(float(abs(view).max()) for view in targets))


def any_on_device(sources: Sequence[Source]) -> bool:
    """Return whether any image that was given as an array is in a GPU's memory."""
    return any(on_device(source) for source in sources if not callable(source))
