"""A second opinion on a disparity map: another map of the same reference, made from other views.

The reference and the views that the first map was not made from are swept, with nothing set.  Where the two maps
differ, one of them is wrong.  That is a better judge than how well a map predicts the views: a rim that is a few pixels
too wide costs hardly any brightness, and surfaces without texture look right at many disparities.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradcon.methods.estimation import compile_for, estimate
from gradcon.methods.look import look_at
from gradcon.methods.options import Options
from gradcon.result.metrics import rmse
from gradcon.scene import Scene
from gradcon.scene.selection import spread
from gradcon.scene.variants import without_views

FEWEST = 4  # views; the opinion of one or two is often worse than the map
BAD = 0.07  # pixels per unit baseline, as in BadPix 0.07
SURE = 0.4  # pixels in the farthest view: the deviation up to which the opinion counts


class Suspicion(NamedTuple):
    """What an opinion says about a map."""

    errors: NDArray[np.float32]  # of each pixel; 0 where the views cannot tell
    rmse: float  # of the others
    badpix_007: float


class SecondOpinion(NamedTuple):
    """What other views say about the disparity of each pixel of the reference."""

    disparity: NDArray[np.float32]
    sure: NDArray[np.bool_]  # where they can tell; everywhere if they can tell nowhere

    def of(self, disparity: NDArray[Any]) -> Suspicion:
        """Compare a map with this one."""
        errors = np.where(self.sure, np.abs(disparity - self.disparity), 0).astype(np.float32)
        told = errors[self.sure].astype(np.float64)
        return Suspicion(errors, rmse(told), 100 * float(np.mean(told > BAD)))


def second_opinion(scene: Scene, left: Sequence[int], engine: str = "auto") -> SecondOpinion:
    """Return what the reference and the views that were left out suggest; 1 is the first target.

    The options are the same for every map of a scene, so that their judgements can be compared.  All views together
    tell the range of disparities, which the farthest of them mistake where there is little texture.
    """
    asked = asked_views(scene, left)
    others = without_views(scene, [name for k, name in enumerate(scene.target_names, 1) if k not in asked])
    others.ground_truth = None
    compile_for(scene, Options(), engine)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # who made the map has heard them
        findings = look_at(scene, Options(), engine, check_places=False).findings
        options = Options(disparity_range=findings.disparity_range) if findings.differ else Options()
        result = estimate(others, options, engine=engine, check_directions=False)
    sure = np.asarray(result.uncertainty) * float(np.hypot(*others.baselines.T).max()) < SURE
    if scene.seen is not None:
        sure &= scene.seen[0]
    return SecondOpinion(np.asarray(result.disparity, np.float32), sure if sure.any() else np.ones_like(sure))


def asked_views(scene: Scene, left: Sequence[int]) -> list[int]:
    """Return the views that were left out; others help if they are few, and half of all if there are none."""
    rest = [k for k in range(1, 1 + len(scene.target_names)) if k not in left]
    more = max(FEWEST - len(left), 0) if left else (1 + len(rest)) // 2
    return sorted([*left, *(rest[k] for k in spread(scene.baselines[[k - 1 for k in rest]], more))])
