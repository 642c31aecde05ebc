"""The linear solver of the cpu engine: conjugate gradients, preconditioned by multigrid, for one image size."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gradcon.engines.contract import DataTerm
from gradcon.engines.cpu import multigrid, smoothness

Field = NDArray[np.float32]
INNER_TOLERANCE = 1e-3  # of the residual in the preconditioner's norm; a tighter one changes no RMSE by 0.001
INNER_MOST = 100


class MultigridSolver:
    """The solver with its arrays for one image size."""

    def __init__(self, height: int, width: int) -> None:
        self.table, size = multigrid.levels_of(height, width)
        self.data, self.right, self.below, self.diagonal, self.inverse = (np.zeros(size, np.float32) for _ in range(5))
        self.r, self.work, self.z = (np.zeros(size, np.float32) for _ in range(3))
        self.p, self.q, self.x = (np.zeros((height + 2, width + 2), np.float32) for _ in range(3))

    def solve(self, w: Field, term: DataTerm[Field], alpha: np.float32, reweight: bool) -> tuple[Field, int]:
        fine = [multigrid.level(flat, self.table, 0) for flat in (self.data, self.right, self.below, self.r)]
        smoothness.assemble(w, term.diagonal, term.rhs, alpha, reweight, *fine)
        multigrid.set_up(self.table, self.data, self.right, self.below, self.diagonal, self.inverse)
        iterations = multigrid.conjugate_gradients(
            self.table, self.data, self.diagonal, self.inverse, self.right, self.below, self.r, self.work, self.z,
            self.p, self.q, INNER_TOLERANCE, INNER_MOST, self.x,
        )  # fmt: skip
        return self.x[1:-1, 1:-1], iterations
