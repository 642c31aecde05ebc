"""The paper's picture figures: disparity and error of each method, and how the disparity develops over the solves."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.experiments.comparison import Comparison, Verdict
from gradcon.experiments.datasets import KnownScene
from gradcon.experiments.experiment import Claim, Column, Context, Experiment, Findings, Picture
from gradcon.experiments.methods import GCM, NO_GRADIENT, ONE_SCALE, THREE_SCALES, Contender
from gradcon.io import open_scene
from gradcon.jobs import Job, Outcomes
from gradcon.pictures import figures

AFTER = (1, 2, 5, 10, 20, 50, 100, 200)  # the solves after which the disparity is shown
SHOWN = {"backgammon": ONE_SCALE, "pens": THREE_SCALES}  # the paper's scenes, and what it shows of them
DEVELOPS = "pens"  # the scene whose disparity is shown after several solves
NEAR = 0.1  # of the final RMSE
MUCH_SLOWER = 2  # times the solves

Kept = dict[str, NDArray[Any]]  # the disparity after each of the solves, and at the end


def comparison(context: Context) -> Comparison:
    return Comparison(context.datasets["hci"], ONE_SCALE + THREE_SCALES, context.setup)


def follow_up(context: Context, outcomes: Outcomes) -> list[Job]:
    """Return the runs to show, once more, with their disparities kept."""
    verdict = comparison(context).judge(outcomes)
    return [job for scene in _shown(verdict) for job in _jobs(verdict, scene).values()]


def conclude(context: Context, outcomes: Outcomes) -> Findings:
    verdict = comparison(context).judge(outcomes)
    findings = Findings(columns=[Column("label", "scene and method", "s"), Column("rmse", "RMSE")])
    shown = _shown(verdict)
    for scene in shown:
        done = {who: outcome for who, job in _jobs(verdict, scene).items() if (outcome := outcomes[job]) is not None}
        for who, outcome in done.items():
            rmse = outcome.record["rmse"][-1]
            findings.rows[f"{scene.name}-{who.key}"] = {
                "label": f"{scene.name}, {who.label}",
                "rmse": rmse,
                "alphas": [verdict.choices[who.key].of_scene[scene.name]],
                "scenes": {scene.name: rmse},
            }
        if done:
            maps = {who: outcome.arrays for who, outcome in done.items()}
            truth = open_scene(scene.folder, views=2).ground_truth
            assert truth is not None
            findings.pictures += _pictures(scene, truth, {who.label: kept for who, kept in maps.items()})
            if scene.last_name == DEVELOPS and {GCM, NO_GRADIENT} <= maps.keys():
                findings.claims.append(background(truth, maps[GCM], maps[NO_GRADIENT]))
    absent = SHOWN.keys() - {scene.last_name for scene in shown}
    if DEVELOPS in absent:
        findings.claims.append(Claim("no-gradient-background", None, f"{DEVELOPS} is not among the scenes."))
    findings.notes += [f"{name} is not among the scenes, or its runs failed." for name in sorted(absent)]
    return findings


def background(truth: NDArray[np.float32], gcm: Kept, without: Kept) -> Claim:
    """Judge whether the far half of a scene converges much more slowly without the term of G."""
    if not {str(n) for n in AFTER} <= gcm.keys() & without.keys():
        return Claim("no-gradient-background", None, f"The runs took fewer than {AFTER[-1]} solves.")
    far = truth < np.nanmedian(truth)
    slow, fast = (_arrived({n: _rmse_where(far, w, truth) for n, w in kept.items()}) for kept in (without, gcm))
    return Claim(
        "no-gradient-background",
        slow >= MUCH_SLOWER * fast,
        f"Of the solves that are shown, the RMSE of the farther half of {DEVELOPS} comes within {100 * NEAR:.0f} % of "
        f"its final value after {slow} (GCM: {fast}).",
    )


def _arrived(rmse: dict[str, float]) -> int:
    """Return the first of the kept solves from which on the RMSE is near its final value."""
    away = [n for n in AFTER if abs(rmse[str(n)] - rmse["final"]) > NEAR * rmse["final"]]
    later = [n for n in AFTER if not away or n > away[-1]]
    return later[0] if later else AFTER[-1]


def _rmse_where(where: NDArray[np.bool_], disparity: NDArray[Any], truth: NDArray[np.float32]) -> float:
    error = disparity.astype(np.float64) - truth
    return float(np.sqrt(np.mean(error[where] ** 2)))


def _pictures(known: KnownScene, truth: NDArray[np.float32], maps: dict[str, Kept]) -> list[Picture]:
    """Draw a scene; `maps` holds the disparity of each method after each of the solves that were kept."""
    colour = open_scene(known.folder, views=2).colour
    final = {label: kept["final"].astype(np.float32) for label, kept in maps.items()}
    pictures = [
        Picture(
            f"panels-{known.last_name}",
            f"{known.name}: disparity, on the colour scale of the ground truth, and absolute error, from 0 (black) to "
            "half the range of the ground truth (white).",
            lambda: figures.panels(colour, truth, final),
        )
    ]
    if known.last_name == DEVELOPS:
        pictures.append(
            Picture(
                f"progress-{known.last_name}",
                f"{known.name}: disparity after an increasing number of solves, on one colour scale.",
                lambda: figures.progress(maps, truth, AFTER),
            )
        )
    return pictures


def _shown(verdict: Verdict) -> list[KnownScene]:
    """Return the scenes to show that are there and complete."""
    scenes = [verdict.comparison.dataset.named(name) for name in SHOWN]
    return [scene for scene in scenes if scene is not None and scene.name in verdict.complete]


def _jobs(verdict: Verdict, scene: KnownScene) -> dict[Contender, Job]:
    return {
        who: verdict.comparison.job(scene, who, verdict.choices[who.key].of_scene[scene.name], keep=AFTER)
        for who in SHOWN[scene.last_name]
    }


EXPERIMENT = Experiment(
    "Disparity and error maps",
    "the picture figures in Single Scale Results and Multi-Scale Results",
    "hci",
    jobs=lambda context: comparison(context).jobs(),  # they choose the alphas
    conclude=conclude,
    follow_up=follow_up,
    pictures=("panels-backgammon", "panels-pens", "progress-pens"),
)
