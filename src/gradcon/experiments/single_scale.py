"""The paper's experiment at one scale: the naive approach, the GCM and progressive inclusion of views."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gradcon.experiments.comparison import Comparison, Verdict, comparison_experiment
from gradcon.experiments.experiment import RMSE_COLUMNS, Claim, Context, Findings, Row, listing, ranking
from gradcon.experiments.methods import ONE_SCALE


def comparison(context: Context) -> Comparison:
    return Comparison(context.datasets["hci"], ONE_SCALE, context.setup)


def describe(context: Context, verdict: Verdict) -> Findings:
    rows, curves = verdict.rows(), verdict.curves()
    return Findings(
        rows=rows,
        columns=RMSE_COLUMNS,
        curves=curves,
        claims=_claims(rows, curves),
        pictures=[verdict.convergence("single-scale", "Mean RMSE after each solve, one scale.", "One scale")],
        notes=verdict.notes(),
    )


def _claims(rows: dict[str, Row], curves: dict[str, list[float]]) -> list[Claim]:
    rmse = {key: row["rmse"] for key, row in rows.items()}
    arrived = {key: row["solves_within_2_percent"] for key, row in rows.items()}
    overtaken = ahead_from(curves)
    progressive = curves["progressive"]
    best, final = min(progressive), progressive[-1]
    return [
        Claim("At one scale the GCM has the best final RMSE.", min(rmse, key=rmse.__getitem__) == "gcm", ranking(rows)),
        Claim(
            "The naive approach performs worst and converges slowest.",
            max(rmse, key=rmse.__getitem__) == "naive" and max(arrived, key=arrived.__getitem__) == "naive",
            "Solves needed to come within 2 % of the final RMSE: "
            + listing({rows[key]["label"]: solves for key, solves in arrived.items()}),
            needs_end=True,
        ),
        Claim(
            "After 30 solves the GCM is better than the other approaches.",
            overtaken is not None and overtaken <= 31,
            f"It stays ahead from solve {overtaken} on." if overtaken else "It is not ahead at the end.",
        ),
        Claim(
            "Progressive inclusion converges rapidly, but loses accuracy as further views are added.",
            arrived["progressive"] < arrived["gcm"] and final > 1.005 * best,
            f"Its best RMSE is {best:.3f}, after {1 + progressive.index(best)} solves; its final RMSE is {final:.3f}. "
            f"It comes within 2 % of that after {arrived['progressive']} solves (GCM: {arrived['gcm']}).",
            needs_end=True,
        ),
    ]


def ahead_from(curves: Mapping[str, Sequence[float]]) -> int | None:
    """Return the solve from which the GCM stays ahead of all others, or None if it is not ahead at the end."""
    longest = max(len(curve) for curve in curves.values())
    behind = [
        n
        for n in range(longest)
        if any(
            curves["gcm"][min(n, len(curves["gcm"]) - 1)] >= curve[min(n, len(curve) - 1)]
            for key, curve in curves.items()
            if key != "gcm"
        )
    ]
    first = behind[-1] + 2 if behind else 1
    return first if first <= longest else None


EXPERIMENT = comparison_experiment(
    "One scale",
    "the table and the figure in Single Scale Results",
    "hci",
    comparison,
    describe,
    pictures=("single-scale",),
)
