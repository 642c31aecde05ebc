"""Comparison with the tools that a user would try first: stereo and optical flow of OpenCV and scikit-image."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gradcon.experiments.datasets import KnownScene
from gradcon.experiments.experiment import Claim, Column, Context, Experiment, Findings, Row, mean
from gradcon.experiments.peer_methods import LIBRARIES, PEERS, TUNED_ON, missing_libraries
from gradcon.experiments.timed import Entrant, timed_job
from gradcon.identity import versions
from gradcon.jobs import Job, Outcomes
from gradcon.methods.options import Options

QUICK_SCENES = 2
OURS = {
    "gradcon": Entrant("gradcon, GCM", Options("gcm").as_in_the_paper()),
    "gradcon-40": Entrant("gradcon, GCM, 40 solves", Options("gcm", solves=40).as_in_the_paper()),
}

Settings = tuple[str, bool]  # a method's name, and whether it is tuned


def jobs(context: Context) -> list[Job]:
    if missing_libraries() is not None:
        return []
    return [job for scene in _scenes(context) for job in _jobs(context, scene).values()]


def conclude(context: Context, outcomes: Outcomes) -> Findings:
    missing = missing_libraries()
    if missing is not None:
        return Findings(notes=[f"{missing.problem}; {missing.remedy}."])
    records: dict[str, dict[Settings, dict[str, Any]]] = {}  # by scene, if all its jobs are done
    for scene in _scenes(context):
        done = {settings: outcomes[job] for settings, job in _jobs(context, scene).items()}
        found = {settings: outcome.record for settings, outcome in done.items() if outcome is not None}
        if len(found) == len(done):
            records[scene.name] = found
    if not records:
        return Findings()
    rows = {
        name: _row(label, {tuned: {s: r[name, tuned] for s, r in records.items()} for tuned in _settings(name)})
        for name, label in {**{name: ours.label for name, ours in OURS.items()}, **PEERS}.items()
    }
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
                "(Not in the paper.) The GCM is more accurate than general stereo and optical flow.",
                rows["gradcon"]["rmse"] < rows[best]["rmse"],
                f"The GCM has RMSE {rows['gradcon']['rmse']:.3f} and BadPix {rows['gradcon']['badpix_007']:.1f} %; the "
                f"best of the others, {rows[best]['label']}, has {rows[best]['rmse']:.3f} and "
                f"{rows[best]['badpix_007']:.1f} %.",
            )
        ],
        notes=[
            f"The values are means over these scenes: {', '.join(records)}. The other tools run with settings chosen "
            f"on {', '.join(TUNED_ON)}, or with their defaults where these are better; gradcon runs with its defaults.",
            *how_it_was_timed(),
        ],
    )


def how_it_was_timed() -> list[str]:
    """Return the remarks on the seconds and on the other tools."""
    return [
        "Each run had all cores, and no other job ran at the same time. The seconds do not include reading the images "
        "and loading the compiled functions; those of gradcon include the uncertainty and the check of the cameras' "
        "directions. StereoSGBM is given the true range of disparities.",
        ", ".join(f"{name} {version}" for name, version in versions(LIBRARIES).items()) + ".",
    ]


def peer_entrants() -> dict[Settings, Entrant]:
    """Return every other tool, tuned and with its defaults."""
    return {
        (name, tuned): Entrant(f"{label}, {'tuned' if tuned else 'defaults'}", peer=name, tuned=tuned)
        for name, label in PEERS.items()
        for tuned in (True, False)
    }


def _row(label: str, settings: dict[bool, dict[str, dict[str, Any]]]) -> Row:
    """Summarise a method's records, which are given by whether it was tuned and by scene; the better settings count."""
    rmse = {tuned: mean(record["metrics"]["rmse"] for record in found.values()) for tuned, found in settings.items()}
    records = settings[min(rmse, key=rmse.__getitem__)]
    scenes = {name: record["metrics"]["rmse"] for name, record in records.items()}
    others = [value for name, value in scenes.items() if name not in TUNED_ON]
    return {
        "label": label,
        "rmse": min(rmse.values()),
        "rmse_not_tuned_on": mean(others) if others else None,
        "rmse_with_defaults": rmse.get(False),
        "badpix_007": mean(record["metrics"]["badpix_007"] for record in records.values()),
        "seconds": mean(record["seconds"] for record in records.values()),
        "alphas": None if False in settings else [Options.alpha],
        "scenes": scenes,
    }


def _scenes(context: Context) -> list[KnownScene]:
    """Return all scenes; in a quick run, a few of those that were not used for tuning."""
    dataset = context.datasets["hci"]
    if not context.setup.quick:
        return dataset.scenes
    fair = [scene for scene in dataset.scenes if scene.name not in TUNED_ON]
    return replace(dataset, scenes=fair or dataset.scenes).spread(QUICK_SCENES)


def _settings(name: str) -> tuple[bool, ...]:
    """Return whether to run a method tuned and untuned; gradcon has only one set of settings."""
    return (True,) if name in OURS else (True, False)


def _jobs(context: Context, scene: KnownScene) -> dict[Settings, Job]:
    entrants = {**{(name, True): ours for name, ours in OURS.items()}, **peer_entrants()}
    views, engine = context.datasets["hci"].kind.views, context.setup.engine
    return {settings: timed_job(scene, views, entrant, engine) for settings, entrant in entrants.items()}


EXPERIMENT = Experiment(
    "Comparison with other tools",
    "not part of it; these are the tools that a user would try first",
    "hci",
    jobs,
    conclude,
)
