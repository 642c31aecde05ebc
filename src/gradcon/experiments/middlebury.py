"""The paper's experiment on Middlebury 2006: six scales, seven views, and the GCM with its sliding window."""

from __future__ import annotations

from dataclasses import replace

from gradcon.experiments.comparison import Comparison, Forms, Question, Verdict, comparison_experiment
from gradcon.experiments.counts import COMPLETE, ENDED
from gradcon.experiments.experiment import Context, Findings, above, listing, ranking
from gradcon.experiments.methods import COARSE_TO_FINE, GCM

NAME = "middlebury"
SCALES = 6
PAPER_HEIGHT = 555  # half size; RMSE in pixels shrinks with the images
PAPER_RMSE = {COARSE_TO_FINE.key: 2.82685, GCM.key: 2.11002}
SIGNIFICANT = 5.0  # percent


def comparison(context: Context) -> Comparison:
    dataset = context.datasets["middlebury"]
    heights = {scene.size[1] for scene in dataset.scenes}
    scale = heights.pop() / PAPER_HEIGHT if len(heights) == 1 else None
    contenders = [
        replace(who, options=replace(who.options, scales=SCALES), paper=scale and scale * PAPER_RMSE[who.key])
        for who in (COARSE_TO_FINE, GCM)
    ]
    return Comparison(dataset, contenders, context.setup)


def describe(context: Context, forms: Forms) -> Findings:
    caption = "Mean RMSE after each solve, Middlebury 2006, six scales."
    found = forms.findings(NAME, QUESTIONS, caption, "Middlebury 2006")
    heights = sorted({scene.size[1] for scene in forms.ours.comparison.dataset.scenes})
    values = listing({who.label: f"{PAPER_RMSE[who.key]:.3f}" for who in (COARSE_TO_FINE, GCM)})
    found.notes.append(
        f"RMSE is in pixels per unit baseline (adjacent views); the images are {' and '.join(map(str, heights))} "
        f"pixels high. The paper used half size, {PAPER_HEIGHT} pixels, for which it has: {values} The table has these "
        "values scaled to the size of the images."
    )
    return found


def accuracy(verdict: Verdict) -> tuple[bool, str]:
    rmse = verdict.rmse()
    more, paper = (above(found[COARSE_TO_FINE.key], found[GCM.key]) for found in (rmse, PAPER_RMSE))
    text = (
        f"{ranking(verdict.rows())} Coarse to fine's lies {more:+.0f} % above the GCM's (in the paper: {paper:+.0f} %)."
    )
    return more > SIGNIFICANT, text


def rate(verdict: Verdict) -> tuple[bool, str]:
    arrived = verdict.arrived()
    return (
        arrived[GCM.key] < arrived[COARSE_TO_FINE.key],
        f"It comes within 2 % of its final RMSE after {arrived[GCM.key]} solves (coarse to fine: "
        f"{arrived[COARSE_TO_FINE.key]}, or more where it was still changing).",
    )


BOTH = (COARSE_TO_FINE.key, GCM.key)
QUESTIONS = [
    Question("middlebury-accuracy", accuracy, {COMPLETE: BOTH}),
    Question("middlebury-rate", rate, {COMPLETE: BOTH, ENDED: (GCM.key,)}),
]

EXPERIMENT = comparison_experiment(
    "Middlebury 2006",
    "the table and the figure in Multi-Scale Results on Middlebury 2006",
    "middlebury",
    comparison,
    describe,
    pictures=(NAME,),
    more_tables=(f"{NAME}-scenes", f"{NAME}-as-printed"),
)
