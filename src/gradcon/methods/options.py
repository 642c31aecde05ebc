"""What a user may choose for an estimate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np

from gradcon.engines import BY_DEFAULT, PRINTED, Choices
from gradcon.errors import InputError
from gradcon.methods import registry
from gradcon.methods.schedules import RECIPES
from gradcon.scene.numbers import LARGEST, checked_numbers, checked_positive, checked_whole, shortly

PAPER_EPSILON = 2e-4
NAMES = [each.name for each in fields(Choices)]
LARGEST_NOISE = 1e3  # epsilon grows with its square


@dataclass(frozen=True)
class Options:
    """What a user may choose for an estimate.

    Parameters
    ----------
    method : str
        The occlusion-aware plane sweep `sweep`, the Gradient Consistency Model `gcm` of [1]_, or one of the paper's
        baselines: `coarse-to-fine`, `progressive`, `naive`.  All but the first have `alpha`, `epsilon`, `scales`,
        `solves`, `choices` and `use_inspection`, which `sweep` rejects; the others belong to all methods.
    alpha : float
        Weight of the smoothness term: alpha of eqn:Gen_optimization.
    epsilon : float, optional
        The acquisition noise, for pixels from 0 to 1: epsilon of eqn:exp_noise_pwr.  It is found from the images by
        default; the paper uses 2e-4.
    scales : int, optional
        Number of scales: Q, where q of eqn:sigma_q_defn runs from 0 to Q - 1.  It is found from the images by
        default for gcm and coarse-to-fine (the paper uses 3); the others have 1.  Use n scales for disparities of up to
        about 2^(n-1) pixels in the nearest view, on either side of the start.
    solves : int
        The largest number of solves of A x = b.  `gcm` ends earlier if its map has converged; the others take them all.
    without : str, optional
        An ingredient to leave out, for ablations.  Of `gcm`, a term of N^2 in eqn:exp_noise_pwr: `gradient` (the term
        of G) or `scale` (the term of O).  Of `sweep`, one of `colour`, `arms`, `near`, `noise`, `edges`, `surface` and
        `median`.
    disparity_range : (float, float), optional
        The lowest and the highest disparity to look for, in pixels per unit baseline.  Found in the views by default.
    noise : float, optional
        Standard deviation of the images' noise, for pixels from 0 to 1.  Measured by default.
    gains : bool
        Whether to compensate differences in brightness between the views.
    align : bool
        Whether to find out by how much the views are shifted, turned or scaled against each other, and compensate it.
    choices : Choices
        What to do where the paper leaves a choice, or where gradcon deviates from it by default.
    use_inspection : bool
        Whether the inspection of the views may leave out outliers and estimate the settings that are not given:
        epsilon, the number of scales, and the start.  If False, it only warns, and these settings are the paper's.

    References
    ----------
    .. [1] J. L. Gray, A. T. Naman and D. S. Taubman, "Multi-view Disparity Estimation Using a Novel Gradient
       Consistency Model", arXiv:2405.17029.  Equations carry the labels of its source.

    Examples
    --------
    >>> Options().method
    'sweep'
    >>> Options("gcm", alpha=0.2, scales=5).parameters()
    {'method': 'gcm', 'alpha': 0.2, 'epsilon': None, 'scales': 5, 'solves': 300, 'without': None, ...}
    """

    method: str = registry.DEFAULT
    alpha: float = 0.5
    epsilon: float | None = None
    scales: int | None = None
    solves: int = 300
    without: str | None = None
    disparity_range: tuple[float, float] | None = None
    noise: float | None = None
    gains: bool = True
    align: bool = False
    choices: Choices = BY_DEFAULT
    use_inspection: bool = True

    def __post_init__(self) -> None:
        for field in ("alpha", "epsilon", "noise"):
            if (value := getattr(self, field)) is not None or field == "alpha":
                largest = LARGEST_NOISE if field == "noise" else LARGEST
                object.__setattr__(self, field, checked_positive(field, value, largest=largest))
        for field, most in (("scales", 8), ("solves", 1_000_000)):
            if (value := getattr(self, field)) is not None or field == "solves":
                object.__setattr__(self, field, checked_whole(field, value, most))
        for field in ("gains", "align", "use_inspection"):
            if not isinstance(value := getattr(self, field), (bool, np.bool_)):
                raise InputError(field, f"{shortly(value)} is neither True nor False", "give one of the two")
            object.__setattr__(self, field, bool(value))
        object.__setattr__(self, "disparity_range", checked_range(self.disparity_range))
        if isinstance(self.choices, Mapping):  # as a record holds them
            if unknown := [name for name in self.choices if name not in NAMES]:
                raise InputError("choices", f"{shortly(unknown[0])} is none of them", f"use {', '.join(NAMES)}")
            object.__setattr__(self, "choices", Choices(**self.choices))
        if not isinstance(self.choices, Choices):
            raise InputError("choices", f"{shortly(self.choices)} are not Choices", "give gradcon.Choices(...)")
        registry.check(self.method, self.without)
        for each in fields(self):
            if each.name not in ("method", "without") and getattr(self, each.name) != each.default:
                registry.check_parameter(self.method, each.name)

    @classmethod
    def printed(cls, method: str = "gcm", **given: Any) -> Options:
        """Return the options that set everything that is not given to what the paper prints.

        That is its epsilon and its number of scales, the start at 0, no compensation, no view left out, all solves, and
        the printed form of each of `Choices`.

        Examples
        --------
        >>> Options.printed("naive").choices.unseen
        'coupled'
        >>> Options.printed("gcm", scales=6).scales
        6
        """
        registry.check_recipe(method)
        by_default = {"choices": PRINTED, "gains": False, "use_inspection": False}
        printed = cls(method, **{**by_default, **given})
        return replace(printed, epsilon=printed.noise_parameter, scales=printed.scales or RECIPES[method].scales)

    def as_in_the_paper(self) -> Options:
        """Return these options with the paper's settings in place of those that are not given, and no compensation.

        The choices stay as they are.
        """
        recipe = RECIPES.get(self.method)
        if recipe is None:
            return self
        return replace(self, epsilon=self.noise_parameter, scales=self.scales or recipe.scales, gains=False)

    @property
    def noise_parameter(self) -> float:
        """The epsilon that is given, or else the paper's."""
        return PAPER_EPSILON if self.epsilon is None else self.epsilon

    def parameters(self) -> dict[str, Any]:
        """Return the method and the parameters that it has."""
        own = ("method", "without", *registry.METHODS[self.method].parameters)
        found = {name: value for name, value in asdict(self).items() if name in own}
        return found | ({"choices": self.choices.differing()} if "choices" in found else {})


def checked_range(limits: Any) -> tuple[float, float] | None:
    """Return a range of disparities as two floats; refuse one that is none."""
    if limits is None:
        return None
    remedy = "give the lowest and the highest, such as (-2, 3)"
    ends = checked_numbers("disparity_range", f"the ends {shortly(limits)}", limits, remedy)
    if ends.shape != (2,) or not np.isfinite(ends).all() or not ends[0] < ends[1]:
        raise InputError("disparity_range", f"{shortly(limits)} is not a range of disparities", remedy)
    if np.abs(ends).max() > LARGEST:
        problem = f"{shortly(limits)} is too large to compute with"
        raise InputError("disparity_range", problem, f"give numbers from {-LARGEST:g} to {LARGEST:g}")
    return float(ends[0]), float(ends[1])
