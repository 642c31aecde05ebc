"""Read what `gradcon estimate --keep-weights` recorded: the trust in each view and scale, by solve or pass.

The file may come from anybody, so headers are checked before arrays are read, and pickles are never loaded.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.arrays import sampled
from gradcon.errors import InputError
from gradcon.npz import open_npz

FILE = "weights.npz"
NAMES = ("solves", "codes", "step", "scales", "disparities", "disparity_step", "disparity_range")
AFTER = "after"  # older files lack it
MAX_BYTES = 2**29  # of one array in the file
PAGE_BYTES = 2**24  # of one array in a page; a larger record of the trust is sampled further


@dataclass(frozen=True)
class KeptWeights:
    """The arrays of a weights.npz, checked against the result that they belong to.

    Attributes
    ----------
    solves : (K,) int
        The numbers of the recorded solves, counted from 1.
    codes : (K, h, w, Q, T) uint8
        The share (code / 255)^2 of the trust that each scale and target view has at a sampled pixel.
    first, step : int
        The sampled pixels are first + step * i, in full-size pixels.
    scales : (Q,) int
        The scales q; 0 is the finest.
    disparities : (K, H, W) uint8
        The disparity before each recorded solve, or `after` it, from 0 for `low` to 255 for `high`.
    disparity_step : int
        The distance between two of its samples, in full-size pixels; the first is pixel 0.
    low, high : float
        The range of `disparities`.
    after : bool
        Whether `codes` and `disparities` are those after each solve, or those before it.
    """

    solves: list[int]
    codes: NDArray[np.uint8]
    first: int
    step: int
    scales: list[int]
    disparities: NDArray[np.uint8]
    disparity_step: int
    low: float
    high: float
    after: bool


def read_weights(path: Path, targets: int, size: tuple[int, int], last: int) -> KeptWeights:
    """Read a weights.npz, and check it against the number of targets, the (height, width) and the last solve."""
    try:
        members = open_npz(path)
        if missing := [name for name in NAMES if name not in members]:
            raise InputError(path, f"holds no {missing[0]}")
        arrays = {name: members[name].read(MAX_BYTES) for name in (*NAMES, AFTER) if name in members}
        return _checked(arrays, targets, size, last)
    except InputError as reason:
        raise InputError(reason.where or path, reason.problem, "estimate the scene again") from None


def _checked(arrays: dict[str, NDArray[Any]], targets: int, size: tuple[int, int], last: int) -> KeptWeights:
    for name in ("solves", "scales", "step", "disparity_step"):
        _need(arrays[name].dtype.kind in "iu" and arrays[name].ndim == int(name in ("solves", "scales")), name)
    solves, scales = arrays["solves"].tolist(), arrays["scales"].tolist()
    _need(
        0 < len(solves) <= 10_000 and solves == sorted(set(solves)) and solves[0] >= 1 and solves[-1] <= last, "solves"
    )
    _need(0 < len(scales) <= 16 and len(set(scales)) == len(scales) and min(scales) >= 0, "scales")
    step, disparity_step = int(arrays["step"]), int(arrays["disparity_step"])
    height, width = size
    _need(1 <= step <= 4096 and step // 2 < min(size), "step")
    _need(1 <= disparity_step <= 4096, "disparity_step")
    codes, disparities = arrays["codes"], arrays["disparities"]
    _need(codes.dtype == np.uint8 and codes.shape == (len(solves), *sampled(size, step), len(scales), targets), "codes")
    _need(len(solves) * len(scales) * targets <= PAGE_BYTES, "codes")  # one pixel must fit into a page
    grid = (len(range(0, height, disparity_step)), len(range(0, width, disparity_step)))
    _need(disparities.dtype == np.uint8 and disparities.shape == (len(solves), *grid), "disparities")
    _need(disparities.size <= PAGE_BYTES, "disparities")
    span = arrays["disparity_range"]
    _need(
        span.dtype.kind == "f" and span.shape == (2,) and np.isfinite(span).all() and span[0] <= span[1],
        "disparity_range",
    )
    after = arrays.get(AFTER, np.zeros((), bool))
    _need(after.dtype == bool and after.ndim == 0, AFTER)
    first, every = step // 2, 1
    while codes[:, ::every, ::every].size > PAGE_BYTES:
        every += 1
    codes = np.ascontiguousarray(codes[:, ::every, ::every])
    low, high = map(float, span)
    return KeptWeights(solves, codes, first, step * every, scales, disparities, disparity_step, low, high, bool(after))


def _need(condition: bool, name: str) -> None:
    if not condition:
        raise InputError("", f"its array {name!r} does not fit the result beside it")
