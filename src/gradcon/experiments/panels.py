"""The paper's picture figures: disparity and error of each method, and how the disparity develops over the solves."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.experiments import multi_scale, single_scale
from gradcon.experiments.comparison import Verdict
from gradcon.experiments.datasets import KnownScene
from gradcon.experiments.experiment import Column, Context, Experiment, Findings, Picture
from gradcon.io import open_scene
from gradcon.jobs import Job, Outcomes
from gradcon.pictures import figures

ONE_SCALE_SCENE, THREE_SCALES_SCENE = "backgammon", "pens"
AFTER = (1, 2, 5, 10, 20, 50, 100, 200)  # the solves after which the disparity is shown


def jobs(context: Context) -> list[Job]:
    """Return the runs on all scenes, which choose the alphas."""
    return single_scale.comparison(context).jobs() + multi_scale.comparison(context).jobs()


def follow_up(context: Context, outcomes: Outcomes) -> list[Job]:
    """Return the runs to show, once more, with their disparities kept."""
    return [job for verdict, scene in _shown(context, outcomes) for job in _jobs(verdict, scene).values()]


def conclude(context: Context, outcomes: Outcomes) -> Findings:
    findings = Findings(columns=[Column("label", "scene and method", "s"), Column("rmse", "RMSE")])
    shown = _shown(context, outcomes)
    for verdict, scene in shown:
        done = {key: outcome for key, job in _jobs(verdict, scene).items() if (outcome := outcomes[job]) is not None}
        scales = "one scale" if scene.last_name == ONE_SCALE_SCENE else "three scales"
        for key, outcome in done.items():
            rmse = outcome.record["rmse"][-1]
            findings.rows[f"{scene.name}-{key}"] = {
                "label": f"{scene.name}, {scales}, {verdict.labels[key]}",
                "rmse": rmse,
                "alphas": [verdict.choices[key].of_scene[scene.name]],
                "scenes": {scene.name: rmse},
            }
        if done:
            maps = {verdict.labels[key]: outcome.arrays for key, outcome in done.items()}
            findings.pictures += _pictures(scene, maps, scales)
    absent = {ONE_SCALE_SCENE, THREE_SCALES_SCENE} - {scene.last_name for _, scene in shown}
    findings.notes += [f"{name} is not among the scenes, or its runs failed." for name in sorted(absent)]
    return findings


def _pictures(known: KnownScene, maps: dict[str, dict[str, NDArray[Any]]], scales: str) -> list[Picture]:
    """Draw a scene; `maps` holds the disparity of each method after each of the solves that were kept."""
    scene = open_scene(known.folder, views=2)
    truth = scene.ground_truth
    assert truth is not None
    final = {label: kept["final"].astype(np.float32) for label, kept in maps.items()}
    pictures = [
        Picture(
            f"panels-{known.last_name}",
            f"{known.name}, {scales}: disparity, on the colour scale of the ground truth, and absolute error, from 0 "
            "(black) to half the range of the ground truth (white).",
            lambda: figures.panels(scene.colour, truth, final),
        )
    ]
    if known.last_name == THREE_SCALES_SCENE:
        pictures.append(
            Picture(
                f"progress-{known.last_name}",
                f"{known.name}, {scales}: disparity after an increasing number of solves, on one colour scale.",
                lambda: figures.progress(maps, truth, AFTER),
            )
        )
    return pictures


def _shown(context: Context, outcomes: Outcomes) -> list[tuple[Verdict, KnownScene]]:
    """Return the comparisons to show, each with its scene, if that scene is there and complete."""
    dataset = context.datasets["hci"]
    wanted = ((single_scale, dataset.named(ONE_SCALE_SCENE)), (multi_scale, dataset.named(THREE_SCALES_SCENE)))
    judged = [(experiment.comparison(context).judge(outcomes), scene) for experiment, scene in wanted if scene]
    return [(verdict, scene) for verdict, scene in judged if scene.name in verdict.complete]


def _jobs(verdict: Verdict, scene: KnownScene) -> dict[str, Job]:
    return {
        who.key: verdict.comparison.job(scene, who, verdict.choices[who.key].of_scene[scene.name], keep=AFTER)
        for who in verdict.comparison.contenders
    }


EXPERIMENT = Experiment(
    "Disparity and error maps",
    "the picture figures in Single Scale Results and Multi-Scale Results",
    "hci",
    jobs,
    conclude,
    follow_up,
    pictures=("panels-backgammon", "panels-pens", "progress-pens"),
)
