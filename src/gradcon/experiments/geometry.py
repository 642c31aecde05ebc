"""The paper's remark on general couplings: one synthetic scene, seen by a planar array and by rotated cameras."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from gradcon import synth
from gradcon.experiments.datasets import KINDS
from gradcon.experiments.experiment import Claim, Column, Context, Experiment, Findings, Row, above, mean
from gradcon.experiments.methods import COARSE_TO_FINE, GCM
from gradcon.experiments.trial import fair
from gradcon.jobs import Job, Outcome, Outcomes
from gradcon.methods.loop import minimise
from gradcon.methods.options import Options
from gradcon.result.metrics import evaluate

RIGS = {"parallel": "planar array", "rotated": "rotated, not coplanar"}
SIZE = 256
SEEDS = (0, 1, 2)
METHODS = (COARSE_TO_FINE, GCM)


def jobs(context: Context) -> list[Job]:
    return [job for rig in RIGS for method in METHODS for job in _jobs(context, rig, method.options).values()]


def conclude(context: Context, outcomes: Outcomes) -> Findings:
    rows: dict[str, Row] = {}
    for rig, rig_label in RIGS.items():
        for method in METHODS:
            done = {name: outcomes[job] for name, job in _jobs(context, rig, method.options).items()}
            records = {name: outcome.record for name, outcome in done.items() if outcome is not None}
            if len(records) < len(done):
                return Findings()
            scenes = {name: record["rmse"] for name, record in records.items()}
            rows[f"{rig}-{method.key}"] = {
                "label": f"{method.label}, {rig_label}",
                "rmse": mean(scenes.values()),
                "badpix_007": mean(record["badpix_007"] for record in records.values()),
                "solves": {name: record["solves"] for name, record in records.items()},
                "alphas": [Options.alpha],
                "scenes": scenes,
            }
    planar, rotated = rows["parallel-gcm"]["rmse"], rows["rotated-gcm"]["rmse"]
    return Findings(
        rows=rows,
        columns=[
            Column("label", "method and cameras", "s"),
            Column("rmse", "RMSE"),
            Column("badpix_007", "BadPix 0.07 (%)", ".1f"),
        ],
        claims=[
            Claim(
                "couplings",
                rotated < 1.1 * planar,
                f"RMSE is {planar:.4f} with parallel cameras and {rotated:.4f} with rotated cameras that are not "
                f"coplanar ({above(rotated, planar):+.1f} %).",
            ),
            Claim(
                "other-problems",
                None,
                "This is outside the package, which estimates disparity only and neither optical flow nor scene flow.",
            ),
        ],
        notes=[f"There are 17 views of {SIZE} x {SIZE} pixels. Alpha is 0.5; textures: {len(_seeds(context))}."],
    )


def rendered_trial(rig: str, size: int, seed: int, options: dict[str, Any], engine: str) -> Outcome:
    """Render a scene, estimate its disparity and evaluate that."""
    scene = synth.render(rig, size=(size, size), seed=seed)
    run = minimise(scene, Options(**options), engine=engine)
    assert scene.ground_truth is not None
    return Outcome({**evaluate(run.disparity(), scene.ground_truth), "solves": len(run.history)})


def _jobs(context: Context, rig: str, options: Options) -> dict[str, Job]:
    choices = fair(options.choices, KINDS["hci"], context.setup)
    return {
        f"{rig}, texture {seed}": Job(
            function=rendered_trial,
            parameters={
                "rig": rig,
                "size": SIZE,
                "seed": seed,
                "options": asdict(replace(options, solves=context.setup.solves, choices=choices)),
                "engine": context.setup.engine,
            },
            inputs="",  # the scene is rendered from the parameters
            label=f"{rig} cameras, {options.method}, texture {seed}",
            cost=5.0,
        )
        for seed in _seeds(context)
    }


def _seeds(context: Context) -> tuple[int, ...]:
    return SEEDS[:1] if context.setup.quick else SEEDS


EXPERIMENT = Experiment(
    "Planar array and rotated cameras",
    "the remark on couplings other than that of a planar array",
    None,
    jobs,
    conclude,
    chooses_alpha=False,
)
