"""Which views and scales a run trusted, pixel by pixel and solve by solve, in a record that is small enough to keep.

The model's weights of a pixel, divided by their sum, are its shares of trust.  Each pixel has one per scale and view in
every solve.  To keep the record small, pixels are sampled on a grid and solves ever more sparsely, and the square root
of a share is stored in eight bits.  Most shares are small, and the square root gives them the relative precision of
large ones.
"""

from __future__ import annotations

import io
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

CODES = 255
MOST_CODES = 2**22  # in a record of SOLVES solves; a longer record has proportionally more
SOLVES = 20
LONGEST_SIDE = 256  # of the kept disparities, in pixels


@dataclass(frozen=True, eq=False)
class Weights:
    """The trust that a run placed in each scale and view.

    Attributes
    ----------
    solves : (K,) int32
        The recorded solves, counted from 1.  The last solve of the run is one of them.
    codes : (K, down, across, Q, T) uint8
        The encoded shares of trust (see `shares`) by sampled pixel, scale and target; 0 for a scale or a target that
        the solve does not use.
    step : int
        The number of pixels between samples.  The first sample is `step // 2` from the left and from the top.
    scales : (Q,) int32
        The scales q, coarsest first.
    disparities : (K, height, width) float32
        The disparity before each recorded solve, or `after` it, at every `disparity_step`-th pixel, in pixels per unit
        baseline.
    disparity_step : int
        The number of pixels between the samples of `disparities`.
    after : bool
        Whether disparities and shares are those after each solve, as a sweep has them, or those before it.
    """

    solves: NDArray[np.int32]
    codes: NDArray[np.uint8]
    step: int
    scales: NDArray[np.int32]
    disparities: NDArray[np.float32]
    disparity_step: int
    after: bool = False

    @property
    def shares(self) -> NDArray[np.float32]:
        """The shares of trust, (K, down, across, Q, T); they add up to about 1 at each pixel."""
        return np.square(self.codes.astype(np.float32) / CODES)

    def encode(self) -> bytes:
        """Return the content of weights.npz, with the disparities in eight bits."""
        low, high = float(self.disparities.min()), float(self.disparities.max())
        unit = max(high - low, 1e-12) / 254
        # A whole number of steps, so that 0, where most runs start, is stored exactly.
        low = unit * np.floor(low / unit)
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
            after=np.bool_(self.after),
        )
        return buffer.getvalue()
