"""The linear solver of the cpu engine, with its arrays for one image size."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gradcon.engines.contract import DataTerm
from gradcon.engines.cpu import conjugate
from gradcon.engines.cpu.barrier import new_barrier
from gradcon.engines.cpu.multigrid import system_of
from gradcon.engines.cpu.smoothness import PLANES
from gradcon.engines.cpu.threads import Threads

Field = NDArray[np.float32]
INNER_TOLERANCE = 1e-3  # of the residual in the preconditioner's norm; a tighter one changes no RMSE by 0.001
# Where pixels are linked far more strongly along one axis, joining 2 x 2 of them helps less: 50 to 120 iterations.
INNER_MOST = {"isotropic": 100, "anisotropic": 500}
ROWS_A_THREAD = 32  # at least: fewer are not worth a meeting


class MultigridSolver:
    """Conjugate gradients, preconditioned by multigrid."""

    def __init__(self, height: int, width: int, threads: Threads, smoothness: str = "isotropic") -> None:
        self.threads, self.barrier = threads, new_barrier()
        self.chunks = max(1, min(threads.count, height // ROWS_A_THREAD))
        self.system = system_of(height, width)
        self.planes, self.most = PLANES[smoothness], INNER_MOST[smoothness]
        self.phi = np.empty((len(self.planes), height, width), np.float32)
        self.directions = np.zeros((2, height + 2, width + 2), np.float32)
        self.q, self.x = (np.zeros((height + 2, width + 2), np.float32) for _ in range(2))
        self.dots = np.zeros((2, height))

    def solve(self, w: Field, term: DataTerm[Field], alpha: np.float32, reweight: bool) -> tuple[Field, int]:
        counts = np.zeros(1, np.int64)
        self.threads.deal_to(
            self.chunks, conjugate.solve, self.barrier, w, term.diagonal, term.rhs, alpha, reweight, self.planes,
            self.phi, self.system, self.directions, self.q, self.dots, INNER_TOLERANCE, self.most, self.x, counts,
        )  # fmt: skip
        return self.x[1:-1, 1:-1], int(counts[0])
