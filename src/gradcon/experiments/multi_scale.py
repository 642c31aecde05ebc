"""The paper's experiment at three scales: coarse to fine, the GCM and its two ablations."""

from __future__ import annotations

from gradcon.experiments.comparison import Comparison, Verdict, comparison_experiment
from gradcon.experiments.experiment import RMSE_COLUMNS, Claim, Context, Findings, Row, listing, ranking
from gradcon.experiments.methods import PROGRESSIVE, THREE_SCALES
from gradcon.methods.options import Options


def comparison(context: Context) -> Comparison:
    """Return the comparison of the paper's table."""
    return Comparison(context.datasets["hci"], THREE_SCALES, context.setup)


def with_progressive(context: Context) -> Comparison:
    """Return the comparison of the paper's figure, which also shows progressive inclusion, at one scale."""
    return Comparison(context.datasets["hci"], (*THREE_SCALES, PROGRESSIVE), context.setup)


def describe(context: Context, verdict: Verdict) -> Findings:
    rows, curves = verdict.rows(), verdict.curves()
    del rows[PROGRESSIVE.key]
    caption = "Mean RMSE after each solve, three scales (progressive inclusion: one scale, as the paper defines it)."
    return Findings(
        rows=rows,
        columns=RMSE_COLUMNS,
        curves=curves,
        claims=_claims(rows, curves),
        pictures=[verdict.convergence("multi-scale", caption, "Three scales")],
        notes=verdict.notes(),
    )


def _claims(rows: dict[str, Row], curves: dict[str, list[float]]) -> list[Claim]:
    rmse = {key: row["rmse"] for key, row in rows.items()}
    arrived = {key: row["solves_within_2_percent"] for key, row in rows.items()}
    gcm, rival = curves["gcm"], curves["coarse-to-fine"]
    longest = max(len(gcm), len(rival))
    ahead = sum(gcm[min(n, len(gcm) - 1)] < rival[min(n, len(rival) - 1)] for n in range(longest))
    after_40 = rows["gcm"]["rmse_after_40"] / rmse["gcm"] - 1
    catches_up = next((n for n, value in enumerate(gcm, start=1) if value <= rival[-1]), None)
    reached = "never reaches" if catches_up is None else f"needs {catches_up} solves to reach"
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
            f"It {reached} coarse to fine's final RMSE; coarse to fine itself comes within 2 % of it after "
            f"{arrived['coarse-to-fine']}.",
            needs_end=True,
        ),
        Claim(
            "The GCM needs roughly 30 to 40 solves to come near its final RMSE.",
            after_40 < 0.05,
            f"After 40 solves its RMSE differs from the final one by {100 * after_40:+.1f} %. It stays within 2 % from "
            f"solve {arrived['gcm']} on; {_single_scenes(rows['gcm'])}.",
            needs_end=True,
        ),
        Claim(
            "Coarse to fine needs 100 to 200 solves, depending on the scene.",
            arrived["coarse-to-fine"] >= 100,
            f"Its mean RMSE stays within 2 % of the final one from solve {arrived['coarse-to-fine']} on; "
            f"{_single_scenes(rows['coarse-to-fine'])}.",
            needs_end=True,
        ),
        Claim(
            "At all points the GCM is more accurate than coarse to fine.",
            ahead == longest,
            f"It is more accurate after {ahead} of {longest} solves.",
        ),
        Claim(
            "Without the scale term (O = 0), accuracy is the worst of all.",
            max(rmse, key=rmse.__getitem__) == no_scale,
            f"RMSE rises by {100 * (rmse[no_scale] / rmse['gcm'] - 1):.0f} %.",
        ),
        Claim(
            "Without the scale term, convergence is about as fast as the GCM's.",
            arrived[no_scale] <= 1.5 * arrived["gcm"],
            _arrival(arrived, no_scale),
            needs_end=True,
        ),
        Claim(
            "Without the gradient term (G = 0), convergence is significantly slower.",
            arrived[no_gradient] > 1.5 * arrived["gcm"],
            _arrival(arrived, no_gradient),
            needs_end=True,
        ),
        Claim(
            "Without the gradient term, some scenes have not converged after 300 solves; all other approaches have.",
            {key for key, count in unfinished.items() if count} == {no_gradient},
            "Scenes not converged after 300 solves: "
            + listing({rows[key]["label"]: count for key, count in unfinished.items()}),
            needs_end=True,
        ),
        Claim(
            "Both terms are crucial to the GCM.",
            min(rmse[no_scale], rmse[no_gradient]) > 1.05 * rmse["gcm"],
            f"RMSE rises by {100 * (rmse[no_scale] / rmse['gcm'] - 1):.0f} % without the scale term and by "
            f"{100 * (rmse[no_gradient] / rmse['gcm'] - 1):.0f} % without the gradient term.",
        ),
    ]


def _arrival(arrived: dict[str, int], key: str) -> str:
    return f"It comes within 2 % of its final RMSE after {arrived[key]} solves (GCM: {arrived['gcm']})."


def _single_scenes(row: Row) -> str:
    solves = sorted(row["solves_within_2_percent_by_scene"].values())
    return f"single scenes from solve {solves[0]} to {solves[-1]} on (median {solves[len(solves) // 2]})"


EXPERIMENT = comparison_experiment(
    "Three scales",
    "the table and the figure in Multi-Scale Results",
    "hci",
    with_progressive,
    describe,
    pictures=("multi-scale",),
)
