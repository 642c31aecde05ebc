"""Measures of the error of a disparity map: the paper's, and those of the 4D Light Field Benchmark.

Pixels whose truth is unknown (NaN) are left out.  A non-finite estimate counts as bad, and makes RMSE and MSE infinite.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gradcon.arrays import as_array, beside, module_of, to_host
from gradcon.errors import InputError
from gradcon.scene.numbers import shortly, whole_number

BORDER = 15  # pixels that the benchmark leaves out on every side
BADPIX = (0.07, 0.03, 0.01)  # errors in pixels, above which a pixel is bad


def evaluate(disparity: ArrayLike, ground_truth: ArrayLike, border: int = BORDER) -> dict[str, float]:
    """Compare a disparity map with the ground truth.

    Parameters
    ----------
    disparity, ground_truth : (height, width) arrays
        In pixels per unit baseline.
    border : int
        The number of pixels that the benchmark's measures leave out on every side.

    Returns
    -------
    dict
        `rmse` over the whole frame, which is the paper's measure.  Without the border: `rmse_inner`; `mse_100`, the MSE
        x 100; `badpix_007`, `badpix_003` and `badpix_001`, the percentage of pixels whose error exceeds 0.07, 0.03 and
        0.01; and `q25`, the 25th percentile of the error x 100.

    Examples
    --------
    >>> import gradcon
    >>> gradcon.evaluate([[1.0, 2.0]], [[1.0, 2.5]])["badpix_007"]
    50.0
    """
    margin = whole_number(border)
    if margin is None or margin < 0:
        raise InputError("border", f"{shortly(border)} is not a number of pixels", "give a whole number, 0 or more")
    error, known = compared(disparity, ground_truth)
    inner = module_of(known).zeros_like(known)
    inner[margin : error.shape[0] - margin, margin : error.shape[1] - margin] = True
    inner &= known
    if not inner.any():  # the image is all border
        inner = known
    return _measures(error[known], error[inner])


def compared(disparity: Any, ground_truth: Any) -> tuple[Any, Any]:
    """Return |disparity - truth|, infinite where the estimate is not finite, and a mask of where the truth is known.

    Both are where the disparity is: in the host's memory or in a GPU's.
    """
    estimate, truth = as_map(disparity, "disparity"), as_map(ground_truth, "ground truth")
    xp, truth = module_of(estimate), beside(truth, estimate)
    if estimate.shape != truth.shape:
        problem = f"is {_size(estimate)} pixels but the ground truth is {_size(truth)}"
        raise InputError("disparity", problem, "evaluate a result against its own scene")
    known = xp.isfinite(truth)
    if not known.any():
        raise InputError("ground truth", "is unknown at every pixel", "give one that is known somewhere")
    return xp.where(xp.isfinite(estimate), xp.abs(estimate - xp.where(known, truth, 0)), np.inf), known


def as_map(values: Any, name: str) -> Any:
    """Return a map as float64, in the memory that holds it; `name` names it in errors."""
    array = as_array(values, name)
    if array.dtype.kind not in "buif":
        raise InputError(name, "is not a map of real numbers", "give an array of shape (height, width)")
    if array.ndim != 2:
        problem = f"has the shape {array.shape}, which is not a map's"
        raise InputError(name, problem, "give an array of shape (height, width)")
    return array.astype(np.float64)


def _measures(whole: Any, inner: Any) -> dict[str, float]:
    """Return the measures of the errors in the whole frame and of those inside its border."""
    last = int(0.25 * (inner.size - 1))
    quarter = module_of(inner).partition(inner, last)[last]
    found = [(whole**2).mean(), (inner**2).mean(), *((inner > limit).mean() for limit in BADPIX), quarter]
    square, mse, *bad, q25 = to_host(module_of(inner).stack(found)).tolist()  # a GPU is waited for only here
    shares = {f"badpix_{round(100 * limit):03d}": 100.0 * share for limit, share in zip(BADPIX, bad, strict=True)}
    return {"rmse": square**0.5, "rmse_inner": mse**0.5, "mse_100": 100.0 * mse, **shares, "q25": 100.0 * q25}


def rmse(error: Any) -> float:
    """Return the root of the mean square."""
    return float((error**2).mean()) ** 0.5


def _size(array: Any) -> str:
    return " x ".join(str(n) for n in array.shape[::-1])
