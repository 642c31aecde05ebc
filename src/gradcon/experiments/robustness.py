"""The paper's remark on real cameras: every method on distorted images, and with baselines that are not quite right.

Each method keeps the alpha that cross-validation chose for it on the undisturbed scenes: a user tunes on good data.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from gradcon.experiments import multi_scale, single_scale
from gradcon.experiments.changes import Change, barrel, baseline_noise
from gradcon.experiments.comparison import Contender, Verdict
from gradcon.experiments.datasets import KnownScene
from gradcon.experiments.experiment import Claim, Column, Context, Findings, Row
from gradcon.experiments.methods import GCM
from gradcon.jobs import Job, Outcomes

TITLE = "Distorted lenses and inexact baselines"
PAPER = "remark on real cameras in Multi-Scale Results"
NEEDS = "hci"
PICTURES = ()


def _noise(deviation: float, name: str) -> Change:
    return baseline_noise(deviation, draw=f"{name} {deviation:g}")


QUICK_SCENES = 4
FRAME = "same frame"  # as the distorted images have, undistorted: what `barrel` compares with
CHANGES: dict[str, Callable[[str], Change]] = {  # by what the report calls it; a scene's name makes its own draw
    FRAME: lambda name: barrel(0),
    "barrel distortion": lambda name: barrel(),
    **{f"baselines +- {d:g}": partial(_noise, d) for d in (0.02, 0.05, 0.1)},
}


def jobs(context: Context) -> list[Job]:
    """The undisturbed runs, which choose the alphas."""
    return single_scale.jobs(context) + multi_scale.comparison(context).jobs()


def follow_up(context: Context, report: Outcomes) -> list[Job]:
    """Every method on every change of every scene."""
    verdicts = _verdicts(context, report)
    return [
        _job(verdict, who, entry, change)
        for entry in _entries(context, verdicts)
        for change in CHANGES.values()
        for verdict in verdicts
        for who in verdict.comparison.contenders
    ]


def conclude(context: Context, report: Outcomes) -> Findings:
    verdicts = _verdicts(context, report)
    entries = [
        entry
        for entry in _entries(context, verdicts)
        if all(
            report[_job(verdict, who, entry, change)]
            for verdict in verdicts
            for who in verdict.comparison.contenders
            for change in CHANGES.values()
        )
    ]
    if not entries:
        return Findings()
    rows = {_key(who): _row(v, who, entries, report) for v in verdicts for who in v.comparison.contenders}
    columns = [Column("label", "method", "s"), Column("undisturbed", "undisturbed")]
    columns += [Column(f"by_change|{key}", key) for key in CHANGES]
    claims = []
    for key in [key for key in CHANGES if key != FRAME]:
        ordered = sorted(rows.values(), key=lambda row: row["by_change"][key])
        values = "; ".join(f"{row['label']}: {row['by_change'][key]:.3f}" for row in ordered) + "."
        text = f"With {key}, the GCM still outperforms the other approaches."
        claims.append(Claim(text, ordered[0]["label"] == rows[_key(GCM)]["label"], values))
    return Findings(
        rows=rows,
        columns=columns,
        claims=claims,
        notes=[
            f"Mean RMSE over {len(entries)} scenes: {', '.join(entry.name for entry in entries)}. Alphas are those "
            "chosen on the undisturbed scenes.",
            "Barrel distortion: one-term division model, K1 = -0.125 / height^2, on every view; the frame is cropped "
            f"to what is known, so compare with `{FRAME}`. The truth moves with the pixels, but keeps its values.",
            "Baselines: Gaussian noise on both coordinates, in shortest baselines, another draw for each scene and "
            "level. It also moves views out of the directions in which the model compares near with far views, which "
            "costs the GCM more than the noise itself; and progressive inclusion takes in views in more stages.",
        ],
    )


def _verdicts(context: Context, report: Outcomes) -> list[Verdict]:
    """At one scale and at three."""
    return [experiment.comparison(context).judge(report) for experiment in (single_scale, multi_scale)]


def _entries(context: Context, verdicts: list[Verdict]) -> list[KnownScene]:
    """Scenes with all undisturbed runs done; when quick, a few of them."""
    dataset = context.datasets[NEEDS]
    wanted = dataset.spread(QUICK_SCENES) if context.plan.quick else dataset.entries
    return [entry for entry in wanted if all(entry.name in verdict.scenes for verdict in verdicts)]


def _job(verdict: Verdict, who: Contender, entry: KnownScene, change: Callable[[str], Change]) -> Job:
    alpha = verdict.choices[who.key].of_scene[entry.name]
    return verdict.comparison.job(entry, who, alpha, change(entry.name))


def _row(verdict: Verdict, who: Contender, entries: list[KnownScene], report: Outcomes) -> Row:
    found: dict[str, dict[str, float]] = {}
    for key, change in CHANGES.items():
        outcomes = {entry.name: report[_job(verdict, who, entry, change)] for entry in entries}
        found[key] = {name: outcome.record["rmse"][-1] for name, outcome in outcomes.items() if outcome}
    disturbed = [values for key, values in found.items() if key != FRAME]
    scenes = {entry.name: float(np.mean([values[entry.name] for values in disturbed])) for entry in entries}
    undisturbed = verdict.chosen(who)
    return {
        "label": who.label + (", one scale" if who.options.scales == 1 else ""),
        "rmse": float(np.mean(list(scenes.values()))),  # over the disturbances, as `scenes`
        "undisturbed": float(np.mean([undisturbed[entry.name]["rmse"][-1] for entry in entries])),
        "by_change": {key: float(np.mean(list(values.values()))) for key, values in found.items()},
        "alphas": verdict.choices[who.key].alphas,
        "scenes": scenes,
        "scenes_by_change": found,
    }


def _key(who: Contender) -> str:
    return who.key + ("-one-scale" if who.key == "gcm" and who.options.scales == 1 else "")
