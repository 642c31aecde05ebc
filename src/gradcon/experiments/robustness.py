"""The paper's remark on real cameras: every method on distorted images, and with baselines that are not quite right.

Each method keeps the alpha that cross-validation chose for it on the undisturbed scenes: a user tunes on good data.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gradcon.experiments import multi_scale, single_scale
from gradcon.experiments.changes import Change, barrel, baseline_noise
from gradcon.experiments.comparison import Comparison, Contender
from gradcon.experiments.datasets import Entry
from gradcon.experiments.experiment import Claim, Column, Context, Findings, Row
from gradcon.experiments.methods import GCM, ONE_SCALE, THREE_SCALES
from gradcon.experiments.trial import trial_job
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
    return [
        job
        for entry in _entries(context, report)
        for _, change in CHANGES.values()
        for compared, contender in _contenders(context)
        for job in [_job(compared, contender, entry, change, report)]
    ]


def conclude(context: Context, report: Report) -> Findings:
    contenders = _contenders(context)
    entries = [
        entry
        for entry in _entries(context, report)
        if all(report[_job(c, who, entry, change, report)] for c, who in contenders for _, change in CHANGES.values())
    ]
    if not entries:
        return Findings()
    rows = {_key(who): _row(compared, who, entries, report) for compared, who in contenders}
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


def _contenders(context: Context) -> list[tuple[Comparison, Contender]]:
    one, three = single_scale.comparison(context), multi_scale.comparison(context)
    return [(one, who) for who in ONE_SCALE] + [(three, who) for who in THREE_SCALES]


def _entries(context: Context, report: Report) -> list[Entry]:
    """Scenes with all undisturbed runs done; when quick, a few of them."""
    dataset = context.datasets[NEEDS]
    wanted = dataset.spread(QUICK_SCENES) if context.plan.quick else dataset.entries
    one, three = single_scale.comparison(context), multi_scale.comparison(context)
    done, also_done = one.complete(report), three.complete(report)
    return [entry for entry in wanted if entry in done and entry in also_done]


def _job(compared: Comparison, who: Contender, entry: Entry, change: Change, report: Report) -> Job:
    alpha = compared.choice(report, who).of_scene[entry.name]
    options = replace(who.options, alpha=alpha, solves=compared.plan.solves)
    return trial_job(entry, compared.dataset.kind.views, options, compared.plan.engine, change)


def _row(compared: Comparison, who: Contender, entries: list[Entry], report: Report) -> Row:
    choice = compared.choice(report, who)
    scenes: dict[str, dict[str, float]] = {}
    for key, (_, change) in CHANGES.items():
        outcomes = {entry.name: report[_job(compared, who, entry, change, report)] for entry in entries}
        scenes[key] = {name: outcome.record["rmse"][-1] for name, outcome in outcomes.items() if outcome}
    clean = [report[compared.job(entry, who, choice.of_scene[entry.name])] for entry in entries]
    by_change = {key: float(np.mean(list(values.values()))) for key, values in scenes.items()}
    return {
        "label": who.label + (", one scale" if who.options.scales == 1 else ""),
        "rmse": float(np.mean(list(by_change.values()))),
        "undisturbed": float(np.mean([outcome.record["rmse"][-1] for outcome in clean if outcome])),
        "by_change": by_change,
        "alphas": choice.alphas,
        "scenes": scenes,
    }


def _key(who: Contender) -> str:
    return who.key + ("-one-scale" if who.key == "gcm" and who.options.scales == 1 else "")
