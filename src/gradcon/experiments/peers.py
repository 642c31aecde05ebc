"""What a user would try otherwise: stereo and optical flow of OpenCV and scikit-image, beside ours."""

from __future__ import annotations

import time
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from gradcon.estimate import Options, minimise
from gradcon.experiments import peer_methods
from gradcon.experiments.datasets import Entry
from gradcon.experiments.experiment import Claim, Column, Context, Findings, Row
from gradcon.experiments.peer_methods import PEERS, available, run_peer
from gradcon.io import open_scene
from gradcon.io.results import versions
from gradcon.jobs import Job, Outcome, Report
from gradcon.jobs.job import sha256_of
from gradcon.metrics import evaluate

TITLE = "Beside other tools"
PAPER = "not in the paper"
NEEDS = "hci"
PICTURES = ()

QUICK_SCENES = 2
LIBRARIES = ("opencv-python-headless", "scikit-image")
OURS = {"gradcon": "gradcon, GCM", "gradcon-40": "gradcon, GCM, 40 solves"}


def jobs(context: Context) -> list[Job]:
    why = available()
    if why is not None:
        return []
    return [job for entry in _entries(context) for job in _jobs(context, entry).values()]


def conclude(context: Context, report: Report) -> Findings:
    why = available()
    if why is not None:
        return Findings(notes=[why])
    entries = [e for e in _entries(context) if all(report[job] for job in _jobs(context, e).values())]
    if not entries:
        return Findings()
    rows: dict[str, Row] = {}
    for name in (*OURS, *PEERS):
        settings = ("tuned",) if name in OURS else ("tuned", "default")
        found = {
            setting: {e.name: _record(context, e, name, setting == "tuned", report) for e in entries}
            for setting in settings
        }
        tuned = found["tuned"].values()
        rows[name] = {
            "label": {**OURS, **PEERS}[name],
            "rmse": float(np.mean([record["metrics"]["rmse"] for record in tuned])),
            "badpix_007": float(np.mean([record["metrics"]["badpix_007"] for record in tuned])),
            "seconds": float(np.mean([record["seconds"] for record in tuned])),
            "alphas": [Options.alpha] if name in OURS else None,
            "scenes": {scene: record["metrics"]["rmse"] for scene, record in found["tuned"].items()},
        }
        if "default" in found:
            rmse = [record["metrics"]["rmse"] for record in found["default"].values()]
            rows[name]["rmse_with_defaults"] = float(np.mean(rmse))
    best = min(PEERS, key=lambda name: rows[name]["rmse"])
    return Findings(
        rows=rows,
        columns=[
            Column("label", "method", "s"),
            Column("rmse", "RMSE"),
            Column("badpix_007", "BadPix 0.07 (%)", ".1f"),
            Column("seconds", "seconds", ".2f"),
            Column("rmse_with_defaults", "RMSE with its defaults"),
        ],
        claims=[
            Claim(
                "(gradcon's own) It is more accurate than what general tools give.",
                rows["gradcon"]["rmse"] < rows[best]["rmse"],
                f"RMSE {rows['gradcon']['rmse']:.3f}; the best of the others, {rows[best]['label']}: "
                f"{rows[best]['rmse']:.3f}.",
            )
        ],
        notes=[
            f"Mean over {len(entries)} scenes: {', '.join(e.name for e in entries)}. Each run had the machine for "
            "itself, with all cores; seconds are those of the estimate, ours after a first call that loads what is "
            "compiled. StereoSGBM is told the true range of disparities.",
            ", ".join(f"{name} {version}" for name, version in versions(LIBRARIES).items()) + ".",
        ],
    )


def timed_method(
    name: str, tuned: bool, disparity_range: tuple[float, float], options: dict[str, Any], engine: str, folder: str
) -> Outcome:
    """One method on one scene, alone on the machine."""
    scene = open_scene(folder, views="cross")
    assert scene.ground_truth is not None
    low, high = disparity_range
    if name in OURS:
        minimise(scene, Options(solves=1), engine=engine)
    start = time.perf_counter()
    if name in OURS:
        disparity = minimise(scene, Options(**options), engine=engine).disparity()
    else:
        disparity = run_peer(scene, name, tuned, (low, high))
    seconds = time.perf_counter() - start
    return Outcome({"metrics": evaluate(disparity, scene.ground_truth), "seconds": seconds})


def _entries(context: Context) -> list[Entry]:
    """All scenes; when quick, a few spread over them."""
    dataset = context.datasets[NEEDS]
    return dataset.spread(QUICK_SCENES) if context.plan.quick else dataset.entries


def _jobs(context: Context, entry: Entry) -> dict[tuple[str, bool], Job]:
    found = {}
    for name in (*OURS, *PEERS):
        for tuned in (True,) if name in OURS else (True, False):
            solves = min(context.plan.solves, 40) if name == "gradcon-40" else Options.solves
            found[name, tuned] = Job(
                function=timed_method,
                parameters={
                    "name": name,
                    "tuned": tuned,
                    "disparity_range": list(entry.disparity_range),
                    "options": {"solves": solves} if name in OURS else {},
                    "engine": context.plan.engine,
                },
                inputs=sha256_of([entry.sha256, _peers()]),
                label=f"{entry.name}, {name}{'' if tuned else ', defaults'}",
                where={"folder": str(entry.folder)},
                cost=5.0,
                alone=True,
            )
    return found


@cache
def _peers() -> list[str]:
    """What the others' results depend on besides the scene: their versions, and how they are called."""
    return [str(versions(LIBRARIES)), Path(peer_methods.__file__).read_text()]


def _record(context: Context, entry: Entry, name: str, tuned: bool, report: Report) -> dict[str, Any]:
    outcome = report[_jobs(context, entry)[name, tuned]]
    assert outcome is not None
    return outcome.record
