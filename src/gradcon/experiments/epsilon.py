"""How much the noise parameter epsilon matters to the GCM, across a decade."""

from __future__ import annotations

from dataclasses import replace

from gradcon.experiments.comparison import Comparison, Contender
from gradcon.experiments.experiment import RMSE_COLUMNS, Claim, Column, Context, Findings
from gradcon.experiments.methods import GCM
from gradcon.jobs import Job, Outcomes
from gradcon.methods.options import Options

TITLE = "Sensitivity to epsilon"
PAPER = "table of Multi-Scale Results on the sensitivity to epsilon"
NEEDS = "hci"
PICTURES = ()

HALF_A_DECADE = 10**0.5
CONTENDERS = [
    Contender(key, label, replace(GCM.options, epsilon=epsilon), paper)
    for key, label, epsilon, paper in (
        ("low", "2e-4 / sqrt(10)", Options.epsilon / HALF_A_DECADE, 0.22236),
        ("default", "2e-4", Options.epsilon, 0.22452),
        ("high", "2e-4 * sqrt(10)", Options.epsilon * HALF_A_DECADE, 0.22541),
    )
]


def comparison(context: Context) -> Comparison:
    return Comparison(context.datasets[NEEDS], CONTENDERS, context.plan)


def jobs(context: Context) -> list[Job]:
    return comparison(context).jobs()


def conclude(context: Context, report: Outcomes) -> Findings:
    verdict = comparison(context).judge(report)
    rows = verdict.rows()
    if not rows:
        return Findings()
    rmse = [row["rmse"] for row in rows.values()]
    spread = 100 * (max(rmse) / min(rmse) - 1)
    values = ", ".join(f"{row['rmse']:.4f} at {row['label']}" for row in rows.values())
    claim = Claim("The GCM is substantially insensitive to epsilon.", spread < 5, f"{values}: {spread:.1f} % apart.")
    columns = [Column("label", "epsilon", "s"), *RMSE_COLUMNS[1:]]
    return Findings(rows=rows, columns=columns, claims=[claim], notes=verdict.notes())
