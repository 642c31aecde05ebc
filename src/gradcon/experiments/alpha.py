"""How much the choice of alpha matters, to coarse to fine and to the GCM."""

from __future__ import annotations

from gradcon.experiments.comparison import Comparison
from gradcon.experiments.experiment import Claim, Column, Context, Findings, Picture, Row
from gradcon.experiments.methods import COARSE_TO_FINE, GCM
from gradcon.jobs import Job, Outcomes
from gradcon.pictures import figures

TITLE = "Sensitivity to alpha"
PAPER = "figure of Multi-Scale Results on the sensitivity to alpha"
NEEDS = "hci"
PICTURES = ("alpha",)


def comparison(context: Context) -> Comparison:
    return Comparison(context.datasets[NEEDS], (COARSE_TO_FINE, GCM), context.plan)


def jobs(context: Context) -> list[Job]:
    return comparison(context).jobs()


def conclude(context: Context, report: Outcomes) -> Findings:
    verdict = comparison(context).judge(report)
    rows = verdict.rows()
    if not rows:
        return Findings()
    for row in rows.values():
        means = row["by_alpha"]
        row["best_alpha"] = float(min(means, key=means.__getitem__))
        row["spread_percent"] = 100 * (max(means.values()) / min(means.values()) - 1)
    columns = [Column("label", "method", "s")]
    columns += [Column(f"by_alpha|{alpha:g}", f"alpha {alpha:g}") for alpha in context.plan.alphas]
    notes = verdict.notes()
    if len(context.plan.alphas) > 1:
        columns += [Column("best_alpha", "best alpha", "g"), Column("spread_percent", "worst over best (%)", "+.0f")]
    else:
        notes.append("Quick: alpha 0.5 alone, so nothing can be said about its influence.")
    return Findings(
        rows=rows,
        columns=columns,
        claims=_claims(rows) if len(context.plan.alphas) > 1 else [],
        pictures=[
            Picture("alpha", "Mean final RMSE over all scenes against alpha.", lambda: figures.against_alpha(rows))
        ],
        notes=notes,
    )


def _claims(rows: dict[str, Row]) -> list[Claim]:
    best = {key: row["best_alpha"] for key, row in rows.items()}
    spread = {key: row["spread_percent"] for key, row in rows.items()}
    return [
        Claim(
            "The alpha that performs best for both approaches is 0.5.",
            set(best.values()) == {0.5},
            f"best is {best['coarse-to-fine']:g} for coarse to fine and {best['gcm']:g} for the GCM.",
        ),
        Claim(
            "Coarse to fine is significantly more sensitive to alpha than the GCM.",
            spread["coarse-to-fine"] > 1.2 * spread["gcm"],
            f"the worst alpha's RMSE is {spread['coarse-to-fine']:.0f} % above the best's for coarse to fine, "
            f"{spread['gcm']:.0f} % for the GCM.",
        ),
    ]
