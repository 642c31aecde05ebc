"""The places where the paper leaves a choice or gradcon deviates from it, each with the values it can have.

`Choices()` is what gradcon does by default, and `PRINTED` what the paper prints.  The first seven choices are about the
arithmetic of a step, and engines make them; the others are about the course of a run, and `gradcon.methods` makes them.
The documentation's page *The paper and this package* gives the effect of each on the results.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from gradcon.errors import InputError
from gradcon.scene.numbers import checked_positive, shortly, whole_number


@dataclass(frozen=True)
class Choices:
    """What to do where the paper leaves a choice, or where gradcon deviates from it by default.

    Parameters
    ----------
    scale_term : {"coarser", "every"}
        The scales that have a scale inconsistency O of eqn:SpatialInconsistency_U.  Printed: every scale.  By default
        only the scales above q = 0, because nothing can be inconsistent with itself.
    unseen : {"uncoupled", "coupled"}
        How a pixel that a view does not see depends on the disparity there.  The reference is copied to it in either
        case.  Printed: as any other pixel.  By default not at all, because the copy would hold the disparity in place.
    sectors : {"fading", "closed"}
        Which views limit each other's weights.  Printed: those that share one of eight closed sectors.  By default
        those in the same direction, by a share that fades with the angle between them.
    smoothness : {"isotropic", "anisotropic"}
        The norm of eqn:RegTerm.  Printed: the L1 norm of the gradient, |w_x| + |w_y|.  By default its length, which
        prefers no direction.
    smoothness_weight : {"half", "whole"}
        The weight of the smoothness in a reweighted solve.  Printed: as eqn:Gen_optimization follows from it.  By
        default half of it, so that alpha means what it did in earlier versions.
    filters : {"cascade", "gaussians"}
        How coarse scales are made.  Printed: each by a Gaussian.  By default each from the next finer one, by a cascade
        of short filters that comes close to the Gaussians.
    widths : {"equal", "composed"}
        The width sigma'_q of the filter that makes scale q.  eqn:sigma_q_defn prints one formula, for sigma_q; by
        default both have it.  Composed, as fig:scale_diagram has it: sigma'_q^2 = sigma'_0^2 + sigma_q^2 for q > 0.
    stage_end : {"few", "none"}
        When a stage ends.  Printed: after a solve in which no pixel met the limit.  By default also when only a few did
        and the others hardly moved.
    stage_solves : int, optional
        The most solves of a stage before the last one; 0 for no such number, as printed.  The authors' scripts have
        100.  By default progressive inclusion gives each stage an equal share of the solves, so that all views come in,
        and the other methods give a stage what it needs.
    run_end : {"converged", "solves"}, optional
        When a run ends.  Printed: when it has converged, which is not defined, or with the number of solves, as
        "solves" has it.  By default `gcm` ends when its map has converged.  The other methods, and ablations of the
        model, take all solves, because the rule that tells when a map has converged is validated for `gcm` alone.
    step_limit : float
        The limit M of eqn:Limit_scheme_multi is multiplied by this; printed: 1.
    alpha_scales : {"finest", "same"}
        By how much alpha grows at coarse scales.  Printed: not at all.  By default with 2^q of the finest scale in use.
    alpha_views : {"share", "same"}
        What alpha is while only some of the views are in use.  Printed: the same.  By default it is multiplied by the
        share of the views in use.

    Examples
    --------
    >>> Choices(unseen="coupled").differing()
    {'unseen': 'coupled'}
    """

    scale_term: str = "coarser"
    unseen: str = "uncoupled"
    sectors: str = "fading"
    smoothness: str = "isotropic"
    smoothness_weight: str = "half"
    filters: str = "cascade"
    widths: str = "equal"
    stage_end: str = "few"
    stage_solves: int | None = None
    run_end: str | None = None
    step_limit: float = 1.0
    alpha_scales: str = "finest"
    alpha_views: str = "share"

    def __post_init__(self) -> None:
        for name, allowed in VALUES.items():
            value = getattr(self, name)
            known = isinstance(value, str) and value in allowed
            if not known and not (name == "run_end" and value is None):
                raise InputError(name, f"{shortly(value)} is not one of {', '.join(allowed)}", "choose one of these")
        if self.stage_solves is not None:
            solves = whole_number(self.stage_solves)
            if solves is None or solves < 0:
                problem = f"{shortly(self.stage_solves)} is not a number of solves"
                raise InputError("stage_solves", problem, "give a whole number; 0 for no limit")
            object.__setattr__(self, "stage_solves", solves)
        object.__setattr__(self, "step_limit", checked_positive("step_limit", self.step_limit))

    def of_a_step(self) -> tuple[str, ...]:
        """Return the choices that engines make."""
        return (
            self.scale_term,
            self.unseen,
            self.sectors,
            self.smoothness,
            self.smoothness_weight,
            self.filters,
            self.widths,
        )

    def differing(self) -> dict[str, Any]:
        """Return the choices that are not made as by default."""
        return {each.name: value for each in fields(self) if (value := getattr(self, each.name)) != each.default}


VALUES = {
    "scale_term": ("coarser", "every"),
    "unseen": ("uncoupled", "coupled"),
    "sectors": ("fading", "closed"),
    "smoothness": ("isotropic", "anisotropic"),
    "smoothness_weight": ("half", "whole"),
    "filters": ("cascade", "gaussians"),
    "widths": ("equal", "composed"),
    "stage_end": ("few", "none"),
    "run_end": ("converged", "solves"),
    "alpha_scales": ("finest", "same"),
    "alpha_views": ("share", "same"),
}

BY_DEFAULT = Choices()
PRINTED = Choices(
    scale_term="every",
    unseen="coupled",
    sectors="closed",
    smoothness="anisotropic",
    smoothness_weight="whole",
    filters="gaussians",
    stage_end="none",
    stage_solves=0,
    run_end="solves",
    alpha_scales="same",
    alpha_views="same",
)
