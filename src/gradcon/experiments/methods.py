"""The methods that the paper compares, with the RMSE it reports for each."""

from __future__ import annotations

from dataclasses import dataclass, replace

from gradcon.engines import PRINTED
from gradcon.methods.options import Options


@dataclass(frozen=True)
class Contender:
    """A method with its settings, and the RMSE that the paper reports for it."""

    key: str
    label: str
    options: Options
    paper: float | None = None
    alpha: float = Options.alpha  # near what cross-validation chooses, for experiments that do without it

    def as_printed(self) -> Contender:
        """Return the method with everything that the paper leaves open done as it prints it."""
        # The smoothness then has twice the weight, so half of alpha means the same.
        return replace(self, options=replace(self.options, choices=PRINTED), alpha=self.alpha / 2)


def _contender(
    key: str, label: str, method: str, scales: int, paper: float, alpha: float, without: str | None = None
) -> Contender:
    return Contender(key, label, Options(method, scales=scales, without=without).as_in_the_paper(), paper, alpha)


NAIVE = _contender("naive", "Naive at one scale", "naive", 1, 0.32609, alpha=0.2)
GCM_ONE_SCALE = _contender("gcm-one-scale", "GCM at one scale", "gcm", 1, 0.22723, alpha=0.1)
PROGRESSIVE = _contender("progressive", "Progressive inclusion at one scale", "progressive", 1, 0.25198, alpha=0.1)

COARSE_TO_FINE = _contender("coarse-to-fine", "Coarse to fine", "coarse-to-fine", 3, 0.26926, alpha=0.5)
GCM = _contender("gcm", "GCM", "gcm", 3, 0.22452, alpha=0.5)
NO_SCALE = _contender("gcm-without-scale", "GCM, O = 0", "gcm", 3, 0.31943, alpha=1.0, without="scale")
NO_GRADIENT = _contender("gcm-without-gradient", "GCM, G = 0", "gcm", 3, 0.28827, alpha=1.0, without="gradient")

ONE_SCALE = (NAIVE, GCM_ONE_SCALE, PROGRESSIVE)
THREE_SCALES = (COARSE_TO_FINE, GCM, NO_SCALE, NO_GRADIENT)
