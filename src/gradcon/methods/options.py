"""What a user may choose for an estimate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gradcon.errors import InputError
from gradcon.methods import schedules


@dataclass(frozen=True)
class Options:
    """What a user may choose.

    Parameters
    ----------
    method : str
        `gcm`, `coarse-to-fine`, `progressive` or `naive`.
    alpha : float
        Weight of the smoothness term.
    epsilon : float
        Standard deviation of the acquisition noise, in units of the pixels' range [0, 1].
    scales : int, optional
        Number of scales; by default the method's own (3 for gcm and coarse-to-fine, else 1).  Take n scales for
        disparities of up to about 2^(n-1) pixels, either side of the start, to the nearest view.
    solves : int
        At most so many solves; a run ends earlier when it has converged.
    without : str, optional
        `gradient` or `scale`: leave that term out of the model (the paper's ablations).
    """

    method: str = "gcm"
    alpha: float = 0.5
    epsilon: float = 2e-4
    scales: int | None = None
    solves: int = 300
    without: str | None = None

    def __post_init__(self) -> None:
        for field in ("alpha", "epsilon"):
            value = getattr(self, field)
            if not (isinstance(value, int | float) and np.isfinite(value) and value > 0):
                raise InputError(f"{field}: {value!r} is not a positive number.")
        for field, most in (("scales", 8), ("solves", 1_000_000)):
            value = getattr(self, field)
            if not (value is None and field == "scales") and not (isinstance(value, int) and 1 <= value <= most):
                raise InputError(f"{field}: {value!r} is not a whole number from 1 to {most}.")
        schedules.check(self.method, self.without)
