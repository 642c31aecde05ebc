"""What each choice costs or gains that the paper leaves open, or that gradcon makes otherwise: each changed alone."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any

from gradcon.engines import BY_DEFAULT, PRINTED, Choices
from gradcon.experiments.counts import COUNT_COLUMNS, Record, count
from gradcon.experiments.datasets import KnownScene
from gradcon.experiments.experiment import Column, Context, Experiment, Findings, Row, above, mean
from gradcon.experiments.methods import COARSE_TO_FINE, GCM, PROGRESSIVE, Contender
from gradcon.experiments.trial import fair, trial_job
from gradcon.jobs import Job, Outcomes
from gradcon.methods.options import Options

NAME = "choices"
ALPHA = 0.5
QUICK_SCENES = 2
NO_LIMIT = 0  # as the number of solves of a stage


@dataclass(frozen=True)
class Variation:
    """A choice that is made in another way than gradcon's, by one method.

    Parameters
    ----------
    choice : str
        A field of `Choices`.
    ours, other : Any
        Its value in gradcon, and the value to compare that with: the printed one if that differs.
    why : str
        Why gradcon chooses as it does.
    who : Contender
        The method that the choice is about.
    authors : str
        What the authors' scripts do, where that is known.
    alpha : float
        Alpha with the other value.
    """

    choice: str
    ours: Any
    other: Any
    why: str
    who: Contender = GCM
    authors: str = ""
    alpha: float = ALPHA


_WEIGHT = "Alpha keeps its meaning of earlier versions; half of it with the whole weight is the same after one solve."
_LIMIT = "The paper found its limit by experiment."
VARIATIONS = (
    Variation(
        "scale_term",
        "coarser",
        "every",
        "At the finest scale the two equations that O compares are the same one, so that nothing can be inconsistent.",
    ),
    Variation(
        "unseen",
        "uncoupled",
        "coupled",
        "The copy of the reference fits perfectly, so that it would hold the disparity where it is.",
    ),
    Variation(
        "sectors",
        "fading",
        "closed",
        "The views of a cross lie on the borders of sectors, where the slightest turn moves them into another one.",
    ),
    Variation("smoothness", "isotropic", "anisotropic", "The length of the gradient prefers no direction."),
    Variation("smoothness_weight", "half", "whole", _WEIGHT),
    Variation("smoothness_weight", "half", "whole", _WEIGHT, alpha=ALPHA / 2),
    Variation("filters", "cascade", "gaussians", "The cost of a scale does not grow with its width."),
    Variation("widths", "equal", "composed", "The paper defines one width and uses two."),
    Variation(
        "stage_end",
        "few",
        "none",
        "A few pixels of a large image may meet the limit for ever.",
        COARSE_TO_FINE,
    ),
    Variation(
        "stage_solves",
        NO_LIMIT,
        100,
        "Only progressive inclusion needs a limit, so that all views come in: an equal share of the solves.",
        COARSE_TO_FINE,
        authors="100",
    ),
    Variation(
        "run_end",
        "converged",
        "solves",
        "More solves than until the map has converged hardly change it; other methods take all solves.",
    ),
    *(Variation("step_limit", 1.0, factor, _LIMIT, who) for factor in (0.5, 2.0) for who in (GCM, COARSE_TO_FINE)),
    Variation(
        "alpha_scales",
        "finest",
        "same",
        "Gradients, and with them the data term, are weaker at coarse scales.",
        COARSE_TO_FINE,
    ),
    Variation("alpha_views", "share", "same", "Fewer views make a weaker data term.", PROGRESSIVE),
)
ALL = "all as printed"


def jobs(context: Context) -> list[Job]:
    settings = _settings(context).values()
    return [_job(context, scene, options) for scene in _scenes(context) for options in settings]


def conclude(context: Context, outcomes: Outcomes) -> Findings:
    records: dict[Hashable, dict[str, Record]] = {}  # by setting and scene, of the scenes on which all runs are done
    settings = _settings(context)
    for scene in _scenes(context):
        done = {key: outcomes[_job(context, scene, options)] for key, options in settings.items()}
        if None not in done.values():
            for key, outcome in done.items():
                assert outcome is not None
                records.setdefault(key, {})[scene.name] = outcome.record
    if not records:
        return Findings()
    rows = {
        f"{number:02d}-{change.choice}": {
            "choice": change.choice,
            "ours": _text(change, change.ours),
            "printed": _text(change, getattr(PRINTED, change.choice)),
            "authors": change.authors,
            "other": _text(change, change.other),
            **_effect(change.who, change.alpha, records["ours", number], records["other", number]),
            "why": change.why,
        }
        for number, change in enumerate(VARIATIONS, 1)
    }
    for who in (GCM, COARSE_TO_FINE):
        for alpha in (ALPHA, ALPHA / 2):
            rows[f"all-{who.key}-{alpha:g}"] = {
                "choice": ALL,
                **_effect(who, alpha, records["ours", who], records["printed", who, alpha]),
            }
    return Findings(
        rows=rows,
        columns=[
            Column("choice", "choice", "s"),
            Column("printed", "printed", "s"),
            Column("authors", "authors' code", "s"),
            Column("ours", "gradcon", "s"),
            Column("other", "changed to", "s"),
            Column("method", "method", "s"),
            Column("alpha", "alpha then", "g"),
            Column("rmse_ours", "RMSE, gradcon"),
            Column("rmse", "RMSE, changed"),
            Column("change_percent", "change (%)", "+.1f"),
            Column("worse", "worse on", "s"),
            *COUNT_COLUMNS,
            Column("why", "why gradcon chooses so", "s"),
        ],
        notes=[
            f"The values are means over these scenes: {', '.join(next(iter(records.values())))}. One choice is changed "
            f"at a time; all runs have alpha {ALPHA:g} unless the table says otherwise, take all solves, and end a "
            "stage as in the other experiments, unless the choice is about that. The counts are of the changed runs."
        ],
    )


def _settings(context: Context) -> dict[Hashable, Options]:
    """Return all settings: of each change ours and the other one, and those with everything as printed."""
    kind, setup = context.datasets["hci"].kind, context.setup

    def options(who: Contender, alpha: float, choices: Choices, **changed: Any) -> Options:
        choices = replace(fair(choices, kind, setup), **changed)
        return replace(who.options, alpha=alpha, solves=setup.solves, choices=choices)

    settings: dict[Hashable, Options] = {}
    for number, change in enumerate(VARIATIONS, 1):
        settings["ours", number] = options(change.who, ALPHA, BY_DEFAULT, **{change.choice: change.ours})
        settings["other", number] = options(change.who, change.alpha, BY_DEFAULT, **{change.choice: change.other})
    for who in (GCM, COARSE_TO_FINE):
        settings["ours", who] = options(who, ALPHA, BY_DEFAULT)
        settings |= {("printed", who, alpha): options(who, alpha, PRINTED) for alpha in (ALPHA, ALPHA / 2)}
    return settings


def _scenes(context: Context) -> list[KnownScene]:
    dataset = context.datasets["hci"]
    return dataset.spread(QUICK_SCENES) if context.setup.quick else dataset.scenes


def _job(context: Context, scene: KnownScene, options: Options) -> Job:
    return trial_job(scene, context.datasets["hci"].kind.views, options, context.setup.engine)


def _effect(who: Contender, alpha: float, ours: dict[str, Record], other: dict[str, Record]) -> Row:
    before, after = ({name: record["rmse"][-1] for name, record in records.items()} for records in (ours, other))
    rmse_ours, rmse = mean(before.values()), mean(after.values())
    worse = sum(after[name] > before[name] for name in before)
    return {
        "method": who.label,
        "alpha": alpha,
        "rmse_ours": rmse_ours,
        "rmse": rmse,
        "change_percent": above(rmse, rmse_ours),
        "worse": "none: all equal" if after == before else f"{worse} of {len(before)}",
        "scenes": after,
        "scenes_ours": before,
        **count(other.values()),
    }


def _text(change: Variation, value: Any) -> str:
    if change.choice == "stage_solves":
        return str(value or "no limit")
    return f"{value:g}" if isinstance(value, float) else str(value)


EXPERIMENT = Experiment(
    "What the choices do",
    "the places where it leaves a choice, or where gradcon makes another one",
    "hci",
    jobs,
    conclude,
    chooses_alpha=False,
)
