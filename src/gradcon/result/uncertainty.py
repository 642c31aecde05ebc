"""Does the uncertainty predict the error?

Two measures compare the predicted standard deviation with the true error.  *Sparsification* drops the least certain
pixels step by step and watches the RMSE of the rest fall.  No order of dropping does better than the oracle's, which
drops by the true error.  *Calibration* groups pixels of similar uncertainty and measures how large their errors are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradcon.arrays import to_host
from gradcon.errors import InputError
from gradcon.result.metrics import as_map, compared

DROPPED = tuple(range(0, 100, 5))  # percent of the pixels
GROUPS = 20  # of similar uncertainty, with equally many pixels
DROP_OF_INTEREST = 20  # percent: the share for the summary in one number


def evaluate_uncertainty(disparity: ArrayLike, uncertainty: ArrayLike, ground_truth: ArrayLike) -> dict[str, Any]:
    """Compare a predicted standard deviation with the true error, at all pixels whose truth is known.

    Parameters
    ----------
    disparity, uncertainty, ground_truth : (height, width) arrays
        In pixels per unit baseline; `uncertainty` is the predicted standard deviation of `disparity`.

    Returns
    -------
    dict
        Sparsification: `rmse` and `rmse_oracle` after dropping the percentages `dropped` of the least certain or the
        most wrong pixels; `reduction_20` and `reduction_20_oracle`, the percentage by which dropping a fifth lowers the
        RMSE.  Calibration: `median_predicted`, `median_error` and their `ratio` (None if the error is 0); `within`, the
        percentage of pixels whose error is within 1, 2 and 3 predicted deviations; `groups` of similar uncertainty,
        each with its number of pixels, median uncertainty, median error and RMS error.
    """
    error, known = compared(to_host(as_map(disparity, "disparity")), ground_truth)
    predicted = to_host(as_map(uncertainty, "uncertainty"))
    if predicted.shape != error.shape:
        problem = f"has the shape {predicted.shape} but the disparity has {error.shape}"
        raise InputError("uncertainty", problem, "use the maps of one result")
    error, predicted = error[known], predicted[known]
    if not (np.isfinite(predicted).all() and (predicted >= 0).all()):
        problem = "holds negative, NaN or infinite values, which are not standard deviations"
        raise InputError("uncertainty", problem, "use the map of a result")
    order = np.argsort(predicted, kind="stable")
    rmse, oracle = _rmse_of_first(error[order]), _rmse_of_first(np.sort(error))
    drop = DROPPED.index(DROP_OF_INTEREST)
    median_predicted, median_error = float(np.median(predicted)), float(np.median(error))
    return {
        "pixels": int(error.size),
        "dropped": list(DROPPED),
        "rmse": rmse,
        "rmse_oracle": oracle,
        "reduction_20": _reduction(rmse, drop),
        "reduction_20_oracle": _reduction(oracle, drop),
        "median_predicted": median_predicted,
        "median_error": median_error,
        "ratio": ratio(median_predicted, median_error),
        "within": {str(k): 100.0 * float(np.mean(error <= k * predicted)) for k in (1, 2, 3)},
        "groups": [_group(error[k], predicted[k]) for k in np.array_split(order, min(GROUPS, error.size))],
    }


def ratio(predicted: float, error: float) -> float | None:
    """Return the predicted deviation in units of the error; None if there is no error."""
    return predicted / error if error > 0 else None


def _rmse_of_first(error: NDArray[np.float64]) -> list[float]:
    """Return the RMSE of the errors, after dropping each share of DROPPED from the end; one pixel always remains."""
    mean = np.cumsum(error**2) / np.arange(1, error.size + 1)
    left = [max(1, round(error.size * (100 - share) / 100)) for share in DROPPED]
    return [float(np.sqrt(mean[count - 1])) for count in left]


def _reduction(rmse: list[float], drop: int) -> float:
    return 100.0 * (1 - rmse[drop] / rmse[0]) if rmse[0] > 0 else 0.0


def _group(error: NDArray[np.float64], predicted: NDArray[np.float64]) -> dict[str, float]:
    return {
        "pixels": error.size,
        "predicted": float(np.median(predicted)),
        "error_median": float(np.median(error)),
        "error_rms": float(np.sqrt(np.mean(error**2))),
    }
