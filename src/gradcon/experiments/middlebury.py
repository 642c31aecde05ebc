"""The paper's experiment on Middlebury 2006: six scales, seven views, the GCM with its sliding window."""

from __future__ import annotations

from dataclasses import replace

from gradcon.experiments.comparison import Comparison
from gradcon.experiments.experiment import RMSE_COLUMNS, Claim, Column, Context, Findings, Picture, Row, ranking
from gradcon.experiments.methods import COARSE_TO_FINE, GCM
from gradcon.jobs import Job, Outcomes
from gradcon.pictures import figures

TITLE = "Middlebury 2006"
PAPER = "table and figure of Multi-Scale Results on Middlebury 2006"
NEEDS = "middlebury"
PICTURES = ("middlebury",)

SCALES = 6
PAPER_HEIGHT = 555  # half size; RMSE in pixels shrinks with the images
PAPER_RMSE = {"coarse-to-fine": 2.82685, "gcm": 2.11002}


def comparison(context: Context) -> Comparison:
    contenders = [
        replace(contender, options=replace(contender.options, scales=SCALES), paper=PAPER_RMSE[contender.key])
        for contender in (COARSE_TO_FINE, GCM)
    ]
    return Comparison(context.datasets[NEEDS], contenders, context.plan)


def jobs(context: Context) -> list[Job]:
    return comparison(context).jobs()


def conclude(context: Context, report: Outcomes) -> Findings:
    compared = comparison(context)
    verdict = compared.judge(report)
    rows, curves = verdict.rows(), verdict.curves()
    if not rows:
        return Findings()
    heights = sorted({entry.size[1] for entry in compared.dataset.entries})
    if len(heights) == 1:
        for row in rows.values():
            row["paper_at_this_size"] = row["paper"] * heights[0] / PAPER_HEIGHT
            row["difference_percent"] = 100 * (row["rmse"] / row["paper_at_this_size"] - 1)
    columns = list(RMSE_COLUMNS)
    columns[2:3] = [Column("paper", "paper, half size", ".3f"), Column("paper_at_this_size", "paper, at this size")]
    labels = {contender.key: contender.label for contender in compared.contenders}
    return Findings(
        rows=rows,
        columns=columns,
        curves=curves,
        claims=_claims(rows),
        pictures=[
            Picture(
                "middlebury",
                "Mean RMSE after each solve, Middlebury 2006, six scales.",
                lambda: figures.convergence(curves, labels, "Middlebury 2006"),
            )
        ],
        notes=[
            *verdict.notes(),
            f"RMSE in pixels per unit baseline (adjacent views), images {' and '.join(map(str, heights))} pixels high. "
            f"The paper used half size, {PAPER_HEIGHT} pixels: its values are also shown scaled to this size, and the "
            "difference is to that.",
        ],
    )


def _claims(rows: dict[str, Row]) -> list[Claim]:
    gcm, rival = rows["gcm"], rows["coarse-to-fine"]
    better = 100 * (1 - gcm["rmse"] / rival["rmse"])
    paper = 100 * (1 - PAPER_RMSE["gcm"] / PAPER_RMSE["coarse-to-fine"])
    return [
        Claim(
            "On Middlebury 2006 the GCM is significantly more accurate than coarse to fine.",
            better > 5,
            f"{ranking(rows)} That is {better:.0f} % lower (the paper: {paper:.0f} %).",
            needs_end=True,
        ),
        Claim(
            "... and converges faster.",
            gcm["solves_within_2_percent"] < rival["solves_within_2_percent"],
            f"within 2 % of the final RMSE after {gcm['solves_within_2_percent']} solves (coarse to fine: "
            f"{rival['solves_within_2_percent']}).",
            needs_end=True,
        ),
    ]
