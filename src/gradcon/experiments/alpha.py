"""How sensitive coarse to fine and the GCM are to alpha."""

from __future__ import annotations

from gradcon.experiments.comparison import Comparison, Forms, Question, Verdict, comparison_experiment
from gradcon.experiments.experiment import Claim, Column, Context, Findings, Picture, Row, above, listing, mean
from gradcon.experiments.methods import COARSE_TO_FINE, GCM
from gradcon.pictures import figures

BEST = 0.5  # the paper's
AROUND = 10**0.5  # times less and more: a decade, as for epsilon
ROBUST = 5.0  # percent
MORE = 1.2  # times as sensitive


def comparison(context: Context) -> Comparison:
    return Comparison(context.datasets["hci"], (COARSE_TO_FINE, GCM), context.setup)


def describe(context: Context, forms: Forms) -> Findings:
    alphas, rows = context.setup.alphas, _rows(forms.ours)
    if forms.printed is not None:
        printed = _rows(forms.printed).items()
        rows |= {f"{key}-as-printed": {**row, "label": f"{row['label']}, as printed"} for key, row in printed}
    if len(alphas) < 2:
        return Findings(
            rows=rows,
            columns=[Column("label", "method", "s"), Column("rmse", "RMSE")],
            claims=[Claim(question.statement, None, "A quick run uses one alpha.") for question in QUESTIONS],
            notes=forms.ours.notes(),
        )
    return Findings(
        rows=rows,
        columns=[
            Column("label", "method", "s"),
            *(Column(f"by_alpha|{alpha:g}", f"alpha {alpha:g}") for alpha in alphas),
            Column("best_alpha", "best alpha", "g"),
            Column("excess_percent", "mean over best (%)", "+.0f"),
            Column("spread_percent", "worst over best (%)", "+.0f"),
        ],
        claims=forms.claims(QUESTIONS),
        pictures=[
            Picture("alpha", "Mean final RMSE over all scenes against alpha.", lambda: figures.against_alpha(rows))
        ],
        notes=forms.ours.notes(),
    )


def robust(verdict: Verdict) -> tuple[bool, str]:
    means = {float(alpha): rmse for alpha, rmse in _rows(verdict)[GCM.key]["by_alpha"].items()}
    near = {alpha: rmse for alpha, rmse in means.items() if BEST / AROUND <= alpha <= BEST * AROUND}
    spread = above(max(near.values()), min(near.values()))
    values = {f"{alpha:g}": f"{rmse:.4f}" for alpha, rmse in near.items()}
    return spread < ROBUST, f"RMSE across a decade around {BEST:g}: {listing(values)} That is {spread:.1f} % apart."


def best_alpha(verdict: Verdict) -> tuple[bool, str]:
    best = {row["label"]: row["best_alpha"] for row in _rows(verdict).values()}
    return set(best.values()) == {BEST}, listing({label: f"{alpha:g}" for label, alpha in best.items()})


def sensitivity(verdict: Verdict) -> tuple[bool, str]:
    rows = _rows(verdict)
    excess = {key: row["excess_percent"] for key, row in rows.items()}
    texts = {
        row["label"]: f"{row['excess_percent']:.0f} % on average, {row['spread_percent']:.0f} % at most"
        for row in rows.values()
    }
    return (
        excess[COARSE_TO_FINE.key] > MORE * excess[GCM.key],
        f"The alphas of the grid raise the RMSE over that of the best alpha by this much: {listing(texts)}",
    )


def _rows(verdict: Verdict) -> dict[str, Row]:
    rows = verdict.rows()
    for row in rows.values():
        means = row["by_alpha"]
        lowest = min(means.values())
        row["best_alpha"] = float(min(means, key=means.__getitem__))
        row["excess_percent"] = above(mean(means.values()), lowest)
        row["spread_percent"] = above(max(means.values()), lowest)
    return rows


QUESTIONS = [
    Question("robust-to-alpha", robust),
    Question("best-alpha", best_alpha),
    Question("alpha-sensitivity", sensitivity),
]

EXPERIMENT = comparison_experiment(
    "Sensitivity to alpha",
    "the figure in Multi-Scale Results on the sensitivity to alpha",
    "hci",
    comparison,
    describe,
    pictures=("alpha",),
)
