"""The paper's experiment at one scale: the naive approach, the GCM and progressive inclusion of views."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gradcon.experiments.comparison import NEAR, Comparison, Forms, Question, Verdict, comparison_experiment
from gradcon.experiments.counts import ALL_SOLVES, COMPLETE, ENDED
from gradcon.experiments.crossvalidation import solves_to
from gradcon.experiments.experiment import Context, Findings, above, listing, mean, ranking
from gradcon.experiments.methods import GCM_ONE_SCALE, NAIVE, ONE_SCALE, PROGRESSIVE

NAME = "single-scale"
LOST = 1.005  # times the lowest mean RMSE: more than that is a loss of accuracy
EARLY = 31  # solves: "after 30 solves"
MUCH_LOWER = 0.9  # times the error of the others
LARGELY, MUCH = 1 / 2, 1 / 3  # of an improvement


def comparison(context: Context) -> Comparison:
    return Comparison(context.datasets["hci"], ONE_SCALE, context.setup)


def describe(context: Context, forms: Forms) -> Findings:
    return forms.findings(NAME, QUESTIONS, "Mean RMSE after each solve, one scale.", "One scale", jumps=True)


def naive_worst(verdict: Verdict) -> tuple[bool, str]:
    rmse, first = verdict.rmse(), first_near(verdict)
    return (
        max(rmse, key=rmse.__getitem__) == max(first, key=first.__getitem__) == NAIVE.key,
        f"{ranking(verdict.rows())} Solves until the RMSE is within 2 % of the final one, or lower: "
        f"{_listed(verdict, first)}",
    )


def first_near(verdict: Verdict) -> dict[str, int]:
    """Return when each method first comes near its final RMSE; it may be lower for a while before the end."""
    rmse = verdict.rmse()
    return {key: solves_to(curve, (1 + NEAR) * rmse[key]) or len(curve) for key, curve in verdict.curves().items()}


def progressive_rapid(verdict: Verdict) -> tuple[bool, str]:
    rmse, first = verdict.rmse(), first_near(verdict)
    rapid = all(first[PROGRESSIVE.key] < other for key, other in first.items() if key != PROGRESSIVE.key)
    return (
        rapid and min(rmse, key=rmse.__getitem__) != PROGRESSIVE.key,
        f"Solves until the RMSE is within 2 % of the final one, or lower: {_listed(verdict, first)} "
        f"{ranking(verdict.rows())}",
    )


def progressive_loses(verdict: Verdict) -> tuple[bool, str]:
    curve = verdict.curves()[PROGRESSIVE.key]
    best, final = min(curve), curve[-1]
    runs = verdict.chosen(PROGRESSIVE.key).values()
    worse = sum(run["rmse"][-1] > LOST * min(run["rmse"]) for run in runs)
    return (
        final > LOST * best,
        f"The mean RMSE is {best:.4f} at its best, after {1 + curve.index(best)} solves, and {final:.4f} at the end "
        f"({above(final, best):+.1f} %). It rises by more than {100 * (LOST - 1):.1f} % on {worse} of "
        f"{len(runs)} scenes.",
    )


def best(verdict: Verdict) -> tuple[bool, str]:
    rmse = verdict.rmse()
    return min(rmse, key=rmse.__getitem__) == GCM_ONE_SCALE.key, ranking(verdict.rows())


def ahead_after_30(verdict: Verdict) -> tuple[bool, str]:
    curves = verdict.curves()
    overtaken = ahead_from(curves.pop(GCM_ONE_SCALE.key), list(curves.values()))
    text = "It is not ahead at the end." if overtaken is None else f"It stays ahead from solve {overtaken} on."
    return overtaken is not None and overtaken <= EARLY, text


def jumps_matter(verdict: Verdict, gcm: str, rivals: Sequence[str], enough: float) -> tuple[bool, str]:
    """Judge whether enough of the squared error that the GCM saves is saved within a few pixels of jumps."""
    shares = {}
    pixels = mean(run["jumps"]["jump_pixels"] for run in verdict.chosen(gcm).values())
    for key in rivals:
        saved = {"at_jumps": 0.0, "elsewhere": 0.0}
        for ours, other in zip(verdict.chosen(gcm).values(), verdict.chosen(key).values(), strict=True):
            part = {"at_jumps": ours["jumps"]["jump_pixels"], "elsewhere": 100 - ours["jumps"]["jump_pixels"]}
            for place, percent in part.items():
                if percent:
                    errors = (run["jumps"][f"rmse_{place}"] ** 2 for run in (other, ours))
                    saved[place] += percent * (next(errors) - next(errors))
        shares[verdict.labels[key]] = (saved["at_jumps"], sum(saved.values()))
    better = all(total > 0 and at_jumps > enough * total for at_jumps, total in shares.values())
    texts = {
        label: f"{100 * at_jumps / total:.0f} %" if total > 0 else "the GCM saves nothing"
        for label, (at_jumps, total) in shares.items()
    }
    return better, (
        f"Of the squared error that the GCM saves, this much is within 5 pixels of jumps, where {pixels:.0f} % of the "
        f"pixels are: {listing(texts)}"
    )


def lower_at_jumps(verdict: Verdict, gcm: str, rivals: Sequence[str]) -> tuple[bool | None, str]:
    """Judge whether the GCM's error beside jumps is much lower than that of others."""
    at_jumps = {key: row["jumps"]["at_jumps"] for key, row in verdict.rows().items() if key in (gcm, *rivals)}
    if None in at_jumps.values():
        return None, "There are no jumps."
    texts = {verdict.labels[key]: f"{value:.3f}" for key, value in at_jumps.items()}
    lower = at_jumps[gcm] < MUCH_LOWER * min(at_jumps[key] for key in rivals)
    return lower, f"RMSE within 5 pixels of jumps: {listing(texts)}"


def ahead_from(gcm: Sequence[float], others: Sequence[Sequence[float]]) -> int | None:
    """Return the solve from which the GCM stays ahead of all others, or None if it is not ahead at the end."""
    behind = [n for n, value in enumerate(gcm, 1) if any(value >= other[n - 1] for other in others)]
    first = behind[-1] + 1 if behind else 1
    return first if first <= len(gcm) else None


def _listed(verdict: Verdict, values: Mapping[str, int]) -> str:
    return listing({verdict.labels[key]: value for key, value in values.items()})


RIVALS = (NAIVE.key, PROGRESSIVE.key)
QUESTIONS = [
    Question("naive-worst", naive_worst, {ALL_SOLVES: (NAIVE.key,), ENDED: (GCM_ONE_SCALE.key,)}),
    Question("progressive-rapid", progressive_rapid, {COMPLETE: (PROGRESSIVE.key,), ENDED: (GCM_ONE_SCALE.key,)}),
    Question("progressive-loses", progressive_loses, {COMPLETE: (PROGRESSIVE.key,)}),
    Question("best-at-one-scale", best, {COMPLETE: (PROGRESSIVE.key,)}),
    Question("ahead-after-30", ahead_after_30, {ALL_SOLVES: (GCM_ONE_SCALE.key,)}),
    Question("jumps-at-one-scale", lambda verdict: jumps_matter(verdict, GCM_ONE_SCALE.key, RIVALS, LARGELY)),
    Question("backgammon", lambda verdict: lower_at_jumps(verdict, GCM_ONE_SCALE.key, RIVALS), scene="backgammon"),
]

EXPERIMENT = comparison_experiment(
    "One scale",
    "the table and the figure in Single Scale Results",
    "hci",
    comparison,
    describe,
    pictures=(NAME,),
    more_tables=(f"{NAME}-scenes", f"{NAME}-as-printed", f"{NAME}-jumps"),
)
