"""The plane sweep on a GPU: the operations of the contract in CUDA kernels (`kernels/sweep_*`)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gradcon.engines import sweep as contract
from gradcon.engines.cuda.device import DeviceArray, Gpu, current_device
from gradcon.engines.cuda.gpus import note_of
from gradcon.engines.cuda.source import PIXELS
from gradcon.engines.sweep import ArmCosts, Best, Map, SweepEngine, Views, Volume, blur_kernel, view_weights

# As in kernels/sweep_costs.cu.
TILE_X, TILE_Y, THREADS, CHUNK = 32, 16, 256, 16
SIGHT_BYTES, BOUNDS_BYTES = 80, 128

LANES = 32
MOST_LABELS = 8 * LANES  # of `aggregate`: eight in each lane of a warp
MOST_PENALTY = 500_000  # so that eight sums of a cost and a penalty, and a label, fit in 31 bits
ROW_THREADS, PATH_THREADS = 128, 128
BLOCK = (32, 8)


class CudaSweep(SweepEngine):
    """The equations of `ReferenceSweep` in float32 on a GPU."""

    name = "cuda"
    device: Gpu

    def __init__(self, views: Views, device: Gpu | None = None) -> None:
        self.device = device or current_device()
        self.note = note_of(self.device.name)
        count, self.channels, *shape = views.colours.shape
        self.height, self.width = shape
        self.sizes = np.int32(self.height), np.int32(self.width)
        self.pixel = str(views.colours.dtype), self.channels
        if self.pixel not in PIXELS:
            raise ValueError(f"the cuda engine has no pixels of {self.channels} channels of {self.pixel[0]}")
        self.views = views._replace(colours=self._put(views.colours))
        self.colours = self._pack(self.views.colours, count)
        self.epipoles = self.device.put(np.ascontiguousarray(views.epipoles, np.float64))
        self.arms = self.device.put(np.ascontiguousarray(views.arms, np.int32))
        self.unweighted = self.device.put(np.ones(len(views.epipoles), np.float32))

    def for_views(self, views: Views) -> CudaSweep:
        return CudaSweep(views, self.device)

    def upload(self, w: ArrayLike) -> Map:
        return self._map(w)

    def difference(self, first: int, labels: int, step: float, every: int) -> Map:
        rows = -(-self.height // every)
        found = self.device.empty((rows, self.width))
        labelling = np.int32(first), np.int32(labels), np.int32(every)
        arguments = [self.colours, *self._targets(self.unweighted, step), *labelling, found]
        self._launch("difference", (-(-self.width // ROW_THREADS), rows), (ROW_THREADS, 1), arguments, self._sights)
        return found

    def costs(self, start: Map, labels: int, step: float, noise: Map, arms: ArmCosts, unit: float) -> Volume:
        taps = blur_kernel(arms.blur).astype(np.float32)
        weights = view_weights(self.views, arms.near).astype(np.float32)
        radius, count = len(taps) // 2, len(self.views.arms) - 1
        rows = TILE_Y + 2 * radius
        shared = BOUNDS_BYTES + self._sights + 4 * count * rows * (2 * TILE_X + 2 * radius)
        if shared > self.device.shared_limit:
            raise ValueError(f"a blur of {arms.blur} is too wide for the shared memory of this GPU")
        volume = self.device.empty((self.height, self.width, labels), np.uint16)
        smoothing = [self.arms, np.int32(count), self.device.put(taps), np.int32(radius)]
        weighing = [np.float32(arms.c0), np.int32(arms.sharpness)]
        band = [self._map(start), np.int32(labels), self._map(noise), np.float32(unit)]
        arguments = [self.colours, *self._targets(self.device.put(weights), step), *smoothing, *weighing, *band, volume]
        grid = -(-self.width // TILE_X), -(-self.height // TILE_Y), -(-labels // CHUNK)
        self._launch("costs", grid, (THREADS, 1), arguments, shared)
        return volume

    def aggregate(self, costs: Volume, edges: Any, small: float, large: float) -> Best:
        labels = costs.shape[2]
        if labels > MOST_LABELS:
            raise ValueError(f"the cuda engine matches at most {MOST_LABELS} labels, not {labels}")
        if large > MOST_PENALTY:
            raise ValueError(f"the cuda engine takes penalties of at most {MOST_PENALTY}, not {large}")
        costs, pixels = self._put(costs), self.height * self.width
        sums = self.device.zeros(costs.shape, np.uint32)
        penalties = np.float32(small), np.float32(large)
        paths = -(-(self.height + self.width - 1) * LANES // PATH_THREADS)
        arguments = [costs, self._map(edges), *self.sizes, np.int32(labels), *penalties, sums]
        self.device.launch("add_paths", (paths, 8, 1), (PATH_THREADS, 1, 1), arguments)
        best = Best(*(self.device.empty((self.height, self.width)) for _ in Best._fields))
        arguments = [sums, np.int64(pixels), np.int32(labels), *best]
        self.device.launch("best_labels", (-(-pixels * LANES // THREADS), 1, 1), (THREADS, 1, 1), arguments)
        return best

    def fit_planes(self, w: Map, radius: int, stride: int, colour: float, distance: float, disparity: float) -> Map:
        fitted = self.device.empty((self.height, self.width))
        halves = (np.float32(0.5 / math.log(2) / deviation**2) for deviation in (distance, disparity))
        falloff = self._colour_falloff(colour), *halves, np.float32(contract.RIDGE), np.float32(contract.LEAST_WEIGHT)
        arguments = [self.colours, self._map(w), np.int32(radius), np.int32(stride), *falloff, *self.sizes, fitted]
        self._launch("planes", (-(-self.width // BLOCK[0]), -(-self.height // BLOCK[1])), BLOCK, arguments)
        return fitted

    def median(self, w: Map, radius: int, colour: float) -> Map:
        found = self.device.empty((self.height, self.width))
        each, threads = 8 * (2 * radius + 1) ** 2, ROW_THREADS
        while threads > LANES and each * threads > self.device.shared_limit // 2:
            threads //= 2
        if each * threads > self.device.shared_limit:
            raise ValueError(f"a median of radius {radius} is too large for the shared memory of this GPU")
        arguments = [self.colours, self._map(w), np.int32(radius), self._colour_falloff(colour), *self.sizes, found]
        grid = -(-self.width // threads), self.height
        self._launch("median", grid, (threads, 1), arguments, each * threads)
        return found

    @property
    def _sights(self) -> int:
        return SIGHT_BYTES * len(self.views.epipoles)

    def _targets(self, weights: DeviceArray, step: float) -> list[Any]:
        """Return what kernels need to know about the targets, the size of the image, and the scale of colours."""
        T = np.int32(len(self.views.epipoles))
        return [self.epipoles, weights, T, np.float64(step), *self.sizes, np.float32(self.views.scale)]

    def _colour_falloff(self, colour: float) -> np.float32:
        """Return the factor of a squared sum of colour differences in the exponent of a weight 2^-x."""
        return np.float32((self.views.scale / (self.channels * colour)) ** 2 / math.log(2))

    def _pack(self, planes: DeviceArray, count: int) -> DeviceArray:
        """Return the views with the colours of each pixel side by side."""
        pixels = self.height * self.width
        room = 1 if self.channels == 1 else 4
        packed = self.device.empty((count, self.height, self.width, room), planes.dtype)
        self._launch("pack", (-(-pixels // THREADS), count), (THREADS, 1), [planes, packed, np.int64(pixels)])
        return packed

    def _put(self, array: Any) -> DeviceArray:
        """Return an array of the host or of the device on the device, in C order."""
        return self.device.put(array if array.flags.c_contiguous else array.copy(order="C"))

    def _map(self, w: Map) -> DeviceArray:
        return self.device.planes(w, self.width)

    def _launch(
        self, kernel: str, grid: tuple[int, ...], block: tuple[int, int], arguments: list[Any], shared: int = 0
    ) -> None:
        name, channels = self.pixel
        self.device.launch(f"{kernel}_{name}_{channels}", (*grid, 1)[:3], (*block, 1), arguments, shared)
