"""How far a disparity map is from the truth, in the paper's measure and in the 4D Light Field Benchmark's.

Unknown truth (NaN) is left out everywhere.  A non-finite estimate counts as bad: it makes RMSE and MSE infinite.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradcon.arrays import to_host
from gradcon.errors import InputError

BORDER = 15  # pixels that the benchmark leaves out on every side
BADPIX = (0.07, 0.03, 0.01)  # pixels of disparity


def evaluate(disparity: ArrayLike, ground_truth: ArrayLike, border: int = BORDER) -> dict[str, float]:
    """Compare a disparity map with the truth, both in pixels per unit baseline.

    Returns
    -------
    dict
        `rmse` over the whole frame (the paper's measure); with `border` pixels left out, `rmse_inner`, `mse_100`
        (MSE x 100), `badpix_007`, `badpix_003`, `badpix_001` (share of pixels in percent whose error passes 0.07,
        0.03, 0.01) and `q25` (the 25th percentile of the error, x 100).
    """
    error, known = compared(disparity, ground_truth)
    inner = np.zeros_like(known)
    inner[border : error.shape[0] - border, border : error.shape[1] - border] = True
    inner &= known
    if not inner.any():  # too small an image for the benchmark's border
        inner = known
    return {"rmse": _rmse(error[known]), **_benchmark(error[inner])}


def compared(disparity: ArrayLike, ground_truth: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """|disparity - truth|, infinite where the estimate is not finite, and where the truth is known."""
    estimate, truth = (to_host(array).astype(np.float64) for array in (disparity, ground_truth))
    if estimate.shape != truth.shape:
        raise InputError(
            f"the disparity is {_size(estimate)} but the ground truth is {_size(truth)}; "
            "evaluate a result against its own scene."
        )
    known = np.isfinite(truth)
    if not known.any():
        raise InputError("the ground truth knows no pixel; there is nothing to compare with.")
    return np.where(np.isfinite(estimate), np.abs(estimate - np.where(known, truth, 0)), np.inf), known


def _benchmark(error: NDArray[np.float64]) -> dict[str, float]:
    mse = _rmse(error) ** 2
    bad = {f"badpix_{round(100 * limit):03d}": 100.0 * float(np.mean(error > limit)) for limit in BADPIX}
    return {"rmse_inner": float(np.sqrt(mse)), "mse_100": 100.0 * mse, **bad, "q25": 100.0 * _q25(error)}


def _rmse(error: NDArray[np.float64]) -> float:
    return float(np.sqrt(np.mean(error**2)))


def _q25(error: NDArray[np.float64]) -> float:
    return float(np.percentile(error, 25, method="lower"))


def _size(array: NDArray[np.float64]) -> str:
    return " x ".join(str(n) for n in array.shape[::-1])
