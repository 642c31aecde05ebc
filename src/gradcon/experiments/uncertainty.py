"""How well the predicted standard deviation fits the true error, on every scene.

The paper does not evaluate this, but the prediction follows from its model.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from gradcon.experiments.datasets import Dataset
from gradcon.experiments.experiment import Column, Context, Experiment, Findings, Picture, Row, mean
from gradcon.experiments.middlebury import SCALES
from gradcon.experiments.trial import run_cost
from gradcon.io import open_scene
from gradcon.jobs import Job, Outcome, Outcomes
from gradcon.methods.estimation import estimate
from gradcon.methods.options import Options
from gradcon.pictures import figures
from gradcon.result.uncertainty import evaluate_uncertainty, ratio

KINDS = ("hci", "middlebury")
COLUMNS = [
    Column("label", "scene", "s"),
    Column("reduction_20", "RMSE reduction without the least certain fifth (%)", ".1f"),
    Column("reduction_20_oracle", "best possible (%)", ".1f"),
    Column("median_predicted", "median predicted deviation"),
    Column("median_error", "median error"),
    Column("ratio", "ratio", ".2f"),
    Column("within|1", "errors within 1 deviation (%)", ".0f"),
    Column("within|2", "within 2 (%)", ".0f"),
    Column("within|3", "within 3 (%)", ".0f"),
]
MEANS = ("reduction_20", "reduction_20_oracle", "median_predicted", "median_error")


def uncertainty_trial(options: dict[str, Any], views: str, engine: str, folder: str) -> Outcome:
    """Estimate a scene and compare its uncertainty with the true error."""
    scene = open_scene(folder, views=views)
    result = estimate(scene, Options(**options), engine=engine, check_directions=False)
    assert scene.ground_truth is not None
    return Outcome(evaluate_uncertainty(result.disparity, result.uncertainty, scene.ground_truth))


def jobs(context: Context) -> list[Job]:
    return [job for kind in _kinds(context) for job in _jobs(context, kind).values()]


def conclude(context: Context, outcomes: Outcomes) -> Findings:
    rows: dict[str, Row] = {}
    groups: dict[str, list[Row]] = {}
    for kind, dataset in _kinds(context).items():
        done = {name: outcomes[job] for name, job in _jobs(context, kind).items()}
        found = {name: outcome.record for name, outcome in done.items() if outcome is not None}
        if found:
            rows |= {f"{kind}-{name}": {"label": name, **record} for name, record in found.items()}
            rows[f"{kind}-mean"] = _mean(f"mean of {dataset.kind.label}", list(found.values()))
            groups[dataset.kind.label] = list(found.values())
    if not rows:
        return Findings()
    caption = (
        "Left: RMSE of the pixels that remain after the least certain ones are dropped, relative to that of all "
        "pixels; mean over scenes. Right: median error against predicted deviation, with a line for each scene and a "
        "dot for each twentieth of its pixels."
    )
    return Findings(
        rows=rows,
        columns=COLUMNS,
        pictures=[Picture("uncertainty", caption, lambda: figures.uncertainty(groups))],
    )


def _kinds(context: Context) -> dict[str, Dataset]:
    return {kind: context.datasets[kind] for kind in KINDS if kind in context.datasets}


def _jobs(context: Context, kind: str) -> dict[str, Job]:
    """Return a job for each scene, by its name."""
    dataset, setup = context.datasets[kind], context.setup
    scales = SCALES if kind == "middlebury" else None
    options = Options("gcm", solves=setup.solves, scales=scales).as_in_the_paper()
    return {
        scene.name: Job(
            function=uncertainty_trial,
            parameters={"options": asdict(options), "views": dataset.kind.views, "engine": setup.engine},
            inputs=scene.sha256,
            label=f"{scene.name}, uncertainty",
            where={"folder": str(scene.folder)},
            cost=run_cost(options, scene),
        )
        for scene in dataset.scenes
    }


def _mean(label: str, records: list[Row]) -> Row:
    row: Row = {"label": label, **{key: mean(record[key] for record in records) for key in MEANS}}
    row["ratio"] = ratio(row["median_predicted"], row["median_error"])
    row["within"] = {k: mean(record["within"][k] for record in records) for k in ("1", "2", "3")}
    return row


EXPERIMENT = Experiment(
    "Uncertainty",
    "not part of it; the first appendix derives the error that the weights leave",
    "hci",
    jobs,
    conclude,
    also_uses=("middlebury",),
    pictures=("uncertainty",),
)
