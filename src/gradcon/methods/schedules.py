"""The paper's methods as data: which views, scales, step limit and weights each stage of a run uses.

A run goes to its next stage as soon as no step meets the limit.  Every method is one recipe: slide a window over the
scales from coarse to fine, and within it take in the views ring by ring.

    gcm             windows of three scales, all views at once, the model's weights
    coarse-to-fine  windows of one scale, all views at once, unit weights
    progressive     all scales at once, one more ring of views a stage, unit weights
    naive           all scales and views at once, unit weights
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gradcon.engines.model import step_limit
from gradcon.errors import InputError


@dataclass(frozen=True)
class Method:
    """How a method builds its stages."""

    scales: int  # by default
    window: int | None  # scales in use at once; None for all of them
    rings: bool  # views by rings of equal baseline, or all at once
    weighted: bool  # by the Gradient Consistency Model, or all weights 1


METHODS = {
    "gcm": Method(scales=3, window=3, rings=False, weighted=True),
    "naive": Method(scales=1, window=None, rings=False, weighted=False),
    "progressive": Method(scales=1, window=None, rings=True, weighted=False),
    "coarse-to-fine": Method(scales=3, window=1, rings=False, weighted=False),
}
RING_GAP = 0.1  # between rings of views, in shortest baselines
TERMS = ("gradient", "scale")  # the terms of the model that an ablation may leave out


@dataclass(frozen=True)
class Weighting:
    """Which data-term weights a stage uses: unit weights, or the model's with or without its terms."""

    model: bool = True
    gradient: bool = True
    scale: bool = True


@dataclass(frozen=True)
class Stage:
    """One stage of a run, in baselines normalised so that the shortest is 1."""

    views: tuple[int, ...]  # indices of targets
    scales: tuple[int, ...]  # q, coarsest first
    alpha: float
    limit: float  # of |dw|
    weighting: Weighting


def check(method: str, without: str | None) -> None:
    """Refuse a method that does not exist, or one that lacks the term to be left out."""
    if method not in METHODS:
        raise InputError(f"method: {method!r} is not one of {', '.join(METHODS)}.")
    if without is not None and without not in TERMS:
        raise InputError(f"without: {without!r} is not one of {', '.join(TERMS)}.")
    if without is not None and not METHODS[method].weighted:
        raise InputError(f"without: {method} has no {without} term to leave out; use the method gcm.")


def build(
    method: str, baselines: NDArray[np.float64], alpha: float, scales: int | None = None, without: str | None = None
) -> list[Stage]:
    """The stages of `method` for views at `baselines` (T, 2).

    `alpha` is the regularisation of the last stage; earlier ones scale it with 2^q of their finest scale, and with
    the share of the views that they use, as their data terms are weaker in the same proportion.
    """
    check(method, without)
    recipe = METHODS[method]
    length = np.hypot(*baselines.T) / np.hypot(*baselines.T).min()
    weighting = Weighting(recipe.weighted, without != "gradient", without != "scale")
    return [
        Stage(
            views=views,
            scales=window,
            alpha=alpha * 2.0 ** min(window) * len(views) / len(length),
            limit=step_limit(max(window), float(length[list(views)].max())),
            weighting=weighting,
        )
        for window in _windows(scales or recipe.scales, recipe.window)
        for views in (_rings(length) if recipe.rings else [tuple(range(len(length)))])
    ]


def _windows(scales: int, width: int | None) -> list[tuple[int, ...]]:
    """Windows of `width` neighbouring scales, coarsest first; one window where the scales fit into it."""
    width = min(width or scales, scales)
    return [tuple(range(top, top - width, -1)) for top in range(scales - 1, width - 2, -1)]


def _rings(length: NDArray[np.float64]) -> list[tuple[int, ...]]:
    """Growing sets of views, one more ring of about equal baseline a time."""
    radii = np.unique(length)
    # A ring ends where the next view is clearly farther: calibrated cameras never stand at exactly equal distances.
    ends = radii[np.append(np.diff(radii) > RING_GAP, True)]
    return [tuple(np.flatnonzero(length <= end).tolist()) for end in ends]
