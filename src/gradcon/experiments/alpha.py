"""How sensitive coarse to fine and the GCM are to alpha."""

from __future__ import annotations

from gradcon.experiments.comparison import Comparison, Verdict, comparison_experiment
from gradcon.experiments.experiment import Claim, Column, Context, Findings, Picture, Row
from gradcon.experiments.methods import COARSE_TO_FINE, GCM
from gradcon.pictures import figures


def comparison(context: Context) -> Comparison:
    return Comparison(context.datasets["hci"], (COARSE_TO_FINE, GCM), context.setup)


def describe(context: Context, verdict: Verdict) -> Findings:
    rows = verdict.rows()
    for row in rows.values():
        means = row["by_alpha"]
        row["best_alpha"] = float(min(means, key=means.__getitem__))
        row["spread_percent"] = 100 * (max(means.values()) / min(means.values()) - 1)
    several = len(context.setup.alphas) > 1
    columns = [Column("label", "method", "s")]
    columns += [Column(f"by_alpha|{alpha:g}", f"alpha {alpha:g}") for alpha in context.setup.alphas]
    notes = verdict.notes()
    if several:
        columns += [Column("best_alpha", "best alpha", "g"), Column("spread_percent", "worst over best (%)", "+.0f")]
    else:
        notes.append("A quick run uses only alpha 0.5, so it cannot show the influence of alpha.")
    return Findings(
        rows=rows,
        columns=columns,
        claims=_claims(rows) if several else [],
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
            f"The best alpha is {best['coarse-to-fine']:g} for coarse to fine and {best['gcm']:g} for the GCM.",
        ),
        Claim(
            "Coarse to fine is significantly more sensitive to alpha than the GCM.",
            spread["coarse-to-fine"] > 1.2 * spread["gcm"],
            f"The worst alpha raises the RMSE over the best by {spread['coarse-to-fine']:.0f} % for coarse to fine and "
            f"by {spread['gcm']:.0f} % for the GCM.",
        ),
    ]


EXPERIMENT = comparison_experiment(
    "Sensitivity to alpha",
    "the figure in Multi-Scale Results on the sensitivity to alpha",
    "hci",
    comparison,
    describe,
    pictures=("alpha",),
)
