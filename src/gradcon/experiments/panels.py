"""The paper's picture figures: disparity and error of each method, and the disparity solve by solve."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.experiments import figures, multi_scale, single_scale
from gradcon.experiments.comparison import Comparison, Contender
from gradcon.experiments.datasets import Entry
from gradcon.experiments.experiment import Column, Context, Findings, Picture
from gradcon.experiments.trial import trial_job
from gradcon.io import open_scene
from gradcon.jobs import Job, Report

TITLE = "Pictures"
PAPER = "picture figures of sections VI and VII"
NEEDS = "hci"
PICTURES = ("panels-backgammon", "panels-pens", "progress-pens")

ONE_SCALE_SCENE, THREE_SCALES_SCENE = "backgammon", "pens"
AFTER = (1, 2, 5, 10, 20, 50, 100, 200)  # solves


def jobs(context: Context) -> list[Job]:
    """The runs on all scenes, which choose the alphas."""
    return single_scale.jobs(context) + multi_scale.comparison(context).jobs()


def follow_up(context: Context, report: Report) -> list[Job]:
    return [job for compared, entry in _scenes(context, report) for job in _jobs(compared, entry, report).values()]


def conclude(context: Context, report: Report) -> Findings:
    findings = Findings(columns=[Column("label", "scene and method", "s"), Column("rmse", "RMSE")])
    for compared, entry in _scenes(context, report):
        maps = {key: report[job] for key, job in _jobs(compared, entry, report).items()}
        arrays = {key: outcome.arrays for key, outcome in maps.items() if outcome is not None}
        labels = {who.key: who.label for who in compared.contenders if who.key in arrays}
        scales = "one scale" if entry.name.endswith(ONE_SCALE_SCENE) else "three scales"
        for key, outcome in maps.items():
            if outcome is not None:
                label = f"{entry.name}, {scales}, {labels[key]}"
                scenes = {entry.name: outcome.record["rmse"][-1]}
                alphas = [compared.choice(report, _named(compared, key)).of_scene[entry.name]]
                row = {"label": label, "rmse": scenes[entry.name], "alphas": alphas, "scenes": scenes}
                findings.rows[f"{entry.name}-{key}"] = row
        findings.pictures += _pictures(entry, arrays, labels, scales)
    wanted = {ONE_SCALE_SCENE, THREE_SCALES_SCENE} - {entry.name for _, entry in _scenes(context, report)}
    findings.notes += [f"{name}: is not among the scenes, or its runs failed." for name in sorted(wanted)]
    return findings


def _pictures(
    entry: Entry, arrays: dict[str, dict[str, NDArray[Any]]], labels: dict[str, str], scales: str
) -> list[Picture]:
    scene = open_scene(entry.folder, views=2)
    truth = scene.ground_truth
    assert truth is not None
    final = {labels[key]: maps["final"].astype(np.float32) for key, maps in arrays.items()}
    name = entry.name.rsplit("/")[-1]
    pictures = [
        Picture(
            f"panels-{name}",
            f"{entry.name}, {scales}: disparity, on the ground truth's colour scale, and absolute error, black is 0 "
            "and white half the range of the ground truth.",
            lambda: figures.panels(scene.colour, truth, final),
        )
    ]
    if name == THREE_SCALES_SCENE:
        progress = {labels[key]: maps for key, maps in arrays.items()}
        pictures.append(
            Picture(
                f"progress-{name}",
                f"{entry.name}, {scales}: disparity after a number of solves, on one colour scale.",
                lambda: figures.progress(progress, truth, AFTER),
            )
        )
    return pictures


def _scenes(context: Context, report: Report) -> list[tuple[Comparison, Entry]]:
    """Which comparison is shown on which scene, as far as the scene is there and complete."""
    dataset = context.datasets[NEEDS]
    wanted = (
        (single_scale.comparison(context), dataset.named(ONE_SCALE_SCENE)),
        (multi_scale.comparison(context), dataset.named(THREE_SCALES_SCENE)),
    )
    return [(compared, entry) for compared, entry in wanted if entry is not None and entry in compared.complete(report)]


def _jobs(compared: Comparison, entry: Entry, report: Report) -> dict[str, Job]:
    found = {}
    for who in compared.contenders:
        alpha = compared.choice(report, who).of_scene[entry.name]
        options = replace(who.options, alpha=alpha, solves=compared.plan.solves)
        views, engine = compared.dataset.kind.views, compared.plan.engine
        found[who.key] = trial_job(entry, views, options, engine, keep=AFTER)
    return found


def _named(compared: Comparison, key: str) -> Contender:
    return next(who for who in compared.contenders if who.key == key)
