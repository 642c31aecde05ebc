"""Which views and scales a run trusted, pixel by pixel and solve by solve: a record small enough to keep.

The model's weights of a pixel, divided by their sum, are the shares of its trust.  There are as many as scales times
views at every pixel and solve, so pixels are sampled on a grid, solves ever more sparsely, and a share is kept in eight
bits, as its square root: small shares, which are the most, are then as precise in proportion as large ones.
"""

from __future__ import annotations

import io
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

CODES = 255


@dataclass(frozen=True, eq=False)
class Weights:
    """What a run trusted.

    Attributes
    ----------
    solves : (K,) int32
        Which solves were recorded, counted from 1; the last one is among them.
    codes : (K, down, across, Q, T) uint8
        Shares of the trust, see `shares`, by sampled pixel, scale and target view; those that a solve does not use
        have 0.
    step : int
        Pixels between samples; the first is `step // 2` from the left and from the top.
    scales : (Q,) int32
        The scales q, coarsest first.
    disparities : (K, height, width) float32
        The disparity before each recorded solve, at every `disparity_step`-th pixel, in pixels per unit baseline.
    disparity_step : int
    """

    solves: NDArray[np.int32]
    codes: NDArray[np.uint8]
    step: int
    scales: NDArray[np.int32]
    disparities: NDArray[np.float32]
    disparity_step: int

    @property
    def shares(self) -> NDArray[np.float32]:
        """(K, down, across, Q, T): how the trust of each pixel is shared out; about 1 in sum."""
        return np.square(self.codes.astype(np.float32) / CODES)

    def encode(self) -> bytes:
        """What weights.npz holds; the disparities in eight bits from the lowest to the highest, or a little beyond."""
        low, high = float(self.disparities.min()), float(self.disparities.max())
        unit = max(high - low, 1e-12) / 254
        low = unit * np.floor(low / unit)  # a whole number of steps: 0, where most runs start, is kept as it is
        high = low + 255 * unit
        scaled = (self.disparities - low) / unit
        buffer = io.BytesIO()
        np.savez_compressed(
            buffer,
            solves=self.solves,
            codes=self.codes,
            step=np.int32(self.step),
            scales=self.scales,
            disparities=np.rint(scaled).astype(np.uint8),
            disparity_step=np.int32(self.disparity_step),
            disparity_range=np.array([low, high]),
        )
        return buffer.getvalue()
