"""Whether the predicted standard deviation means what it says, on every scene: not in the paper, but of its model."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from gradcon.experiments.datasets import Dataset
from gradcon.experiments.experiment import Column, Context, Findings, Picture, Row
from gradcon.experiments.middlebury import SCALES
from gradcon.experiments.trial import run_cost
from gradcon.io import open_scene
from gradcon.jobs import Job, Outcome, Outcomes
from gradcon.jobs.job import sha256_of, sha256_of_source
from gradcon.methods.estimation import estimate
from gradcon.methods.options import Options
from gradcon.pictures import figures
from gradcon.result import uncertainty
from gradcon.result.uncertainty import evaluate_uncertainty, ratio

TITLE = "Uncertainty"
PAPER = "not there; the first appendix gives the error that the weights leave"
NEEDS = "hci"
USES = ("hci", "middlebury")
PICTURES = ("uncertainty",)

COLUMNS = [
    Column("label", "scene", "s"),
    Column("reduction_20", "a fifth dropped lowers RMSE by (%)", ".1f"),
    Column("reduction_20_oracle", "at best (%)", ".1f"),
    Column("median_predicted", "median predicted deviation"),
    Column("median_error", "median error"),
    Column("ratio", "ratio", ".2f"),
    Column("within|1", "errors within 1 deviation (%)", ".0f"),
    Column("within|2", "within 2 (%)", ".0f"),
    Column("within|3", "within 3 (%)", ".0f"),
]
MEANS = ("reduction_20", "reduction_20_oracle", "median_predicted", "median_error")


def uncertainty_trial(options: dict[str, Any], views: str, engine: str, folder: str) -> Outcome:
    """Estimate a scene, and compare its uncertainty with the truth."""
    scene = open_scene(folder, views=views)
    result = estimate(scene, Options(**options), engine=engine, check_directions=False)
    assert scene.ground_truth is not None
    return Outcome(evaluate_uncertainty(result.disparity, result.uncertainty, scene.ground_truth))


def jobs(context: Context) -> list[Job]:
    return [job for kind in _kinds(context) for job in _jobs(context, kind).values()]


def conclude(context: Context, report: Outcomes) -> Findings:
    rows: dict[str, Row] = {}
    groups: dict[str, list[Row]] = {}
    for kind, dataset in _kinds(context).items():
        outcomes = {name: report[job] for name, job in _jobs(context, kind).items()}
        found = {name: outcome.record for name, outcome in outcomes.items() if outcome is not None}
        if found:
            rows |= {f"{kind}-{name}": {"label": name, **record} for name, record in found.items()}
            rows[f"{kind}-mean"] = _mean(f"mean of {dataset.kind.label}", list(found.values()))
            groups[dataset.kind.label] = list(found.values())
    if not rows:
        return Findings()
    caption = (
        "Left: RMSE after dropping the least confident pixels, as a share of the RMSE of all, mean over scenes. Right: "
        "median error against predicted deviation, a line for each scene, a dot for each twentieth of its pixels."
    )
    return Findings(
        rows=rows,
        columns=COLUMNS,
        pictures=[Picture("uncertainty", caption, lambda: figures.uncertainty(groups))],
    )


def _kinds(context: Context) -> dict[str, Dataset]:
    return {kind: context.datasets[kind] for kind in USES if kind in context.datasets}


def _jobs(context: Context, kind: str) -> dict[str, Job]:
    """One for each scene, by its name."""
    dataset, plan = context.datasets[kind], context.plan
    options = Options(solves=plan.solves, scales=SCALES if kind == "middlebury" else None)
    return {
        entry.name: Job(
            function=uncertainty_trial,
            parameters={"options": asdict(options), "views": dataset.kind.views, "engine": plan.engine},
            inputs=sha256_of([entry.sha256, sha256_of_source(uncertainty)]),
            label=f"{entry.name}, uncertainty",
            where={"folder": str(entry.folder)},
            cost=run_cost(options, entry),
        )
        for entry in dataset.entries
    }


def _mean(label: str, records: list[Row]) -> Row:
    row: Row = {"label": label, **{key: float(np.mean([record[key] for record in records])) for key in MEANS}}
    row["ratio"] = ratio(row["median_predicted"], row["median_error"])
    row["within"] = {k: float(np.mean([record["within"][k] for record in records])) for k in ("1", "2", "3")}
    return row
