"""Arrays in the host's memory and in a GPU's: NumPy, CuPy, and whatever can be seen as one of them without a copy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.errors import InputError
from gradcon.extras import install_extra

DLPACK_CUDA = (2, 13)  # DLPack's numbers for CUDA and CUDA managed memory


def on_device(array: Any) -> bool:
    """Return whether the values of an array are in a GPU's memory."""
    if isinstance(array, np.ndarray):
        return False
    if hasattr(array, "__cuda_array_interface__"):
        return True
    return hasattr(array, "__dlpack_device__") and array.__dlpack_device__()[0] in DLPACK_CUDA


def to_device(array: Any) -> Any:
    """Convert to a CuPy array, without a copy if the values are already in the GPU's memory."""
    try:
        import cupy
    except ImportError:
        raise InputError("array", "is on a GPU, but CuPy is not installed", install_extra("cuda")) from None
    if isinstance(array, cupy.ndarray):
        return array
    if on_device(array) and not hasattr(array, "__cuda_array_interface__"):
        return cupy.from_dlpack(array)
    return cupy.asarray(array)


def to_host(array: Any) -> NDArray[Any]:
    """Convert to a NumPy array, without a copy if the values are already in the host's memory."""
    return np.asarray(to_device(array).get() if on_device(array) else array)


def beside(array: Any, other: Any) -> Any:
    """Return the array in the memory that holds the other one, without a copy if it is there already."""
    return to_device(array) if on_device(other) else to_host(array)


def as_array(array: Any, name: str = "array") -> Any:
    """Convert to a NumPy or a CuPy array, depending on where the values are; `name` names it in errors."""
    if on_device(array):
        return to_device(array)
    try:
        return np.asarray(array)
    except (TypeError, ValueError, OverflowError):
        problem = f"this {type(array).__name__} is not an array of numbers"
        raise InputError(name, problem, "give rows of equal length") from None


def module_of(array: Any) -> Any:
    """Return the module whose functions take the array: numpy or cupy."""
    if not on_device(array):
        return np
    import cupy

    return cupy


def filters_of(array: Any) -> Any:
    """Return the module whose filters take the array: scipy.ndimage or its twin in CuPy."""
    if not on_device(array):
        from scipy import ndimage
    else:
        from cupyx.scipy import ndimage
    return ndimage


def quantile(values: Any, share: float) -> Any:
    """Return the value below which a share of the values lies, between the two nearest ones, in the values' memory.

    On a GPU, CuPy's own function takes ten times as long as this on some thousand values.
    """
    xp = module_of(values)
    if xp is np:
        return np.quantile(values, share)
    ordered, place = xp.sort(values.ravel()), share * (values.size - 1)
    below = int(place)
    above = min(below + 1, values.size - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * np.float32(place - below)


def sampled(shape: tuple[int, int], step: int) -> tuple[int, int]:
    """Return the numbers of rows and columns that remain if every `step` x `step` block keeps its middle pixel."""
    return len(range(step // 2, shape[0], step)), len(range(step // 2, shape[1], step))
