"""Compare the views of a small copy on a GPU, at a sample of its pixels (`kernels/samples.cu` and `kernels/fits.cu`).

`methods/look` does the same on the host, operation by operation.  On a GPU, each of these operations would take longer
to start than to run.  So one kernel does all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradcon.engines.cuda.device import DeviceArray, Gpu, current_device
from gradcon.engines.cuda.source import COMPARING
from gradcon.engines.sweep import Map, Views

WORKSPACE = 8 * COMPARING + 4 * COMPARING + 8  # bytes, as in kernels/samples.h

Numbers = NDArray[np.float64]


class Sample(NamedTuple):
    """Pixels of the reference, and what the targets show of them."""

    reference: DeviceArray  # (C, N)
    targets: DeviceArray  # (T, C, N)
    seen: DeviceArray  # (T, N)


class Motions(NamedTuple):
    """How each target must be moved to agree with the reference."""

    moves: Numbers  # (T, 4): a shift along x and y, a turn and a zoom
    before: Numbers  # (T,): the difference without these, summed over the pixels that fit best
    after: Numbers  # with them
    seen: Numbers  # the number of pixels that the target sees


def matched(views: Views, w: Map, every: int, device: Gpu | None = None) -> Sample:
    """Look up one of `every` pixels of the reference along each axis, of disparity w, in all targets."""
    device = device or current_device()
    count, channels, height, width = views.colours.shape
    rows, columns = (len(range(every // 2, n, every)) for n in (height, width))
    N = rows * columns
    found = Sample(
        device.empty((channels, N)), device.empty((count - 1, channels, N)), device.empty((count - 1, N), np.bool_)
    )
    known = np.uint64(0) if views.known is None else device.put(np.asarray(views.known))
    epipoles = device.put(np.ascontiguousarray(views.epipoles, np.float64))
    colours, scale = device.put(views.colours), np.float32(views.scale)
    looked_up = [colours, np.int32(channels), scale, device.planes(w, width), known, epipoles]
    _each(device, f"match_{colours.dtype}", (N, count - 1), [*looked_up, *_sizes(views.shape, every), *found])
    return found


def fit_gains(
    sample: Sample, fits: int, kept: float, flattest: float, largest: float, device: Gpu | None = None
) -> Numbers:
    """Return for each target the gain and offset of each channel, what remains, the pixels seen, and the contrast."""
    device = device or current_device()
    count, channels, N = sample.targets.shape
    found = device.empty((count, 2 * channels + 3), np.float64)
    rule = [np.int32(fits), np.float64(kept), np.float64(flattest), np.float64(largest)]
    arguments = [*sample, np.int32(channels), np.int32(N), *rule, device.empty((count, N)), found]
    _blocks(device, "fit_gains", count, arguments)
    return device.get(found)


def fit_motion(
    sample: Sample, views: Views, every: int, gains: Sequence[Numbers], fits: int, kept: float, ridge: float,
    length: float, device: Gpu | None = None,
) -> Motions:  # fmt: skip
    """Return how the targets must be moved; turns and zooms are in units that move a pixel at `length` by 1."""
    device = device or current_device()
    count, channels, N = sample.targets.shape
    sizes, slopes = _sizes(views.shape, every), device.empty((2, channels, N))
    colours = device.put(views.colours[0])
    _each(
        device,
        f"slopes_{colours.dtype}",
        (N, channels),
        [colours, np.int32(channels), np.float32(views.scale), *sizes, slopes],
    )
    brightness = [device.put(np.ascontiguousarray(part, np.float64)) for part in gains]
    found = device.empty((count, 7), np.float64)
    rule = [np.int32(fits), np.float64(kept), np.float64(ridge), np.float64(length)]
    arguments = [*sample, slopes, *brightness, np.int32(channels), *sizes, *rule, device.empty((count, N)), found]
    _blocks(device, "fit_motion", count, arguments)
    numbers = device.get(found)
    return Motions(numbers[:, :4], *numbers[:, 4:].T)


def edge_factors(
    views: Views, noise: Map, jump: float, edge: float, least: float, device: Gpu | None = None
) -> DeviceArray:
    """Return what remains of a penalty between neighbours, as `SweepEngine.aggregate` wants it."""
    device = device or current_device()
    (height, width), colours = views.shape, device.put(views.colours[0])
    found = device.empty((4, height, width))
    told = [np.float32(number) for number in (jump, edge, least)]
    sizes = np.int32(len(colours)), np.float32(views.scale), device.planes(noise, width)
    arguments = [colours, *sizes, *told, np.int32(height), np.int32(width), found]
    _each(device, f"factors_{colours.dtype}", (height * width, 1), arguments)
    return found


def _sizes(shape: tuple[int, int], every: int) -> list[np.int32]:
    """Return the sample as kernels take it: height, width, every, columns, pixels."""
    rows, columns = (len(range(every // 2, n, every)) for n in shape)
    return [np.int32(n) for n in (*shape, every, columns, rows * columns)]


def _each(device: Gpu, kernel: str, pixels: tuple[int, int], arguments: list[Any]) -> None:
    """Launch a thread for each pixel of the sample in each of some planes."""
    if min(pixels):
        device.launch(kernel, (-(-pixels[0] // COMPARING), pixels[1], 1), (COMPARING, 1, 1), arguments)


def _blocks(device: Gpu, kernel: str, count: int, arguments: list[Any]) -> None:
    """Launch a block for each target."""
    device.launch(kernel, (count, 1, 1), (COMPARING, 1, 1), arguments, WORKSPACE)
