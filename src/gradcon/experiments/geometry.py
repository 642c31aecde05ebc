"""The paper's remark on general couplings: one synthetic scene, seen by a planar array and by turned cameras."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import numpy as np

from gradcon import synth
from gradcon.experiments.experiment import Claim, Column, Context, Findings, Row
from gradcon.experiments.methods import COARSE_TO_FINE, GCM
from gradcon.jobs import Job, Outcome, Outcomes
from gradcon.jobs.job import sha256_of_source
from gradcon.methods.loop import minimise
from gradcon.methods.options import Options
from gradcon.result.metrics import evaluate
from gradcon.synth import raycast, textures

TITLE = "Planar array and turned cameras"
PAPER = "remark on couplings other than a planar array's"
NEEDS = None
PICTURES = ()

RIGS = {"parallel": "planar array", "rotated": "turned, not coplanar"}
SIZE = 256
SEEDS = (0, 1, 2)
METHODS = (COARSE_TO_FINE, GCM)


def jobs(context: Context) -> list[Job]:
    return [job for rig in RIGS for method in METHODS for job in _jobs(context, rig, method.options).values()]


def conclude(context: Context, report: Outcomes) -> Findings:
    rows: dict[str, Row] = {}
    for rig, rig_label in RIGS.items():
        for method in METHODS:
            outcomes = {name: report[job] for name, job in _jobs(context, rig, method.options).items()}
            records = {name: outcome.record for name, outcome in outcomes.items() if outcome is not None}
            if len(records) < len(outcomes):
                return Findings()
            scenes = {name: record["rmse"] for name, record in records.items()}
            rows[f"{rig}-{method.key}"] = {
                "label": f"{method.label}, {rig_label}",
                "rmse": float(np.mean(list(scenes.values()))),
                "badpix_007": float(np.mean([record["badpix_007"] for record in records.values()])),
                "solves": {name: record["solves"] for name, record in records.items()},
                "alphas": [Options.alpha],
                "scenes": scenes,
            }
    planar, turned = rows["parallel-gcm"]["rmse"], rows["rotated-gcm"]["rmse"]
    return Findings(
        rows=rows,
        columns=[
            Column("label", "method and cameras", "s"),
            Column("rmse", "RMSE"),
            Column("badpix_007", "BadPix 0.07 (%)", ".1f"),
        ],
        claims=[
            Claim(
                "The model extends to other couplings than that of a planar array.",
                turned < 1.1 * planar,
                f"RMSE {planar:.4f} with parallel cameras, {turned:.4f} with turned ones that are not coplanar "
                f"({100 * (turned / planar - 1):+.1f} %).",
            )
        ],
        notes=[f"17 views of {SIZE} x {SIZE} pixels, alpha 0.5, textures: {len(_seeds(context))}."],
    )


def rendered_trial(rig: str, size: int, seed: int, options: dict[str, Any], engine: str) -> Outcome:
    """Render a scene and estimate it."""
    scene = synth.render(rig, size=(size, size), seed=seed)
    run = minimise(scene, Options(**options), engine=engine)
    assert scene.ground_truth is not None
    return Outcome({**evaluate(run.disparity(), scene.ground_truth), "solves": len(run.history)})


def _jobs(context: Context, rig: str, options: Options) -> dict[str, Job]:
    return {
        f"{rig}, texture {seed}": Job(
            function=rendered_trial,
            parameters={
                "rig": rig,
                "size": SIZE,
                "seed": seed,
                "options": asdict(replace(options, solves=context.plan.solves)),
                "engine": context.plan.engine,
            },
            inputs=sha256_of_source(synth, raycast, textures),
            label=f"{rig} cameras, {options.method}, texture {seed}",
            cost=5.0,
        )
        for seed in _seeds(context)
    }


def _seeds(context: Context) -> tuple[int, ...]:
    return SEEDS[:1] if context.plan.quick else SEEDS
