"""How close a user gets who sets nothing: every scene with nothing set, and with the best settings known for it.

The best settings are searched for in two parts: all numbers of scales with all epsilons, and then alpha around the best
of these.
"""

from __future__ import annotations

from dataclasses import asdict
from itertools import product
from typing import Any

from gradcon.experiments.datasets import Dataset, KnownScene
from gradcon.experiments.experiment import Column, Context, Experiment, Findings, Row, mean
from gradcon.experiments.trial import run_cost, trial_job
from gradcon.io import open_scene
from gradcon.jobs import Job, Outcome, Outcomes
from gradcon.methods.estimation import estimate
from gradcon.methods.options import PAPER_EPSILON, Options

SCALES = {"hci": (2, 3, 4), "middlebury": (2, 3, 4, 5, 6, 7)}
EPSILONS = (PAPER_EPSILON, 2e-3, 1e-2)
ALPHAS = (0.25, 1.0)  # besides the default
CLOSE = 1.03  # times the best RMSE
NOTHING_SET = ("gcm", "sweep")
COLUMNS = [
    Column("label", "scene", "s"),
    Column("best_setting", "best setting of gcm", "s"),
    Column("best", "its RMSE"),
    Column("gcm", "gcm, nothing set"),
    Column("gcm_excess", "above the best (%)", "+.0f"),
    Column("found", "what it found", "s"),
    Column("sweep", "sweep, nothing set"),
    Column("sweep_excess", "above the best (%)", "+.0f"),
]


def nothing_set(method: str, views: str, engine: str, folder: str) -> Outcome:
    """Estimate a scene as a user does who knows nothing about it."""
    result = estimate(open_scene(folder, views=views), Options(method), engine=engine, check_directions=False)
    assert result.metrics is not None
    return Outcome({"rmse": result.metrics["rmse"], "parameters": result.parameters})


def jobs(context: Context) -> list[Job]:
    """Return the runs with nothing set, and those over scales and epsilon."""
    found = []
    for kind, scene in _scenes(context):
        found += [_nothing_set(context, kind, scene, method) for method in NOTHING_SET]
        found += [_trial(context, kind, scene, options) for options in _grid(context, kind)]
    return found


def follow_up(context: Context, outcomes: Outcomes) -> list[Job]:
    """Return the runs over alpha, around the best scales and epsilon of each scene."""
    found = []
    for kind, scene in _scenes(context):
        tried = _tried(context, outcomes, kind, scene, _grid(context, kind))
        if tried:
            found += [_trial(context, kind, scene, options) for options in _other_alphas(context, tried)]
    return found


def conclude(context: Context, outcomes: Outcomes) -> Findings:
    rows: dict[str, Row] = {}
    for kind, scene in _scenes(context):
        row = _row(context, outcomes, kind, scene)
        if row is not None:
            rows[f"{kind}-{scene.name}"] = row
    if not rows:
        return Findings()
    close = {method: sum(row[method] <= CLOSE * row["best"] for row in rows.values()) for method in NOTHING_SET}
    excess = {method: mean(row[f"{method}_excess"] for row in rows.values()) for method in NOTHING_SET}
    return Findings(
        rows=rows,
        columns=COLUMNS,
        notes=[
            f"{method} with nothing set is at most 3 % above the best setting of gcm on {close[method]} of {len(rows)} "
            f"scenes; on average it is {excess[method]:+.0f} %."
            for method in NOTHING_SET
        ],
    )


def _row(context: Context, outcomes: Outcomes, kind: str, scene: KnownScene) -> Row | None:
    grid = _tried(context, outcomes, kind, scene, _grid(context, kind))
    alone = {method: outcomes[_nothing_set(context, kind, scene, method)] for method in NOTHING_SET}
    if not grid or None in alone.values():
        return None
    tried = grid | _tried(context, outcomes, kind, scene, _other_alphas(context, grid))
    best = min(tried, key=tried.__getitem__)
    row: Row = {"label": scene.name, "best": tried[best], "rmse": tried[best], "best_setting": _words(asdict(best))}
    for method, outcome in alone.items():
        assert outcome is not None
        row[method] = outcome.record["rmse"]
        row[f"{method}_excess"] = 100 * (row[method] / row["best"] - 1)
    assert alone["gcm"] is not None
    row["found"] = _words(alone["gcm"].record["parameters"])
    row["tried"] = {_words(asdict(options)): rmse for options, rmse in tried.items()}
    return row


def _words(parameters: dict[str, Any]) -> str:
    start = parameters.get("initial")
    words = f"{parameters['scales']} scales, alpha {parameters['alpha']:g}, epsilon {parameters['epsilon']:.2g}"
    return words + (f", from {start:.3g}" if isinstance(start, float) and start else "")


def _scenes(context: Context) -> list[tuple[str, KnownScene]]:
    def wanted(dataset: Dataset) -> list[KnownScene]:
        return dataset.spread(1) if context.setup.quick else dataset.scenes

    return [(kind, scene) for kind in SCALES if kind in context.datasets for scene in wanted(context.datasets[kind])]


def _grid(context: Context, kind: str) -> list[Options]:
    scales, epsilons = (SCALES[kind][1:2], EPSILONS[:2]) if context.setup.quick else (SCALES[kind], EPSILONS)
    return [Options("gcm", scales=q, epsilon=e, solves=context.setup.solves) for q, e in product(scales, epsilons)]


def _other_alphas(context: Context, tried: dict[Options, float]) -> list[Options]:
    best = asdict(min(tried, key=tried.__getitem__))
    return [Options(**{**best, "alpha": alpha}) for alpha in (ALPHAS[:1] if context.setup.quick else ALPHAS)]


def _tried(
    context: Context, outcomes: Outcomes, kind: str, scene: KnownScene, settings: list[Options]
) -> dict[Options, float]:
    """Return the RMSE of each of these settings whose run is done."""
    done = {options: outcomes[_trial(context, kind, scene, options)] for options in settings}
    return {options: outcome.record["rmse"][-1] for options, outcome in done.items() if outcome is not None}


def _trial(context: Context, kind: str, scene: KnownScene, options: Options) -> Job:
    return trial_job(scene, context.datasets[kind].kind.views, options, context.setup.engine)


def _nothing_set(context: Context, kind: str, scene: KnownScene, method: str) -> Job:
    return Job(
        function=nothing_set,
        parameters={"method": method, "views": context.datasets[kind].kind.views, "engine": context.setup.engine},
        inputs=scene.sha256,
        label=f"{scene.name}, {method}, nothing set",
        where={"folder": str(scene.folder)},
        cost=run_cost(Options("gcm"), scene),
    )


EXPERIMENT = Experiment(
    "Nothing set, and the best settings",
    "not part of it; this shows how much a user could gain by tuning",
    "hci",
    jobs,
    conclude,
    follow_up,
    also_uses=("middlebury",),
)
