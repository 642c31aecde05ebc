"""The paper's methods as data: which views, scales, step limit and weights each stage of a run uses.

`stopping` says when a run goes to its next stage.  Every method is one recipe: slide a window over the
scales from coarse to fine, and within it take in the views ring by ring.

    gcm             windows of three scales, all views at once, the model's weights
    coarse-to-fine  windows of one scale, all views at once, unit weights
    progressive     all scales at once, one more ring of views per stage, unit weights
    naive           all scales and views at once, unit weights
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gradcon.engines import BY_DEFAULT, Choices, Stage, Weighting
from gradcon.engines.model import RING_GAP, step_limit
from gradcon.scene import Scene

if TYPE_CHECKING:
    from gradcon.methods.options import Options


@dataclass(frozen=True)
class Recipe:
    """How a method builds its stages."""

    scales: int  # by default
    window: int | None  # scales in use at once; None for all of them
    rings: bool  # views by rings of equal baseline, a stage each, or all at once
    weighted: bool  # by the Gradient Consistency Model, or all weights 1


RECIPES = {
    "gcm": Recipe(scales=3, window=3, rings=False, weighted=True),
    "naive": Recipe(scales=1, window=None, rings=False, weighted=False),
    "progressive": Recipe(scales=1, window=None, rings=True, weighted=False),
    "coarse-to-fine": Recipe(scales=3, window=1, rings=False, weighted=False),
}


def build(
    method: str,
    baselines: NDArray[np.float64],
    alpha: float,
    scales: int | None = None,
    without: str | None = None,
    choices: Choices = BY_DEFAULT,
) -> list[Stage]:
    """Return the stages of `method` for views at `baselines` (T, 2).

    `alpha` is the regularisation of the last stage.  Unless `choices` say otherwise, an earlier stage scales it with
    2^q of its finest scale and with the share of the views that it uses, because its data term is weaker in the same
    proportion.
    """
    recipe = RECIPES[method]
    length = np.hypot(*baselines.T) / np.hypot(*baselines.T).min()
    weighting = Weighting(recipe.weighted, without != "gradient", without != "scale")
    return [
        Stage(
            views=views,
            scales=window,
            alpha=alpha
            * (2.0 ** min(window) if choices.alpha_scales == "finest" else 1.0)
            * (len(views) / len(length) if choices.alpha_views == "share" else 1.0),
            limit=choices.step_limit * step_limit(max(window), float(length[list(views)].max())),
            weighting=weighting,
        )
        for window in _windows(scales or recipe.scales, recipe.window)
        for views in (_rings(length) if recipe.rings else [tuple(range(len(length)))])
    ]


def course_of(options: Options, stages: int) -> Choices:
    """Return the choices, with those about the course of a run that depend on the method."""
    recipe, choices = RECIPES[options.method], options.choices
    if choices.run_end is None:
        whole_model = recipe.weighted and options.without is None
        choices = replace(choices, run_end="converged" if whole_model else "solves")
    if choices.stage_solves is None:
        choices = replace(choices, stage_solves=max(1, options.solves // stages) if recipe.rings else 0)
    return choices


def stages_of(scene: Scene, options: Options) -> list[Stage]:
    """Return the stages of a run on a scene."""
    return build(options.method, scene.baselines, options.alpha, options.scales, options.without, options.choices)


def _windows(scales: int, width: int | None) -> list[tuple[int, ...]]:
    """Return windows of `width` neighbouring scales, coarsest first; one window if all scales fit into it."""
    width = min(width or scales, scales)
    return [tuple(range(top, top - width, -1)) for top in range(scales - 1, width - 2, -1)]


def _rings(length: NDArray[np.float64]) -> list[tuple[int, ...]]:
    """Return growing sets of views, each with one more ring of about equal baselines."""
    radii = np.unique(length)
    # A ring ends where the next view is clearly farther, since calibrated cameras never stand at equal distances.
    ends = radii[np.append(np.diff(radii) > RING_GAP, True)]
    return [tuple(np.flatnonzero(length <= end).tolist()) for end in ends]
