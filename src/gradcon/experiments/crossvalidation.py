"""Choosing alpha on some scenes to judge a method on others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

DEFAULT_ALPHA = 0.5  # where there is no other scene to choose it on


@dataclass(frozen=True)
class Choice:
    """Which alpha each fold chose."""

    alphas: list[float]  # fold by fold
    of_scene: dict[str, float]  # the alpha that each scene is judged with


def choose(rmse: Mapping[float, Mapping[str, float]], folds: Sequence[Sequence[str]]) -> Choice:
    """For each fold the alpha with the best mean RMSE on the scenes of all other folds.

    Parameters
    ----------
    rmse : mapping
        By alpha and scene.
    folds : sequence of sequences of str
        The scenes of each fold.
    """
    alphas = []
    for fold in folds:
        others = [scene for other in folds if other is not fold for scene in other]
        if others:
            alphas.append(min(rmse, key=lambda alpha: np.mean([rmse[alpha][scene] for scene in others])))
        else:
            alphas.append(min(rmse, key=lambda alpha: abs(alpha - DEFAULT_ALPHA)))
    return Choice(alphas, {scene: alpha for fold, alpha in zip(folds, alphas, strict=True) for scene in fold})


def mean_curve(curves: Sequence[Sequence[float]]) -> list[float]:
    """Mean RMSE after each solve; a run that has ended keeps its last value."""
    longest = max(len(curve) for curve in curves)
    return np.mean([[*curve, *[curve[-1]] * (longest - len(curve))] for curve in curves], axis=0).tolist()


def solves_within(curve: Sequence[float], share: float) -> int:
    """After how many solves the RMSE is within `share` of its final value, for good."""
    final = curve[-1]
    outside = [n for n, value in enumerate(curve, start=1) if abs(value - final) > share * final]
    return 1 + (outside[-1] if outside else 0)
