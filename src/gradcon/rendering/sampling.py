"""Images and maps between their pixels.  Arrays are NumPy's or CuPy's."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcon.arrays import module_of
from gradcon.engines import model


def sample(image: Any, u: Any, v: Any) -> Any:
    """Interpolate an image (C, height, width) at positions by cubic convolution, as float32; the border repeats."""
    xp = module_of(u)
    height, width = image.shape[-2:]
    u, v = xp.clip(u, -1, width), xp.clip(v, -1, height)  # farther positions show the border too
    i, j = xp.floor(v), xp.floor(u)
    taps_v, taps_u = model.cubic((v - i).astype(np.float32)), model.cubic((u - j).astype(np.float32))
    i, j = i.astype(np.int32), j.astype(np.int32)
    columns = [xp.clip(j + b - 1, 0, width - 1) for b in range(4)]
    flat = image.reshape(len(image), -1)
    total = xp.zeros((len(image), *u.shape), np.float32)
    for a in range(4):
        row = xp.clip(i + a - 1, 0, height - 1) * width
        for b in range(4):
            total += taps_v[a] * taps_u[b] * flat[:, row + columns[b]]
    return total


def nearest(field: Any, u: Any, v: Any) -> Any:
    """Return the values of the pixels of a map (height, width) that positions fall into; the border repeats."""
    xp = module_of(u)
    height, width = field.shape
    i = xp.clip(xp.rint(v), 0, height - 1).astype(np.int32)
    j = xp.clip(xp.rint(u), 0, width - 1).astype(np.int32)
    return field[i, j]


def inside(u: Any, v: Any, shape: tuple[int, int]) -> Any:
    """Return which positions lie on the pixels of a view; half a pixel of its border counts, NaN does not."""
    return (u >= -0.5) & (u <= shape[1] - 0.5) & (v >= -0.5) & (v <= shape[0] - 0.5)
