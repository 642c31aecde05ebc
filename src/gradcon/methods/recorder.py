"""Record which views and scales a run trusts as it proceeds.

A record of everything would hold as many weights as there are pixels, solves, scales and views.  So pixels are sampled
on a grid, and solves ever more sparsely; `gradcon.result.weights` says how a weight is kept.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.arrays import sampled
from gradcon.engines import AnyEngine, Stage
from gradcon.result.weights import CODES, LONGEST_SIDE, MOST_CODES, SOLVES, Weights


class Recorder:
    """Sees every solve of a run, and records some of them; the last one is always among them."""

    def __init__(self, engine: AnyEngine, shape: tuple[int, int], views: int, scales: int, unit: float) -> None:
        self.engine, self.shape, self.views, self.unit = engine, shape, views, unit
        self.scales = np.arange(scales - 1, -1, -1, dtype=np.int32)
        pixels = max(1, MOST_CODES // (SOLVES * scales * views))
        self.step = max(1, int(np.ceil(np.sqrt(shape[0] * shape[1] / pixels))))
        self.disparity_step = -(-max(shape) // LONGEST_SIDE)
        self.solves: list[int] = []
        self._codes: list[NDArray[np.uint8]] = []
        self._disparities: list[NDArray[np.float32]] = []
        self._last: tuple[int, Any, Stage] | None = None  # the solve seen last, if it was not recorded

    def wants(self, solve: int) -> bool:
        """Return whether to record a solve: each of the first ones, then each a fifth later than the one before."""
        return not self.solves or solve >= max(self.solves[-1] + 1, round(1.2 * self.solves[-1]))

    def see(self, solve: int, w: Any, stage: Stage, weights: NDArray[Any] | None) -> None:
        """Record the solve that began at w, if it is wanted; `weights` are None in a stage with unit weights."""
        if self.wants(solve):
            self._record(solve, w, stage, weights)
        else:
            self._last = solve, w, stage

    def weights(self) -> Weights:
        """Return the record, completed by the last solve."""
        if self._last is not None:
            solve, w, stage = self._last
            term = self.engine.data_term(w, self.engine.warp(w, stage), stage, True, self.step)
            self._record(solve, w, stage, term.weights)
        return Weights(
            solves=np.array(self.solves, np.int32),
            codes=np.stack(self._codes),
            step=self.step,
            scales=self.scales,
            disparities=np.stack(self._disparities),
            disparity_step=self.disparity_step,
        )

    def _record(self, solve: int, w: Any, stage: Stage, weights: NDArray[Any] | None) -> None:
        shares = np.zeros((*sampled(self.shape, self.step), len(self.scales), self.views))
        rows = [int(np.flatnonzero(self.scales == q)[0]) for q in stage.scales]
        here = np.ix_(*map(range, shares.shape[:2]), rows, stage.views)
        if weights is not None:
            shares[here] = weights / weights.sum(axis=(2, 3), keepdims=True)
        else:
            shares[here] = 1.0 / (len(rows) * len(stage.views))
        self.solves.append(solve)
        self._codes.append(np.rint(CODES * np.sqrt(shares)).astype(np.uint8))
        sample = self.engine.download(w)[:: self.disparity_step, :: self.disparity_step]
        self._disparities.append(np.array(sample / self.unit, np.float32))
        self._last = None
