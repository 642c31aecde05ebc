"""What a user would try otherwise: stereo and optical flow of OpenCV and scikit-image, beside ours."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gradcon.experiments import peer_methods, timed
from gradcon.experiments.datasets import KnownScene
from gradcon.experiments.experiment import Claim, Column, Context, Findings, Row
from gradcon.experiments.peer_methods import PEERS, TUNED_ON, available
from gradcon.identity import versions
from gradcon.jobs import Job, Outcomes
from gradcon.jobs.job import sha256_of, sha256_of_source
from gradcon.methods.options import Options

TITLE = "Beside other tools"
PAPER = "nothing; what a user would try otherwise"
NEEDS = "hci"
PICTURES = ()

QUICK_SCENES = 2
LIBRARIES = ("opencv-python-headless", "scikit-image")
SECONDS = {"gradcon": 8.0, "gradcon-40": 4.0, "sgbm": 0.5, "dis": 2.0, "tvl1": 25.0, "ilk": 25.0}  # about, a scene
OURS = {"gradcon": "gradcon, GCM", "gradcon-40": "gradcon, GCM, 40 solves"}


def jobs(context: Context) -> list[Job]:
    why = available()
    if why is not None:
        return []
    return [job for entry in _entries(context) for job in _jobs(context, entry).values()]


def conclude(context: Context, report: Outcomes) -> Findings:
    why = available()
    if why is not None:
        return Findings(notes=[why])
    entries = [e for e in _entries(context) if all(report[job] for job in _jobs(context, e).values())]
    if not entries:
        return Findings()
    rows: dict[str, Row] = {}
    for name in (*OURS, *PEERS):
        settings = {
            tuned: {e.name: _record(context, e, name, tuned, report) for e in entries} for tuned in _settings(name)
        }
        rows[name] = _row({**OURS, **PEERS}[name], settings)
    best = min(PEERS, key=lambda name: rows[name]["rmse"])
    return Findings(
        rows=rows,
        columns=[
            Column("label", "method", "s"),
            Column("rmse", "RMSE"),
            Column("rmse_not_tuned_on", "RMSE, scenes not tuned on"),
            Column("badpix_007", "BadPix 0.07 (%)", ".1f"),
            Column("seconds", "seconds", ".2f"),
            Column("rmse_with_defaults", "RMSE with its defaults"),
        ],
        claims=[
            Claim(
                "(Not the paper's.) The GCM is more accurate than general stereo and optical flow.",
                rows["gradcon"]["rmse"] < rows[best]["rmse"],
                f"RMSE {rows['gradcon']['rmse']:.3f}, BadPix {rows['gradcon']['badpix_007']:.1f} %; the best of the "
                f"others, {rows[best]['label']}: {rows[best]['rmse']:.3f}, {rows[best]['badpix_007']:.1f} %.",
                of_runs=False,  # ours goes to its end, quick or not
            )
        ],
        notes=[
            f"Mean over {len(entries)} scenes: {', '.join(e.name for e in entries)}. The others run with settings "
            f"chosen on {', '.join(TUNED_ON)}, or with their defaults where these are better; ours with its defaults.",
            "Each run had all cores, and no other job beside it. Seconds are those of the disparity map alone, ours "
            "after a first solve that loads what is compiled. StereoSGBM is told the true range of disparities.",
            ", ".join(f"{name} {version}" for name, version in versions(LIBRARIES).items()) + ".",
        ],
    )


def _row(label: str, settings: dict[bool, dict[str, dict[str, Any]]]) -> Row:
    """By whether it is tuned, and by scene; the better of the two counts."""
    rmse = {tuned: float(np.mean([r["metrics"]["rmse"] for r in found.values()])) for tuned, found in settings.items()}
    records = settings[min(rmse, key=rmse.__getitem__)]
    scenes = {name: record["metrics"]["rmse"] for name, record in records.items()}
    others = [value for name, value in scenes.items() if name not in TUNED_ON]
    return {
        "label": label,
        "rmse": min(rmse.values()),
        "rmse_not_tuned_on": float(np.mean(others)) if others else None,
        "rmse_with_defaults": rmse.get(False),
        "badpix_007": float(np.mean([record["metrics"]["badpix_007"] for record in records.values()])),
        "seconds": float(np.mean([record["seconds"] for record in records.values()])),
        "alphas": None if False in settings else [Options.alpha],
        "scenes": scenes,
    }


def _entries(context: Context) -> list[KnownScene]:
    """All scenes; when quick, a few that no settings were chosen on."""
    dataset = context.datasets[NEEDS]
    if not context.plan.quick:
        return dataset.entries
    fair = [entry for entry in dataset.entries if entry.name not in TUNED_ON]
    return replace(dataset, entries=fair or dataset.entries).spread(QUICK_SCENES)


def _settings(name: str) -> tuple[bool, ...]:
    """Tuned or not; ours is always as it comes."""
    return (True,) if name in OURS else (True, False)


def _jobs(context: Context, entry: KnownScene) -> dict[tuple[str, bool], Job]:
    found = {}
    for name in (*OURS, *PEERS):
        for tuned in _settings(name):
            solves = 40 if name == "gradcon-40" else Options.solves
            found[name, tuned] = Job(
                function=timed.timed,
                parameters={
                    "name": name,
                    "tuned": tuned,
                    "disparity_range": list(entry.disparity_range),
                    "options": {"solves": solves} if name in OURS else {},
                    "engine": context.plan.engine,
                },
                inputs=sha256_of([entry.sha256, versions(LIBRARIES), sha256_of_source(peer_methods, timed)]),
                label=f"{entry.name}, {name}{'' if tuned else ', defaults'}",
                where={"folder": str(entry.folder)},
                cost=SECONDS[name],
                alone=True,
            )
    return found


def _record(context: Context, entry: KnownScene, name: str, tuned: bool, report: Outcomes) -> dict[str, Any]:
    outcome = report[_jobs(context, entry)[name, tuned]]
    assert outcome is not None
    return outcome.record
