"""The paper's experiment at three scales: coarse to fine, the GCM and its two ablations."""

from __future__ import annotations

from gradcon.experiments.comparison import Comparison
from gradcon.experiments.experiment import RMSE_COLUMNS, Claim, Context, Findings, Picture, Row, ranking
from gradcon.experiments.methods import PROGRESSIVE, THREE_SCALES
from gradcon.jobs import Job, Outcomes
from gradcon.methods.options import Options
from gradcon.pictures import figures

TITLE = "Three scales"
PAPER = "table and figure of Multi-Scale Results"
NEEDS = "hci"
PICTURES = ("multi-scale",)


def comparison(context: Context) -> Comparison:
    return Comparison(context.datasets[NEEDS], THREE_SCALES, context.plan)


def jobs(context: Context) -> list[Job]:
    return _with_progressive(context).jobs()


def conclude(context: Context, report: Outcomes) -> Findings:
    verdict = _with_progressive(context).judge(report)
    rows, curves = verdict.rows(), verdict.curves()
    if not rows:
        return Findings()
    del rows[PROGRESSIVE.key]
    labels = {contender.key: contender.label for contender in verdict.comparison.contenders}
    return Findings(
        rows=rows,
        columns=RMSE_COLUMNS,
        curves=curves,
        claims=_claims(rows, curves),
        pictures=[
            Picture(
                "multi-scale",
                "Mean RMSE after each solve, three scales (progressive inclusion: one, as the paper defines it).",
                lambda: figures.convergence(curves, labels, "Three scales"),
            )
        ],
        notes=verdict.notes(),
    )


def _with_progressive(context: Context) -> Comparison:
    """Progressive inclusion is in the figure, not in the table; its runs are those at one scale."""
    return Comparison(context.datasets[NEEDS], (*THREE_SCALES, PROGRESSIVE), context.plan)


def _claims(rows: dict[str, Row], curves: dict[str, list[float]]) -> list[Claim]:
    rmse = {key: row["rmse"] for key, row in rows.items()}
    arrived = {key: row["solves_within_2_percent"] for key, row in rows.items()}
    gcm, rival = curves["gcm"], curves["coarse-to-fine"]
    longest = max(len(gcm), len(rival))
    ahead = sum(gcm[min(n, len(gcm) - 1)] < rival[min(n, len(rival) - 1)] for n in range(longest))
    after_40 = rows["gcm"]["rmse_after_40"] / rmse["gcm"] - 1
    catches_up = next((n for n, value in enumerate(gcm, start=1) if value <= rival[-1]), None)
    unfinished = {key: sum(n == Options.solves for n in row["solves"].values()) for key, row in rows.items()}
    no_scale, no_gradient = "gcm-without-scale", "gcm-without-gradient"
    return [
        Claim(
            "At three scales the GCM has the best final RMSE.",
            min(rmse, key=rmse.__getitem__) == "gcm",
            ranking(rows),
        ),
        Claim(
            "The GCM achieves accurate results significantly earlier than coarse to fine.",
            catches_up is not None and 2 * catches_up <= arrived["coarse-to-fine"],
            f"it reaches coarse to fine's final RMSE after {catches_up or 'no number of'} solves; coarse to fine comes "
            f"within 2 % of it after {arrived['coarse-to-fine']}.",
            needs_end=True,
        ),
        Claim(
            "The GCM needs roughly 30 to 40 solves to come near its final RMSE.",
            after_40 < 0.05,
            f"after 40 solves it is {100 * after_40:+.1f} % from it, and within 2 % from solve {arrived['gcm']} on; "
            f"scene by scene, {_by_scene(rows['gcm'])}.",
            needs_end=True,
        ),
        Claim(
            "Coarse to fine needs 100 to 200 solves, depending on the scene.",
            arrived["coarse-to-fine"] >= 100,
            f"its mean is within 2 % of the end from solve {arrived['coarse-to-fine']} on; scene by scene, "
            f"{_by_scene(rows['coarse-to-fine'])}.",
            needs_end=True,
        ),
        Claim(
            "At all points the GCM is more accurate than coarse to fine.",
            ahead == longest,
            f"it is after {ahead} of {longest} solves.",
        ),
        Claim(
            "Without the scale term (O = 0) accuracy is the worst of all.",
            max(rmse, key=rmse.__getitem__) == no_scale,
            f"RMSE rises by {100 * (rmse[no_scale] / rmse['gcm'] - 1):.0f} %.",
        ),
        Claim(
            "... and convergence is about as fast as the GCM's.",
            arrived[no_scale] <= 1.5 * arrived["gcm"],
            f"within 2 % of its final RMSE after {arrived[no_scale]} solves (GCM: {arrived['gcm']}).",
            needs_end=True,
        ),
        Claim(
            "Without the gradient term (G = 0) convergence is significantly slower.",
            arrived[no_gradient] > 1.5 * arrived["gcm"],
            f"within 2 % of its final RMSE after {arrived[no_gradient]} solves (GCM: {arrived['gcm']}).",
            needs_end=True,
        ),
        Claim(
            "... and after 300 solves it has not converged in all scenes, whereas all other approaches have.",
            {key for key, count in unfinished.items() if count} == {no_gradient},
            "scenes not converged after 300 solves: "
            + ", ".join(f"{rows[key]['label']}: {count}" for key, count in unfinished.items())
            + ".",
            needs_end=True,
        ),
        Claim(
            "Both terms are crucial to the GCM.",
            min(rmse[no_scale], rmse[no_gradient]) > 1.05 * rmse["gcm"],
            f"RMSE rises by {100 * (rmse[no_scale] / rmse['gcm'] - 1):.0f} % without the scale term and by "
            f"{100 * (rmse[no_gradient] / rmse['gcm'] - 1):.0f} % without the gradient term.",
        ),
    ]


def _by_scene(row: Row) -> str:
    solves = sorted(row["solves_within_2_percent_by_scene"].values())
    return f"from solve {solves[0]} to {solves[-1]} on (median {solves[len(solves) // 2]})"
