"""How sensitive the GCM is to the noise parameter epsilon, across a decade."""

from __future__ import annotations

from dataclasses import replace

from gradcon.experiments.comparison import OWN_COLUMNS, Comparison, Forms, Question, Verdict, comparison_experiment
from gradcon.experiments.experiment import Column, Context, Findings, above
from gradcon.experiments.methods import GCM
from gradcon.methods.options import PAPER_EPSILON

HALF_A_DECADE = 10**0.5
INSENSITIVE = 5.0  # percent
CONTENDERS = [
    replace(GCM, key=key, label=label, options=replace(GCM.options, epsilon=epsilon), paper=paper)
    for key, label, epsilon, paper in (
        ("low", "2e-4 / sqrt(10)", PAPER_EPSILON / HALF_A_DECADE, 0.22236),
        ("default", "2e-4", PAPER_EPSILON, 0.22452),
        ("high", "2e-4 * sqrt(10)", PAPER_EPSILON * HALF_A_DECADE, 0.22541),
    )
]


def comparison(context: Context) -> Comparison:
    return Comparison(context.datasets["hci"], CONTENDERS, context.setup)


def describe(context: Context, forms: Forms) -> Findings:
    found = forms.findings("epsilon", [Question("epsilon", insensitive)])
    return replace(found, columns=[Column("label", "epsilon", "s"), *OWN_COLUMNS[1:]], more_tables=[])


def insensitive(verdict: Verdict) -> tuple[bool, str]:
    rmse = verdict.rmse()
    spread = above(max(rmse.values()), min(rmse.values()))
    values = ", ".join(f"{value:.4f} at {verdict.labels[key]}" for key, value in rmse.items())
    return spread < INSENSITIVE, f"RMSE is {values}; the largest is {spread:.1f} % above the smallest."


EXPERIMENT = comparison_experiment(
    "Sensitivity to epsilon",
    "the table in Multi-Scale Results on the sensitivity to epsilon",
    "hci",
    comparison,
    describe,
    as_printed=False,
)
