"""The linear solver of the CUDA engine, as the host sees it: levels, memory, and one launch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradcon.engines.contract import DataTerm
from gradcon.engines.cuda.device import DeviceArray, Gpu

# As in kernels/solve.cu.
ARRAYS, BOTTOM_ARRAYS, MOST_LEVELS, TILE_PIXELS = 13, 6, 20, 18 * 34
BOTTOM_PIXELS = 64 * 64  # levels up to this size are in shared memory
INNER_TOLERANCE = 1e-3  # as in the cpu engine
INNER_MOST = 100
# As in the cpu engine: multigrid joins pixels along both axes, also where the smoothness links them along one only.
ANISOTROPIC_MOST = 500


class Solver:
    """Multigrid's levels for one image size.

    `buffer` gives memory that is zero at first, by name and shape; `isotropic` is whether the smoothness weighs the
    length of the gradient, not its parts.
    """

    def __init__(self, device: Gpu, shape: tuple[int, int], buffer: Callable[..., Any], isotropic: bool) -> None:
        self.device, self.isotropic = device, isotropic
        self.most = INNER_MOST if isotropic else ANISOTROPIC_MOST
        table, self.size = levels_of(*shape)
        fixed = 8 * device.solver_threads + 16 * MOST_LEVELS + 4 * 2 * TILE_PIXELS
        shared = [fixed + 4 * BOTTOM_ARRAYS * (self.size - offset + 1) for _, _, offset, _ in table]
        self.bottom = next(
            k
            for k, (height, width, _, _) in enumerate(table)
            if k > 0 and height * width <= BOTTOM_PIXELS and shared[k] <= device.shared_limit
        )
        self.count, self.shared = len(table), shared[self.bottom]
        self.levels = device.put(np.array(table, np.int32))
        self.arrays = buffer("levels", (ARRAYS, self.size))  # their margins stay zero
        self.partial = buffer("partial sums", (2, device.processors), np.float64)
        self.gate = buffer("gate", (2,), np.uint32)

    def launch(
        self,
        w: DeviceArray,
        term: DataTerm[DeviceArray],
        alpha: float,
        reweight: bool,
        dw: DeviceArray,
        counts: DeviceArray,
        sizes: Sequence[np.int32],
    ) -> None:
        """Solve for dw; counts[0] becomes the number of iterations, counts[1] zero."""
        arguments = [
            w, term.diagonal, term.rhs, np.float32(alpha), np.int32(reweight), np.int32(self.isotropic), self.levels,
            np.int32(self.count), np.int32(self.bottom), self.arrays, np.int32(self.size), self.partial, self.gate,
            np.float64(INNER_TOLERANCE), np.int32(self.most), dw, counts, *sizes,
        ]  # fmt: skip
        grid, block = (self.device.processors, 1, 1), (self.device.solver_threads, 1, 1)
        self.device.launch("solve", grid, block, arguments, self.shared)


def levels_of(height: int, width: int) -> tuple[list[tuple[int, int, int, int]], int]:
    """Return (height, width, offset, stride) of the levels, at least two, down to one pixel; and their arrays' size."""
    table: list[tuple[int, int, int, int]] = []
    offset = 1
    while len(table) < 2 or table[-1][:2] != (1, 1):
        stride = width + 3 + (width + 3) % 2  # with margins, and even
        table.append((height, width, offset, stride))
        offset += (height + 3) * stride
        height, width = (height + 1) // 2, (width + 1) // 2
    return table, offset + 1
