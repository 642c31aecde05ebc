"""Which views and scales a run trusted, pixel by pixel and solve by solve: a record small enough to keep.

The model's weights of a pixel, divided by their sum, are the shares of its trust.  There are as many as scales times
views at every pixel and solve, so pixels are sampled on a grid, solves ever more sparsely, and a share is kept in eight
bits, as its square root: small shares, which are the most, are then as precise in proportion as large ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon import engines
from gradcon.methods.schedules import Stage
from gradcon.result.weights import CODES, Weights

MOST_CODES = 2**22  # of a record of SOLVES solves; more solves are in proportion
SOLVES = 20
LONGEST_SIDE = 256  # of the kept disparities, in pixels


class Recorder:
    """Looks on as `gradcon.minimise` runs its loop."""

    def __init__(self, machine: engines.Engine, shape: tuple[int, int], views: int, scales: int, unit: float) -> None:
        self.machine = machine
        self.shape, self.views, self.unit = shape, views, unit
        self.scales = np.arange(scales - 1, -1, -1, dtype=np.int32)
        pixels = max(1, MOST_CODES // (SOLVES * scales * views))
        self.step = max(1, int(np.ceil(np.sqrt(shape[0] * shape[1] / pixels))))
        self.disparity_step = -(-max(shape) // LONGEST_SIDE)
        self.solves: list[int] = []
        self._codes: list[NDArray[np.uint8]] = []
        self._disparities: list[NDArray[np.float32]] = []

    def wants(self, solve: int) -> bool:
        """Whether a solve is one to record: the first ones all are, later ones a fifth farther each time."""
        return not self.solves or solve >= max(self.solves[-1] + 1, round(1.2 * self.solves[-1]))

    def record(self, solve: int, w: Any, warped: Any, stage: Stage) -> None:
        """Record the solve that begins at w; before its data term is computed."""
        shares = np.zeros((*engines.sampled(self.shape, self.step), len(self.scales), self.views))
        rows = [int(np.flatnonzero(self.scales == q)[0]) for q in stage.scales]
        here = np.ix_(*map(range, shares.shape[:2]), rows, stage.views)
        if stage.weighting.model:
            weights = self.machine.weights(w, warped, stage, self.step)
            shares[here] = weights / weights.sum(axis=(2, 3), keepdims=True)
        else:
            shares[here] = 1.0 / (len(rows) * len(stage.views))
        self.solves.append(solve)
        self._codes.append(np.rint(CODES * np.sqrt(shares)).astype(np.uint8))
        sample = self.machine.download(w)[:: self.disparity_step, :: self.disparity_step]
        self._disparities.append(np.array(sample / self.unit, np.float32))

    def weights(self) -> Weights:
        """All that was recorded."""
        return Weights(
            solves=np.array(self.solves, np.int32),
            codes=np.stack(self._codes),
            step=self.step,
            scales=self.scales,
            disparities=np.stack(self._disparities),
            disparity_step=self.disparity_step,
        )
