"""Choosing alpha on some scenes in order to judge a method on others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

DEFAULT_ALPHA = 0.5  # for a scene that has no others to choose alpha on


@dataclass(frozen=True)
class Choice:
    """The alpha that each fold chose."""

    alphas: list[float]  # one per fold
    of_scene: dict[str, float]  # the alpha that the folds without the scene chose

    @property
    def usual(self) -> float:
        """The alpha that most folds chose; of several, the first."""
        return max(self.alphas, key=self.alphas.count)


def choose(rmse: Mapping[float, Mapping[str, float]], folds: Sequence[Sequence[str]]) -> Choice:
    """Choose, for each fold, the alpha with the lowest mean RMSE on the scenes of all other folds.

    Parameters
    ----------
    rmse : mapping
        RMSE by alpha and scene.
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
    """Return the mean RMSE after each solve, of runs that all took the same number of solves."""
    return np.mean(curves, axis=0).tolist()


def solves_to(curve: Sequence[float], rmse: float) -> int | None:
    """Return the first solve after which the RMSE is as low as this."""
    return next((n for n, value in enumerate(curve, start=1) if value <= rmse), None)


def solves_within(curve: Sequence[float], share: float) -> int:
    """Return the solve from which the RMSE stays within `share` of its final value."""
    final = curve[-1]
    outside = [n for n, value in enumerate(curve, start=1) if abs(value - final) > share * final]
    return 1 + (outside[-1] if outside else 0)
