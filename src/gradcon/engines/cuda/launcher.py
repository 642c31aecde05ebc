"""Launch the engine's kernels: over the tiles of every plane, or with a thread for every pixel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradcon.engines import model
from gradcon.engines.cuda.device import Gpu
from gradcon.engines.cuda.plan import TILE_ROWS, Tiling
from gradcon.errors import InputError

FILTER_THREADS = 256
BLOCK = (32, 8)  # of the kernels that work pixel by pixel
VARIANCE_MARGIN = len(model.gaussian(model.SIGMA_C)) - 1  # of w around a block, both sides together


class Launcher:
    """Launches kernels on images of one size, whose rows are `pitch` pixels apart."""

    def __init__(self, device: Gpu, shape: tuple[int, int], pitch: int) -> None:
        self.device, self.shape = device, shape
        self.sizes = np.int32(shape[0]), np.int32(shape[1]), np.int32(pitch)

    def tiles(
        self,
        kernel: str,
        arguments: Sequence[Any],
        tiles: Tiling,
        planes: int,
        scales: int,
        rows: tuple[int, int] | None = None,
    ) -> None:
        """Launch a filter on some rows of every plane and scale."""
        first, end = rows or (0, self.shape[0])
        across, down = -(-self.shape[1] // tiles.width), -(-(end - first) // TILE_ROWS)
        bounds = [np.int32(tiles.width), np.int32(first), np.int32(end)]
        grid = across * down, planes, scales
        self.device.launch(kernel, grid, (FILTER_THREADS, 1, 1), [*arguments, *bounds, *self.sizes], tiles.shared)

    def weigh(self, kernel: str, arguments: Sequence[Any], group: int, rows: tuple[int, int]) -> None:
        """Launch a kernel that weighs, in blocks whose N^2, one per pixel and view of a group, fit in shared memory."""
        height, margin = BLOCK[1], VARIANCE_MARGIN

        def shared() -> int:
            return 4 * ((BLOCK[0] + margin) * (height + margin) + group * BLOCK[0] * height)

        while height > 1 and shared() > self.device.shared_limit // 2:
            height //= 2
        if shared() > self.device.shared_limit:
            raise InputError("engine", f"{group} views at one distance are too many for this GPU", "use the engine cpu")
        self.pixels(kernel, arguments, rows, shared=shared(), block=(BLOCK[0], height))

    def pixels(
        self,
        kernel: str,
        arguments: Sequence[Any],
        rows: tuple[int, int] | None = None,
        planes: int = 1,
        shared: int = 0,
        block: tuple[int, int] = BLOCK,
    ) -> None:
        """Launch a kernel with a thread for every pixel of some rows."""
        first, end = rows or (0, self.shape[0])
        grid = -(-self.shape[1] // block[0]), -(-(end - first) // block[1]), planes
        self.device.launch(kernel, grid, (*block, 1), [*arguments, *self.sizes], shared)
