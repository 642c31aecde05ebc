"""The paper's remark on real cameras: every method on distorted images, and with baselines that are not quite right.

Each method keeps the alpha that cross-validation chose for it on the undisturbed scenes: a user tunes on good data.
"""

from __future__ import annotations

import numpy as np

from gradcon.experiments import multi_scale, single_scale
from gradcon.experiments.changes import Change, barrel, baseline_noise
from gradcon.experiments.comparison import Contender, Verdict
from gradcon.experiments.datasets import Entry
from gradcon.experiments.experiment import Claim, Column, Context, Findings, Row
from gradcon.experiments.methods import GCM
from gradcon.jobs import Job, Report

TITLE = "Distorted lenses and inexact baselines"
PAPER = "remark on real cameras in section VII"
NEEDS = "hci"
PICTURES = ()

QUICK_SCENES = 4
CHANGES: dict[str, tuple[str, Change]] = {
    "barrel": ("barrel distortion", barrel()),
    **{f"baselines {d:g}": (f"baselines +- {d:g}", baseline_noise(d)) for d in (0.02, 0.05, 0.1)},
}


def jobs(context: Context) -> list[Job]:
    """The undisturbed runs, which choose the alphas."""
    return single_scale.jobs(context) + multi_scale.comparison(context).jobs()


def follow_up(context: Context, report: Report) -> list[Job]:
    """Every method on every change of every scene."""
    verdicts = _verdicts(context, report)
    return [
        _job(verdict, who, entry, change)
        for entry in _entries(context, verdicts)
        for _, change in CHANGES.values()
        for verdict in verdicts
        for who in verdict.comparison.contenders
    ]


def conclude(context: Context, report: Report) -> Findings:
    verdicts = _verdicts(context, report)
    entries = [
        entry
        for entry in _entries(context, verdicts)
        if all(
            report[_job(verdict, who, entry, change)]
            for verdict in verdicts
            for who in verdict.comparison.contenders
            for _, change in CHANGES.values()
        )
    ]
    if not entries:
        return Findings()
    rows = {_key(who): _row(v, who, entries, report) for v in verdicts for who in v.comparison.contenders}
    columns = [Column("label", "method", "s"), Column("undisturbed", "undisturbed")]
    columns += [Column(f"by_change|{key}", heading) for key, (heading, _) in CHANGES.items()]
    claims = []
    for key, (heading, _) in CHANGES.items():
        ordered = sorted(rows.values(), key=lambda row: row["by_change"][key])
        values = ", ".join(f"{row['label']} {row['by_change'][key]:.3f}" for row in ordered) + "."
        text = f"With {heading}, the GCM still outperforms the other approaches."
        claims.append(Claim(text, ordered[0]["label"] == rows[_key(GCM)]["label"], values))
    names = ", ".join(entry.name for entry in entries)
    notes = [f"Mean RMSE over {len(entries)} scenes: {names}. Noise in shortest baselines, on both coordinates."]
    return Findings(rows=rows, columns=columns, claims=claims, notes=notes)


def _verdicts(context: Context, report: Report) -> list[Verdict]:
    """At one scale and at three."""
    return [experiment.comparison(context).judge(report) for experiment in (single_scale, multi_scale)]


def _entries(context: Context, verdicts: list[Verdict]) -> list[Entry]:
    """Scenes with all undisturbed runs done; when quick, a few of them."""
    dataset = context.datasets[NEEDS]
    wanted = dataset.spread(QUICK_SCENES) if context.plan.quick else dataset.entries
    return [entry for entry in wanted if all(entry.name in verdict.scenes for verdict in verdicts)]


def _job(verdict: Verdict, who: Contender, entry: Entry, change: Change) -> Job:
    return verdict.comparison.job(entry, who, verdict.choices[who.key].of_scene[entry.name], change)


def _row(verdict: Verdict, who: Contender, entries: list[Entry], report: Report) -> Row:
    scenes: dict[str, dict[str, float]] = {}
    for key, (_, change) in CHANGES.items():
        outcomes = {entry.name: report[_job(verdict, who, entry, change)] for entry in entries}
        scenes[key] = {name: outcome.record["rmse"][-1] for name, outcome in outcomes.items() if outcome}
    undisturbed = verdict.chosen(who)
    by_change = {key: float(np.mean(list(values.values()))) for key, values in scenes.items()}
    return {
        "label": who.label + (", one scale" if who.options.scales == 1 else ""),
        "rmse": float(np.mean(list(by_change.values()))),
        "undisturbed": float(np.mean([undisturbed[entry.name]["rmse"][-1] for entry in entries])),
        "by_change": by_change,
        "alphas": verdict.choices[who.key].alphas,
        "scenes": scenes,
    }


def _key(who: Contender) -> str:
    return who.key + ("-one-scale" if who.key == "gcm" and who.options.scales == 1 else "")
