"""The paper's picture figures: disparity and error of each method, and the disparity solve by solve."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.experiments import multi_scale, single_scale
from gradcon.experiments.comparison import Verdict
from gradcon.experiments.datasets import KnownScene
from gradcon.experiments.experiment import Column, Context, Findings, Picture
from gradcon.io import open_scene
from gradcon.jobs import Job, Outcomes
from gradcon.pictures import figures

TITLE = "Pictures"
PAPER = "picture figures of Single Scale and Multi-Scale Results"
NEEDS = "hci"
PICTURES = ("panels-backgammon", "panels-pens", "progress-pens")

ONE_SCALE_SCENE, THREE_SCALES_SCENE = "backgammon", "pens"
AFTER = (1, 2, 5, 10, 20, 50, 100, 200)  # solves


def jobs(context: Context) -> list[Job]:
    """The runs on all scenes, which choose the alphas."""
    return single_scale.jobs(context) + multi_scale.comparison(context).jobs()


def follow_up(context: Context, report: Outcomes) -> list[Job]:
    """The same runs again, with their disparities kept."""
    return [job for verdict, entry in _scenes(context, report) for job in _jobs(verdict, entry).values()]


def conclude(context: Context, report: Outcomes) -> Findings:
    findings = Findings(columns=[Column("label", "scene and method", "s"), Column("rmse", "RMSE")])
    shown = _scenes(context, report)
    for verdict, entry in shown:
        found = {key: report[job] for key, job in _jobs(verdict, entry).items()}
        outcomes = {key: outcome for key, outcome in found.items() if outcome is not None}
        labels = {who.key: who.label for who in verdict.comparison.contenders}
        scales = "one scale" if entry.name.endswith(ONE_SCALE_SCENE) else "three scales"
        for key, outcome in outcomes.items():
            rmse = outcome.record["rmse"][-1]
            findings.rows[f"{entry.name}-{key}"] = {
                "label": f"{entry.name}, {scales}, {labels[key]}",
                "rmse": rmse,
                "alphas": [verdict.choices[key].of_scene[entry.name]],
                "scenes": {entry.name: rmse},
            }
        arrays = {key: outcome.arrays for key, outcome in outcomes.items()}
        findings.pictures += _pictures(entry, arrays, labels, scales) if arrays else []
    absent = {ONE_SCALE_SCENE, THREE_SCALES_SCENE} - {entry.name.rsplit("/")[-1] for _, entry in shown}
    findings.notes += [f"{name}: is not among the scenes, or its runs failed." for name in sorted(absent)]
    return findings


def _pictures(
    entry: KnownScene, arrays: dict[str, dict[str, NDArray[Any]]], labels: dict[str, str], scales: str
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


def _scenes(context: Context, report: Outcomes) -> list[tuple[Verdict, KnownScene]]:
    """Which comparison is shown on which scene, as far as the scene is there and complete."""
    dataset = context.datasets[NEEDS]
    wanted = ((single_scale, dataset.named(ONE_SCALE_SCENE)), (multi_scale, dataset.named(THREE_SCALES_SCENE)))
    judged = [(experiment.comparison(context).judge(report), entry) for experiment, entry in wanted if entry]
    return [(verdict, entry) for verdict, entry in judged if entry.name in verdict.scenes]


def _jobs(verdict: Verdict, entry: KnownScene) -> dict[str, Job]:
    return {
        who.key: verdict.comparison.job(entry, who, verdict.choices[who.key].of_scene[entry.name], keep=AFTER)
        for who in verdict.comparison.contenders
    }
