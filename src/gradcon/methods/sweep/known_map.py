"""Whether a map that is known already, such as that of the video frame before, is near enough to start from.

A search of everything on a small copy tells.  Where it is sure of a disparity that the bands around the known map do
not reach, the map is wrong: something new has come into the picture.  If that is so almost everywhere, the whole
picture is new.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gradcon.arrays import module_of, on_device
from gradcon.engines.sweep import Map
from gradcon.methods.sweep.labels import SURE
from gradcon.methods.sweep.passes import Swept, enlarged

NEW = 0.1  # the share of the sure pixels that makes a new picture, if the map is wrong there


def mended(known: Map, small: Swept, k: int, reach: float) -> Map | None:
    """Return the known map with what is new taken from the small copy; None if it does not fit the picture.

    One pixel of the small copy stands for k x k.  A disparity is within `reach` if any pixel nearby has one so similar,
    because edges move from frame to frame and the small copy does not know where exactly they are.
    """
    xp = module_of(known)
    rows, columns = small.w.shape
    blocks = known[: rows * k, : columns * k].reshape(rows, k, columns, k)
    low, high = _ends_nearby(blocks.min(axis=(1, 3)), 1)[0], _ends_nearby(blocks.max(axis=(1, 3)), 1)[1]
    sure = small.lead > SURE
    new = sure & ((small.w < low - reach) | (small.w > high + reach))
    if float(new.sum()) > NEW * max(float(sure.sum()), 1.0):
        return None
    return xp.where(enlarged(new, known.shape), enlarged(small.w, known.shape), known).astype(np.float32)


def moved_edges(known: Map, radius: int) -> list[Map]:
    """Return what the map would be if its edges had moved by some pixels: the least nearby, itself, and the most."""
    least, most = _ends_nearby(known, radius)
    return [least, known, most]


def _ends_nearby(values: Map, radius: int) -> tuple[Map, Map]:
    """Return the least and the most in a square window around each pixel."""
    if on_device(values):
        from gradcon.engines.cuda import surfaces

        return surfaces.window_ends(values, radius)
    return _least_nearby(values, radius), -_least_nearby(-values, radius)


def _least_nearby(values: NDArray[np.float32], radius: int) -> NDArray[np.float32]:
    for axis in (0, 1):
        ends, reached = np.arange(values.shape[axis]), 0
        while reached < radius:
            step = min(2 * reached + 1, radius - reached)
            before, after = (np.clip(ends + d, 0, len(ends) - 1) for d in (-step, step))
            values = np.minimum(values, np.minimum(values.take(before, axis=axis), values.take(after, axis=axis)))
            reached += step
    return values
