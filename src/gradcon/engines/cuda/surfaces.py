"""Look from one view's map into other views on a GPU (`kernels/surfaces.cu`).

On the host, `methods/every_view`, `methods/look/hidden.py` and `methods/sweep/known_map.py` do the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradcon.engines.cuda.comparison import WORKSPACE
from gradcon.engines.cuda.device import DeviceArray, Gpu, current_device
from gradcon.engines.cuda.source import COMPARING
from gradcon.engines.sweep import Map
from gradcon.scene import geometry

BLOCKS = 128  # that share the pixels of `behind`

# As in kernels/surfaces.cu.
RELATION = np.dtype([("M", "f4", 9), ("m", "f4", 3), ("offset", "f4"), ("planar", "i4")])
WITNESS = np.dtype([("relation", RELATION), ("height", "i4"), ("width", "i4"), ("w", "u8"), ("deviation", "u8")])


class Place(NamedTuple):
    """The geometry (M, m) of a view relative to another one, and the offset of the calibration."""

    M: geometry.Floats
    m: geometry.Floats
    offset: float


def carried(w: Map, view: Place, device: Gpu | None = None) -> Map:
    """Return what a map shows in another view, NaN where it shows nothing."""
    device = device or current_device()
    height, width = w.shape
    front, found = device.zeros((height, width), np.uint32), device.empty((height, width))
    table = np.zeros(1, RELATION)
    _describe(table[0], view)
    sizes = [np.int32(height), np.int32(width)]
    _each(device, "carry", w.size, [device.planes(w, width), device.put(table), *sizes, front])
    _each(device, "uncover", w.size, [front, np.int64(w.size), found])
    return found


def filled(w: Map, device: Gpu | None = None) -> Map:
    """Return the map with the farthest of the nearest values to the left, right, above and below in its holes."""
    device = device or current_device()
    height, width = w.shape
    w, farthest, found = (
        device.planes(w, width),
        device.zeros((height, width), np.uint32),
        device.empty((height, width)),
    )
    lines = -(-max(height, width) // COMPARING), 4, 1
    device.launch("look_into_holes", lines, (COMPARING, 1, 1), [w, np.int32(height), np.int32(width), farthest])
    _each(device, "fill_holes", w.size, [w, farthest, np.int64(w.size), found])
    return found


def window_ends(w: Map, radius: int, device: Gpu | None = None) -> tuple[Map, Map]:
    """Return the least and the most of a map in a square window around each pixel."""
    device = device or current_device()
    height, width = w.shape
    least, most = device.empty((height, width)), device.empty((height, width))
    arguments = [device.planes(w, width), np.int32(radius), np.int32(height), np.int32(width), least, most]
    _each(device, "window_ends", w.size, arguments)
    return least, most


def evidence(
    pixels: Sequence[DeviceArray], witnesses: Sequence[tuple[Place, Map, Map]], deviations: float, most: float,
    least: float, device: Gpu | None = None,
) -> list[DeviceArray]:  # fmt: skip
    """Count the witnesses that confirm, contradict and cannot see pixels, and take the mean with those that confirm.

    `pixels` are x, y, disparity and deviation, arrays of one shape; `witnesses` the places, maps and deviations of
    other views.
    """
    device = device or current_device()
    shape, table, kept = pixels[0].shape, np.zeros(max(len(witnesses), 1), WITNESS), []
    for row, (place, w, deviation) in zip(table, witnesses, strict=False):
        _describe(row["relation"], place)
        row["height"], row["width"] = w.shape
        maps = [device.planes(part, w.shape[1]) for part in (w, deviation)]
        row["w"], row["deviation"] = (device.address(part) for part in maps)
        kept.append(maps)  # until the kernel has been launched
    found = [device.empty(shape) for _ in range(4)]
    limits = [np.float32(limit) for limit in (deviations, most, least)]
    count, size = np.int32(len(witnesses)), int(np.prod(shape))
    _each(device, "evidence", size, [*pixels, np.int64(size), device.put(table), count, *limits, *found])
    return found


def behind(
    w: Map, reference: DeviceArray, targets: DeviceArray, baselines: NDArray[np.float64], every: int, step: float,
    device: Gpu | None = None,
) -> NDArray[np.float64]:  # fmt: skip
    """Return the sum and the number of the differences behind nearer surfaces, and behind farther ones, (2, 2)."""
    device = device or current_device()
    height, width = w.shape
    sizes, there = [np.int32(height), np.int32(width)], device.put(np.ascontiguousarray(baselines, np.float64))
    w = device.planes(w, width)
    ends = [device.zeros((len(baselines), height, width), np.uint32) for _ in range(2)]
    grid = -(-w.size // COMPARING), len(baselines), 1
    device.launch("fronts", grid, (COMPARING, 1, 1), [w, there, *sizes, *ends])
    found = device.empty((BLOCKS, 4), np.float64)
    images = [device.planes(reference, width), device.planes(targets, width)]
    views = [np.int32(len(baselines)), *sizes, np.int32(every), np.float64(step)]
    device.launch("behind", (BLOCKS, 1, 1), (COMPARING, 1, 1), [w, *images, there, *ends, *views, found], WORKSPACE)
    return device.get(found).sum(axis=0).reshape(2, 2)


def _describe(row: Any, place: Place) -> None:
    row["M"], row["m"], row["offset"] = place.M.ravel(), place.m, place.offset
    row["planar"] = geometry.is_planar(place.M, place.m)


def _each(device: Gpu, kernel: str, pixels: int, arguments: list[Any]) -> None:
    """Launch a thread for each pixel."""
    if pixels:
        device.launch(kernel, (-(-pixels // COMPARING), 1, 1), (COMPARING, 1, 1), arguments)
