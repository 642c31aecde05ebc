"""From the records of runs to the counts and verdicts of the report, on made-up records."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradcon.engines import PRINTED, Choices
from gradcon.experiments import alpha, boundaries, counts, middlebury, multi_scale, panels, single_scale, step_limit
from gradcon.experiments.comparison import Comparison, Forms, Question, Verdict
from gradcon.experiments.counts import ALL_SOLVES, COMPLETE, ENDED
from gradcon.experiments.datasets import KINDS, Dataset, KnownScene
from gradcon.experiments.experiment import Claim, Setup
from gradcon.experiments.methods import COARSE_TO_FINE, GCM, NAIVE, Contender
from gradcon.experiments.robustness import claim as robust_claim
from gradcon.experiments.statements import STATEMENTS
from gradcon.experiments.trial import fair, trust_beside_jumps
from gradcon.jobs import Job, Outcome, Outcomes
from gradcon.result.weights import CODES, Weights
from gradcon.scene import Scene

SETUP = Setup("cpu", (), 300, quick=False)
NAMES = ("backgammon", "boxes", "pens", "town")


def dataset(names: tuple[str, ...] = NAMES, kind: str = "hci") -> Dataset:
    scenes = [
        KnownScene(name, Path(name), sha256=name, views=17, size=(8, 370), disparity_range=(0, 1)) for name in names
    ]
    return Dataset(KINDS[kind], scenes)


def record(
    final: float, *, after: int = 1, start: float = 9.0, at_jumps: float | None = None, **course: int
) -> dict[str, Any]:
    """Return the record of a run that jumps from `start` to its final RMSE after some solves."""
    beside = 2 * final if at_jumps is None else at_jumps
    return {
        "rmse": [start] * (after - 1) + [final] * (301 - after),
        "solves": 300,
        "course": {"stages": 1, "reached": 1, "cut": 0} | course,
        "jumps": {"rmse_at_jumps": beside, "rmse_elsewhere": 0.5 * final, "jump_pixels": 20.0},
        "metrics": {"badpix_007": 1.0},
        "seconds": 1.0,
    }


def judged(
    comparison: Comparison,
    runs: dict[str, dict[str, Any]],
    special: dict[tuple[str, str], dict[str, Any]] | None = None,
) -> Verdict:
    """Return the verdict on made-up runs, by contender; `special` ones are by scene and contender."""
    outcomes = Outcomes()
    for scene in comparison.dataset.scenes:
        for who in comparison.contenders:
            for value in comparison.alphas(who):
                run = (special or {}).get((scene.name, who.key), runs[who.key])
                outcomes.outcomes[comparison.job(scene, who, value).key] = Outcome(run)
    return comparison.judge(outcomes)


def two(gcm: dict[str, Any], coarse: dict[str, Any], **special: dict[str, Any]) -> Verdict:
    """Return the verdict on two contenders; `special` runs of the GCM are by scene."""
    found = {(name, GCM.key): run for name, run in special.items()}
    return judged(Comparison(dataset(), (COARSE_TO_FINE, GCM), SETUP), {"gcm": gcm, "coarse-to-fine": coarse}, found)


def lower(verdict: Verdict) -> tuple[bool, str]:
    rmse = verdict.rmse()
    return rmse["gcm"] < rmse["coarse-to-fine"], f"over {len(verdict.complete)} scenes."


def test_runs_are_counted_by_what_they_did_not_do() -> None:
    still = record(0.3)
    moving = {**still, "rmse": list(np.linspace(0.302, 0.3, 300))}
    creeping = {**still, "rmse": list(np.linspace(0.305, 0.3, 300))}  # by 0.27 % over the last 50
    late = {**still, "rmse": [0.3] * 250 + [0.302] + [0.3] * 49}
    assert [counts.is_changing(run) for run in (still, moving, creeping, late)] == [False, False, False, True]
    runs = [still, late, record(0.3, stages=3, reached=2, cut=1), record(0.3, stages=3, reached=3, cut=2)]
    assert counts.count(runs) == {"incomplete": 1, "cut": 2, "changing": 1}


def test_a_statement_is_judged_on_runs_that_did_what_it_is_about() -> None:
    question = Question("best-at-three-scales", lower, {COMPLETE: ("gcm",)})
    done, not_done = record(0.2), record(0.9, stages=3, reached=2)
    everywhere = question.claim(two(done, record(0.3)))
    assert everywhere == Claim("best-at-three-scales", True, "over 4 scenes.")
    half = question.claim(two(done, record(0.3), boxes=not_done, pens=not_done))
    assert half.supported
    assert half.measured == "On the 2 of 4 scenes with runs of GCM that took in all views and scales: over 2 scenes."
    few = question.claim(two(done, record(0.3), boxes=not_done, pens=not_done, town=not_done))
    assert few.supported is None
    assert few.measured == "Only on 1 of 4 scenes are there runs of GCM that took in all views and scales."


def test_needs_of_several_kinds_add_up() -> None:
    question = Question("earlier", lower, {ENDED: ("gcm", "coarse-to-fine"), ALL_SOLVES: ("gcm",)})
    moving = {**record(0.2), "rmse": list(np.linspace(0.4, 0.2, 300))}
    short = {**record(0.2), "rmse": [0.2] * 40}
    found = question.claim(two(record(0.2), record(0.3), boxes=moving, town=moving))
    assert found.measured.startswith(
        "On the 2 of 4 scenes with runs of GCM and Coarse to fine that had come to an end: "
    )
    cut = Comparison(dataset(("boxes",)), (COARSE_TO_FINE, GCM), SETUP)
    assert "that took 300 solves" in question.claim(judged(cut, {"gcm": short, "coarse-to-fine": short})).measured


def test_a_statement_about_a_scene_needs_the_scene() -> None:
    question = Question("pens-jumps", lower, scene="pens")
    assert question.claim(two(record(0.2), record(0.3), pens=record(0.4))).supported is False
    absent = judged(
        Comparison(dataset(("town",)), (COARSE_TO_FINE, GCM), SETUP),
        dict.fromkeys(("gcm", "coarse-to-fine"), record(1)),
    )
    assert question.claim(absent) == Claim("pens-jumps", None, "The scene pens is not among the scenes.")


def test_both_forms_have_a_verdict() -> None:
    question = Question("earlier", lower)
    better, worse = two(record(0.2), record(0.3)), two(record(0.4), record(0.3))
    (same,) = Forms(better, better).claims([question])
    assert (same.supported, same.as_printed, same.measured) == (True, "supported", "over 4 scenes.")
    (other,) = Forms(better, worse).claims([question])
    assert (other.as_printed, other.measured) == ("not supported", "over 4 scenes. As printed: over 4 scenes.")
    (alone,) = Forms(better).claims([question])
    assert alone.as_printed == ""


def test_tables_show_both_forms_and_the_counts() -> None:
    better, worse = two(record(0.2), record(0.3, stages=3, reached=3, cut=1)), two(record(0.4), record(0.3))
    found = Forms(better, worse).findings("x", [], jumps=True)
    row = found.rows["gcm"]
    assert (row["rmse"], row["printed"]["rmse"], row["printed"]["alphas"]) == (
        pytest.approx(0.2),
        pytest.approx(0.4),
        [GCM.alpha] * 4,
    )
    assert [found.rows["coarse-to-fine"][name] for name in ("incomplete", "cut", "changing")] == [0, 4, 0]
    assert [table.name for table in found.more_tables] == ["x-scenes", "x-as-printed", "x-jumps"]
    assert found.rows["gcm"]["jumps"] == {"at_jumps": pytest.approx(0.4), "elsewhere": pytest.approx(0.1)}


def test_the_end_of_the_grid_is_named() -> None:
    grid = Comparison(dataset(), (COARSE_TO_FINE, GCM), replace(SETUP, alphas=(0.1, 0.5, 1.0)))
    outcomes = Outcomes()
    for scene in grid.dataset.scenes:
        for value in grid.setup.alphas:
            outcomes.outcomes[grid.job(scene, GCM, value).key] = Outcome(record(1 + abs(value - 0.5)))
            outcomes.outcomes[grid.job(scene, COARSE_TO_FINE, value).key] = Outcome(record(1 + value))
    verdict = grid.judge(outcomes)
    assert verdict.notes() == ["A fold chose the end of the grid of alphas for Coarse to fine (0.1)."]
    rows = alpha._rows(verdict)
    assert rows["gcm"]["best_alpha"] == 0.5
    assert [question.claim(verdict).supported for question in alpha.QUESTIONS] == [False, False, True]


def test_the_printed_form_of_a_contender_means_the_same_by_alpha() -> None:
    printed = GCM.as_printed()
    assert (printed.options.choices, printed.alpha) == (PRINTED, GCM.alpha / 2)
    comparison = Comparison(dataset(), (GCM,), SETUP).as_printed()
    choices = comparison.job(comparison.dataset.scenes[0], printed, 0.5).parameters["options"]["choices"]
    assert Choices(**choices) == replace(PRINTED, stage_solves=100)


def test_compared_runs_take_all_solves_and_a_part_of_them_in_a_stage() -> None:
    assert fair(Choices(), KINDS["hci"], SETUP) == Choices(run_end="solves", stage_solves=100)
    assert fair(Choices(), KINDS["middlebury"], SETUP) == Choices(run_end="solves", stage_solves=60)
    assert fair(PRINTED, KINDS["hci"], replace(SETUP, solves=40)) == replace(PRINTED, stage_solves=13)


ONE_SCALE_RUNS = {
    "naive": record(0.33, after=200),
    "gcm-one-scale": record(0.22, after=20, start=0.4, at_jumps=0.3),
    "progressive": {**record(0.25), "rmse": [0.3] * 9 + [0.24] * 100 + [0.25] * 191},
}
THREE_SCALES_RUNS = {
    "coarse-to-fine": record(0.27, after=150),
    "gcm": record(0.22, after=10, start=0.4, at_jumps=0.2),
    "gcm-without-scale": record(0.35, after=10),
    "gcm-without-gradient": {**record(0.29, after=200), "rmse": list(np.linspace(0.9, 0.29, 300))},
    "progressive": record(0.28, after=100),
    "gcm-one-scale": record(0.23, after=40),
}


@pytest.mark.parametrize(
    ("module", "runs"), [(single_scale, ONE_SCALE_RUNS), (multi_scale, THREE_SCALES_RUNS)], ids=["one", "three"]
)
def test_runs_as_in_the_paper_support_every_statement_and_reversed_ones_none(
    module: Any, runs: dict[str, dict[str, Any]]
) -> None:
    comparison = Comparison(dataset(), module.ONE_SCALE if module is single_scale else _three(), SETUP)
    verdict = judged(comparison, runs)
    claims = [question.claim(verdict) for question in module.QUESTIONS]
    assert [claim.statement for claim in claims if not claim.supported] == []
    gcm = "gcm" if module is multi_scale else "gcm-one-scale"
    poor = runs | {gcm: record(0.9, after=290), "gcm-without-gradient": record(0.3)}
    poor |= {"coarse-to-fine": record(0.2), "progressive": record(0.25)}
    turned = {question.statement: question.claim(judged(comparison, poor)).supported for question in module.QUESTIONS}
    assert not any(turned.values())


def _three() -> tuple[Contender, ...]:
    return (*multi_scale.THREE_SCALES, multi_scale.PROGRESSIVE, multi_scale.GCM_ONE_SCALE)


def test_the_limit_of_a_step_is_judged_by_early_and_by_final_errors() -> None:
    early = {"naive-1": 0.9, "naive-4": 0.5, "gcm-one-scale-1": 0.8, "gcm-one-scale-4": 0.5, "progressive-0.25": 0.9}
    runs = {key: record(0.2, after=6, start=value) for key, value in early.items()}
    runs |= {"progressive-1": record(0.2, after=6, start=0.5)}
    runs |= {f"gcm-{factor}": record(0.2) for factor in ("1", "0.5", "2")}
    runs |= {f"coarse-to-fine-{factor}": record(rmse, after=after)
             for factor, rmse, after in (("1", 0.2, 20), ("0.5", 0.2, 40), ("2", 0.21, 15))}  # fmt: skip
    contenders = [step_limit.limited(who, factor) for who, factors in step_limit.FACTORS for factor in factors]
    verdict = judged(Comparison(dataset(), contenders, SETUP), runs)
    assert [question.claim(verdict).supported for question in step_limit.QUESTIONS] == [True, True, True]
    runs |= {"progressive-0.25": runs["progressive-1"], "coarse-to-fine-2": runs["coarse-to-fine-1"]}
    runs |= {"coarse-to-fine-0.5": runs["coarse-to-fine-1"]}
    verdict = judged(Comparison(dataset(), contenders, SETUP), runs)
    assert [question.claim(verdict).supported for question in step_limit.QUESTIONS] == [False, False, False]


def test_middlebury_is_compared_with_the_papers_values_at_this_size() -> None:
    found = dataset(("Aloe",), "middlebury")
    comparison = middlebury.comparison(type("Context", (), {"datasets": {"middlebury": found}, "setup": SETUP})())
    assert [who.paper for who in comparison.contenders] == pytest.approx([2.82685 / 1.5, 2.11002 / 1.5])
    verdict = judged(comparison, {"gcm": record(1.4, after=50), "coarse-to-fine": record(1.9, after=90)})
    assert [question.claim(verdict).supported for question in middlebury.QUESTIONS] == [True, True]
    (forms,) = [Forms(verdict)]
    assert forms.findings("middlebury", []).rows["gcm"]["difference_percent"] == pytest.approx(-0.48, abs=0.01)


def test_robustness_is_judged_against_other_methods_than_the_gcm() -> None:
    def row(label: str, rmse: float) -> dict[str, Any]:
        return {"label": label, "by_change": {"a": rmse, "b": 2 * rmse}}

    rows = {"gcm": row("GCM", 0.2), "gcm-one-scale": row("GCM, one scale", 0.1), "naive": row("Naive", 0.3)}
    found = robust_claim("baselines", ["a", "b"], rows)
    assert found.supported
    assert found.measured.startswith("a: GCM 0.200, the best other is Naive with 0.300; b: GCM 0.400")
    assert not robust_claim("baselines", ["a"], rows | {"naive": row("Naive", 0.15)}).supported


def test_the_background_is_the_farther_half() -> None:
    truth = np.repeat([[0.0], [1.0]], 4, axis=1).astype(np.float32)
    good, poor = truth + np.array([[0.1], [9.0]]), truth + np.array([[0.5], [0.0]])

    def kept(until: int) -> dict[str, Any]:
        """Return maps whose background is wrong by more than in the end until a solve."""
        return {str(n): poor if n < until else good for n in panels.AFTER} | {"final": good}

    found = panels.background(truth, kept(until=5), kept(until=50))
    assert found.supported
    assert "comes within 10 % of its final value after 50 (GCM: 5)." in found.measured
    assert panels.background(truth, kept(until=20), kept(until=20)).supported is False
    assert panels.background(truth, {"10": good, "final": good}, kept(until=20)).supported is None


def trust(nearest: float, finest: float) -> dict[str, Any]:
    place = {"nearest": [0.25, nearest], "finest": [finest, finest], "coarsest": [1 - finest, 1 - finest]}
    return {"solves": [1, 40], "everywhere": place, "beside": place, "elsewhere": {**place, "nearest": [0.25, 0.4]}}


def test_explanations_are_judged_by_shares_of_the_weights() -> None:
    found = {"gcm-one-scale": trust(0.6, 1.0), "gcm": trust(0.6, 0.5)}
    found |= {"gcm-without-scale": trust(0.6, 0.2), "gcm-without-gradient": trust(0.6, 0.9)}
    rows = {who.key: boundaries._row(who, {"pens": found[who.key]}) for who in boundaries.CONTENDERS}
    claims = (boundaries.inner_views(rows, {"pens": found}), boundaries.fine_data(rows), boundaries.coarse_data(rows))
    assert [claim.supported for claim in claims] == [True, True, True]
    assert (
        "0.60 of the weight beside jumps and 0.40 elsewhere; more beside jumps on 1 of 1 scenes" in claims[0].measured
    )
    flat = {key: {**each, "beside": None} for key, each in found.items()}
    rows = {who.key: boundaries._row(who, {"pens": flat[who.key]}) for who in boundaries.CONTENDERS}
    assert boundaries.inner_views(rows, {"pens": flat}).supported is None
    assert boundaries.coarse_data(rows).supported is None


def test_trust_is_the_share_of_the_weights_beside_jumps() -> None:
    truth = np.zeros((40, 40))
    truth[:, 20:] = 2.0  # so that columns 14 to 25 are beside a jump
    scene = Scene(np.zeros((40, 40)), np.zeros((3, 40, 40)), [(1, 0), (0, 1), (2, 0)], ground_truth=truth)
    shares = np.zeros((1, 40, 40, 2, 3))
    shares[..., 0, 2] = 1.0  # the coarse scale of the farthest view
    shares[:, :, 15:25, 0, 2], shares[:, :, 15:25, 1, 0] = 0.0, 1.0
    codes = np.rint(CODES * np.sqrt(shares)).astype(np.uint8)
    weights = Weights(
        np.array([7], np.int32), codes, 1, np.array([1, 0], np.int32), np.zeros((1, 40, 40), np.float32), 1
    )
    found = trust_beside_jumps(weights, scene)
    beside = 10 / np.count_nonzero(boundaries_of(truth)[0])
    assert found["solves"] == [7]
    assert found["beside"] == {
        "nearest": [pytest.approx(beside)],
        "finest": [pytest.approx(beside)],
        "coarsest": [pytest.approx(1 - beside)],
    }
    assert found["elsewhere"]["nearest"] == [0.0]
    assert found["everywhere"]["coarsest"] == [pytest.approx(0.75)]


def boundaries_of(truth: np.ndarray) -> Any:
    from gradcon.result.jumps import beside_jumps

    return beside_jumps(truth)


def test_every_statement_is_judged_by_one_experiment() -> None:
    asked = [q.statement for m in (single_scale, step_limit, multi_scale, alpha, middlebury) for q in m.QUESTIONS]
    others = ["inner-views", "no-gradient-fine", "no-scale-coarse", "no-gradient-background", "epsilon", "barrel"]
    others += ["baselines", "couplings", "other-problems", "scale-ratio"]
    assert sorted(asked + others) == sorted(STATEMENTS)


def test_jobs_of_a_comparison_are_plain() -> None:
    comparison = Comparison(dataset(("pens",)), (NAIVE,), replace(SETUP, alphas=(0.1, 0.2)))
    jobs = comparison.jobs()
    assert all(isinstance(job, Job) for job in jobs)
    assert [job.label for job in jobs] == ["pens, naive, 1 scales, alpha 0.1", "pens, naive, 1 scales, alpha 0.2"]
    assert comparison.as_printed().jobs()[0].label == "pens, naive, 1 scales, alpha 0.1, as printed"
