"""The paper's experiment at three scales: coarse to fine, the GCM and its two ablations.

The paper's figure also shows progressive inclusion.  The GCM at one scale stands beside them, because the paper says
that three scales improve it.
"""

from __future__ import annotations

from gradcon.experiments.comparison import Comparison, Forms, Question, Verdict, comparison_experiment
from gradcon.experiments.counts import ALL_SOLVES, COMPLETE, ENDED, is_changing
from gradcon.experiments.crossvalidation import solves_to
from gradcon.experiments.experiment import Context, Findings, above, listing, ranking
from gradcon.experiments.methods import (
    COARSE_TO_FINE,
    GCM,
    GCM_ONE_SCALE,
    NO_GRADIENT,
    NO_SCALE,
    PROGRESSIVE,
    THREE_SCALES,
)
from gradcon.experiments.single_scale import MUCH, jumps_matter, lower_at_jumps

NAME = "multi-scale"
ALIKE = 1.5  # times the solves: two methods converge at a similar rate
POOR = 1.2  # times the error
CRUCIAL = 5.0  # percent of the RMSE
NEARLY = 5.0  # percent: "a similar RMSE"
MOSTLY = 20.0  # percent above the final RMSE: "mostly converged"


def comparison(context: Context) -> Comparison:
    return Comparison(context.datasets["hci"], (*THREE_SCALES, PROGRESSIVE, GCM_ONE_SCALE), context.setup)


def describe(context: Context, forms: Forms) -> Findings:
    return forms.findings(NAME, QUESTIONS, "Mean RMSE after each solve, three scales.", "Three scales", jumps=True)


def outperforms(verdict: Verdict) -> tuple[bool, str]:
    rmse, curves, arrived = verdict.rmse(), verdict.curves(), verdict.arrived()
    texts, better = [], True
    for who in (COARSE_TO_FINE, PROGRESSIVE):
        reached = solves_to(curves[GCM.key], rmse[who.key])
        better = better and reached is not None and reached < arrived[who.key] and rmse[GCM.key] < rmse[who.key]
        after = "never" if reached is None else f"after {reached} solves"
        texts.append(
            f"{who.label} has an RMSE of {rmse[who.key]:.3f}, within 2 % of that from solve {arrived[who.key]} on; the "
            f"GCM reaches it {after}, and then {rmse[GCM.key]:.3f}."
        )
    return better, " ".join(texts)


def best(verdict: Verdict) -> tuple[bool, str]:
    rmse = {who.key: verdict.rmse()[who.key] for who in (*THREE_SCALES, PROGRESSIVE)}
    rows = {key: row for key, row in verdict.rows().items() if key in rmse}
    at_three = "Among the methods of three scales and progressive inclusion: "
    return min(rmse, key=rmse.__getitem__) == GCM.key, at_three + ranking(rows)


def earlier(verdict: Verdict) -> tuple[bool, str]:
    arrived = verdict.arrived()[COARSE_TO_FINE.key]
    reached = solves_to(verdict.curves()[GCM.key], verdict.rmse()[COARSE_TO_FINE.key])
    text = "never reaches" if reached is None else f"needs {reached} solves to reach"
    return (
        reached is not None and 2 * reached <= arrived,
        f"It {text} coarse to fine's final RMSE; coarse to fine itself comes within 2 % of it after {arrived}.",
    )


def gcm_30_to_40(verdict: Verdict) -> tuple[bool, str]:
    row = verdict.rows()[GCM.key]
    after_40 = above(row["rmse_after_40"], row["rmse"])
    return (
        abs(after_40) < NEARLY,
        f"After 40 solves its RMSE differs from the final one by {after_40:+.1f} %. {_arrival(verdict, GCM.key)}",
    )


def coarse_100_to_200(verdict: Verdict) -> tuple[bool, str]:
    """Judge by the mean; a run that is still changing needs at least as many solves as it seems to."""
    changing = sum(map(is_changing, verdict.chosen(COARSE_TO_FINE.key).values()))
    return (
        100 <= verdict.arrived()[COARSE_TO_FINE.key] <= 200,
        f"{_arrival(verdict, COARSE_TO_FINE.key)} A few hard scenes decide the mean. Scenes on which it was still "
        f"changing after 300: {changing}.",
    )


def ahead_everywhere(verdict: Verdict) -> tuple[bool, str]:
    curves = verdict.curves()
    ahead = [ours < other for ours, other in zip(curves[GCM.key], curves[COARSE_TO_FINE.key], strict=True)]
    return all(ahead), f"It is more accurate after {sum(ahead)} of {len(ahead)} solves."


def tenth_solve(verdict: Verdict) -> tuple[bool, str]:
    after = {}
    for who in (GCM, COARSE_TO_FINE):
        (run,) = verdict.chosen(who.key).values()
        after[who.key] = above(run["rmse"][min(10, len(run["rmse"])) - 1], run["rmse"][-1])
    return (
        after[GCM.key] < MOSTLY <= after[COARSE_TO_FINE.key],
        f"After 10 solves the RMSE differs from the final one by {after[GCM.key]:+.0f} % with the GCM and by "
        f"{after[COARSE_TO_FINE.key]:+.0f} % with coarse to fine.",
    )


def three_scales_help(verdict: Verdict) -> tuple[bool, str]:
    rmse, arrived = verdict.rmse(), verdict.arrived()
    one, three = GCM_ONE_SCALE.key, GCM.key
    return (
        rmse[three] < rmse[one] and 2 * arrived[three] <= arrived[one],
        f"RMSE is {rmse[one]:.4f} at one scale and {rmse[three]:.4f} at three; it comes within 2 % of that after "
        f"{arrived[one]} and {arrived[three]} solves.",
    )


def both_terms(verdict: Verdict) -> tuple[bool, str]:
    rmse = verdict.rmse()
    risen = {who: above(rmse[who.key], rmse[GCM.key]) for who in (NO_SCALE, NO_GRADIENT)}
    texts = {who.label: f"{percent:+.0f} %" for who, percent in risen.items()}
    return min(risen.values()) > CRUCIAL, f"The RMSE changes by this much: {listing(texts)}"


def gradient_slower(verdict: Verdict) -> tuple[bool, str]:
    arrived = verdict.arrived()
    return arrived[NO_GRADIENT.key] > ALIKE * arrived[GCM.key], _beside_gcm(arrived, NO_GRADIENT.key)


def gradient_unfinished(verdict: Verdict) -> tuple[bool, str]:
    changing = {who: sum(map(is_changing, verdict.chosen(who.key).values())) for who in (*THREE_SCALES, PROGRESSIVE)}
    texts = {who.label: count for who, count in changing.items()}
    return (
        {who for who, count in changing.items() if count} == {NO_GRADIENT},
        f"Scenes whose RMSE was still changing at the end, of {len(verdict.complete)}: {listing(texts)}",
    )


def scale_rate(verdict: Verdict) -> tuple[bool, str]:
    arrived = verdict.arrived()
    return arrived[NO_SCALE.key] <= ALIKE * arrived[GCM.key], _beside_gcm(arrived, NO_SCALE.key)


def scale_worst(verdict: Verdict) -> tuple[bool, str]:
    rmse = verdict.rmse()
    return max(rmse, key=rmse.__getitem__) == NO_SCALE.key, ranking(verdict.rows())


def scale_at_jumps(verdict: Verdict) -> tuple[bool | None, str]:
    """Judge the error beside jumps at the end, so that more solves did not resolve it."""
    at_jumps = {who.key: verdict.rows()[who.key]["jumps"]["at_jumps"] for who in (NO_SCALE, GCM)}
    if None in at_jumps.values():
        return None, "There are no jumps."
    without, gcm = at_jumps[NO_SCALE.key], at_jumps[GCM.key]
    return without > POOR * gcm, f"At the end RMSE within 5 pixels of jumps is {without:.3f} (GCM: {gcm:.3f})."


def _beside_gcm(arrived: dict[str, int], key: str) -> str:
    return f"It comes within 2 % of its final RMSE after {arrived[key]} solves (GCM: {arrived[GCM.key]})."


def _arrival(verdict: Verdict, key: str) -> str:
    solves = sorted(verdict.rows()[key]["solves_within_2_percent_by_scene"].values())
    return (
        f"The mean stays within 2 % of the final one from solve {verdict.arrived()[key]} on; single scenes from solve "
        f"{solves[0]} to {solves[-1]} on (median {solves[len(solves) // 2]})."
    )


BOTH = (GCM.key, COARSE_TO_FINE.key)
QUESTIONS = [
    Question("outperforms", outperforms, {ALL_SOLVES: (*BOTH, PROGRESSIVE.key)}),
    Question("best-at-three-scales", best),
    Question("earlier", earlier, {ALL_SOLVES: BOTH}),
    Question("gcm-30-to-40", gcm_30_to_40, {ENDED: (GCM.key,)}),
    Question(
        "coarse-100-to-200", coarse_100_to_200, {COMPLETE: (COARSE_TO_FINE.key,), ALL_SOLVES: (COARSE_TO_FINE.key,)}
    ),
    Question("ahead-everywhere", ahead_everywhere, {ALL_SOLVES: BOTH}),
    Question("pens-tenth-solve", tenth_solve, {ENDED: BOTH}, scene="pens"),
    Question("jumps-at-three-scales", lambda verdict: jumps_matter(verdict, GCM.key, (COARSE_TO_FINE.key,), MUCH)),
    Question("pens-jumps", lambda verdict: lower_at_jumps(verdict, GCM.key, (COARSE_TO_FINE.key,)), scene="pens"),
    Question("three-scales-help", three_scales_help, {ENDED: (GCM.key, GCM_ONE_SCALE.key)}),
    Question("both-terms", both_terms),
    Question("no-gradient-slower", gradient_slower, {ENDED: (GCM.key,)}),
    Question("no-gradient-unfinished", gradient_unfinished, {ALL_SOLVES: (NO_GRADIENT.key,)}),
    Question("no-scale-rate", scale_rate, {ENDED: (GCM.key, NO_SCALE.key)}),
    Question("no-scale-worst", scale_worst, {COMPLETE: (COARSE_TO_FINE.key, PROGRESSIVE.key)}),
    Question("no-scale-pens", scale_at_jumps, {ENDED: (NO_SCALE.key,)}, scene="pens"),
]

EXPERIMENT = comparison_experiment(
    "Three scales",
    "the table and the figure in Multi-Scale Results",
    "hci",
    comparison,
    describe,
    pictures=(NAME,),
    more_tables=(f"{NAME}-scenes", f"{NAME}-as-printed", f"{NAME}-jumps"),
)
