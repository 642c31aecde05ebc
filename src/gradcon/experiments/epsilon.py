"""How sensitive the GCM is to the noise parameter epsilon, across a decade."""

from __future__ import annotations

from dataclasses import replace

from gradcon.experiments.comparison import Comparison, Contender, Verdict, comparison_experiment
from gradcon.experiments.experiment import RMSE_COLUMNS, Claim, Column, Context, Findings
from gradcon.experiments.methods import GCM
from gradcon.methods.options import PAPER_EPSILON

HALF_A_DECADE = 10**0.5
CONTENDERS = [
    Contender(key, label, replace(GCM.options, epsilon=epsilon), paper)
    for key, label, epsilon, paper in (
        ("low", "2e-4 / sqrt(10)", PAPER_EPSILON / HALF_A_DECADE, 0.22236),
        ("default", "2e-4", PAPER_EPSILON, 0.22452),
        ("high", "2e-4 * sqrt(10)", PAPER_EPSILON * HALF_A_DECADE, 0.22541),
    )
]


def comparison(context: Context) -> Comparison:
    return Comparison(context.datasets["hci"], CONTENDERS, context.setup)


def describe(context: Context, verdict: Verdict) -> Findings:
    rows = verdict.rows()
    rmse = [row["rmse"] for row in rows.values()]
    spread = 100 * (max(rmse) / min(rmse) - 1)
    values = ", ".join(f"{row['rmse']:.4f} at {row['label']}" for row in rows.values())
    claim = Claim(
        "The GCM is substantially insensitive to epsilon.",
        spread < 5,
        f"RMSE is {values}; the largest is {spread:.1f} % above the smallest.",
    )
    columns = [Column("label", "epsilon", "s"), *RMSE_COLUMNS[1:]]
    return Findings(rows=rows, columns=columns, claims=[claim], notes=verdict.notes())


EXPERIMENT = comparison_experiment(
    "Sensitivity to epsilon",
    "the table in Multi-Scale Results on the sensitivity to epsilon",
    "hci",
    comparison,
    describe,
)
