"""The paper's experiment at one scale: naive, GCM and progressive inclusion of views."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gradcon.experiments.comparison import Comparison
from gradcon.experiments.experiment import RMSE_COLUMNS, Claim, Context, Findings, Picture, Row, ranking
from gradcon.experiments.methods import ONE_SCALE
from gradcon.jobs import Job, Outcomes
from gradcon.pictures import figures

TITLE = "One scale"
PAPER = "table and figure of Single Scale Results"
NEEDS = "hci"
PICTURES = ("single-scale",)


def comparison(context: Context) -> Comparison:
    return Comparison(context.datasets[NEEDS], ONE_SCALE, context.plan)


def jobs(context: Context) -> list[Job]:
    return comparison(context).jobs()


def conclude(context: Context, report: Outcomes) -> Findings:
    verdict = comparison(context).judge(report)
    rows, curves = verdict.rows(), verdict.curves()
    if not rows:
        return Findings()
    labels = {contender.key: contender.label for contender in ONE_SCALE}
    return Findings(
        rows=rows,
        columns=RMSE_COLUMNS,
        curves=curves,
        claims=_claims(rows, curves),
        notes=verdict.notes(),
        pictures=[
            Picture(
                "single-scale",
                "Mean RMSE after each solve, one scale.",
                lambda: figures.convergence(curves, labels, "One scale"),
            )
        ],
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
            "solves to within 2 % of the final RMSE: " + _count(rows, "solves_within_2_percent"),
            needs_end=True,
        ),
        Claim(
            "After 30 solves the GCM is better than the other approaches.",
            overtaken is not None and overtaken <= 31,
            f"it is ahead for good from solve {overtaken} on." if overtaken else "it is not ahead at the end.",
        ),
        Claim(
            "Progressive inclusion converges rapidly, but loses accuracy as further views are added.",
            arrived["progressive"] < arrived["gcm"] and final > 1.005 * best,
            f"its best RMSE is {best:.3f} after {1 + progressive.index(best)} solves, its final one {final:.3f}; "
            f"within 2 % of the end after {arrived['progressive']} solves (GCM: {arrived['gcm']}).",
            needs_end=True,
        ),
    ]


def ahead_from(curves: Mapping[str, Sequence[float]]) -> int | None:
    """The solve from which the GCM is ahead of the others for good."""
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


def _count(rows: dict[str, Row], path: str) -> str:
    return ", ".join(f"{row['label']}: {row[path]}" for row in rows.values()) + "."
