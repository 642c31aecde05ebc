"""Memory for rows of float32 that vector instructions read and write."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

LINE = 16  # numbers in a cache line


def aligned(shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Return a new array that begins on a cache line."""
    memory = np.empty(math.prod(shape) + LINE - 1, np.float32)
    first = -(memory.ctypes.data // memory.itemsize) % LINE
    return memory[first : first + math.prod(shape)].reshape(shape)


def aligned_copy(array: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return a copy that begins on a cache line."""
    copy = aligned(array.shape)
    copy[:] = array
    return copy
