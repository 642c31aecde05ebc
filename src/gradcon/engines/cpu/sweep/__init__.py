"""The plane sweep on all cores: float32 and 16-bit integers, compiled by Numba.

One thread computes each pixel, so that the result does not depend on how many there are.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradcon.engines.cpu.sweep import paths
from gradcon.engines.cpu.sweep.colours import guide_of
from gradcon.engines.cpu.sweep.costs import Combination, band_costs
from gradcon.engines.cpu.sweep.differences import smallest_difference
from gradcon.engines.cpu.sweep.median import weighted_median
from gradcon.engines.cpu.sweep.planes import fit_planes
from gradcon.engines.cpu.sweep.sampling import sources_of
from gradcon.engines.cpu.threads import Threads
from gradcon.engines.device import Device, Host
from gradcon.engines.sweep import ArmCosts, Best, SweepEngine, Views, blur_kernel, view_weights

__all__ = ["CpuSweep"]

Map = NDArray[np.float32]
ROW, TILE = (1, 512), (16, 96)  # the shapes of tiles: rows, columns
DIRECTIONS = ((0, 1), (1, 2), (-1, 3))  # columns moved per row, and the entry of `edges`


class CpuSweep(SweepEngine):
    """The operations of a sweep in compiled loops."""

    name = "cpu"
    device: Device = Host()

    def __init__(self, views: Views, threads: Threads | None = None) -> None:
        super().__init__(views)
        self.sources = sources_of(self.views)
        self.guide = guide_of(self.sources)
        self.shape = self.sources.height, self.sources.width
        self._threads = threads or Threads()

    def for_views(self, views: Views) -> CpuSweep:
        return CpuSweep(views, self._threads)

    def difference(self, first: int, labels: int, step: float, every: int) -> Map:
        out = np.empty((-(-self.shape[0] // every), self.shape[1]), np.float32)
        self._threads.deal(smallest_difference, self.sources, first, labels, float(step), every, out)
        return out

    def costs(
        self, start: ArrayLike, labels: int, step: float, noise: ArrayLike, arms: ArmCosts, unit: float
    ) -> NDArray[np.uint16]:
        start = _plane(start)
        volume = np.empty((*self.shape, labels), np.uint16)
        inverse_noise = np.float32(1) / (np.float32(self.sources.channels) * _plane(noise))
        combination = Combination(
            np.asarray(self.views.arms, np.int64),
            view_weights(self.views, arms.near).astype(np.float32),
            blur_kernel(arms.blur).astype(np.float32),
            np.float32(arms.c0),
            arms.sharpness,
        )
        # Tiles share a margin if costs are blurred, and compute labels that only some pixels need if bands differ.
        rows, columns = ROW if arms.blur == 0 and start.min() == start.max() else TILE
        self._threads.deal(
            band_costs, self.sources, start, float(step), inverse_noise, combination, np.float32(unit),
            rows, columns, volume.reshape(-1, labels),
        )  # fmt: skip
        return volume

    def aggregate(self, costs: NDArray[np.uint16], edges: ArrayLike, small: float, large: float) -> Best:
        labels, (height, width) = costs.shape[2], self.shape
        matching = paths.Matching(
            np.ascontiguousarray(costs).reshape(-1, labels),
            np.ascontiguousarray(edges, np.float32).reshape(4 * height, width),
            np.float32(small),
            np.float32(large),
            np.zeros((height * width, labels), np.uint16),
        )
        self._threads.deal(paths.walk_rows, matching)
        for dx, kind in DIRECTIONS:
            self._threads.deal(paths.walk_down, dx, kind, matching)
        best = Best(*(np.empty(self.shape, np.float32) for _ in Best._fields))
        self._threads.deal(paths.choose_labels, matching, *best)
        return best

    def fit_planes(
        self, w: ArrayLike, radius: int, stride: int, colour: float, distance: float, disparity: float
    ) -> Map:
        out = np.empty(self.shape, np.float32)
        sigmas = float(colour), float(distance), float(disparity)
        self._threads.deal(fit_planes, self.guide, _plane(w), radius, stride, *sigmas, out)
        return out

    def median(self, w: ArrayLike, radius: int, colour: float) -> Map:
        out = np.empty(self.shape, np.float32)
        self._threads.deal(weighted_median, self.guide, _plane(w), radius, float(colour), out)
        return out


def _plane(values: ArrayLike) -> Map:
    return np.ascontiguousarray(values, np.float32)
