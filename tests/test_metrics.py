"""`evaluate` on cases small enough to compute by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from gradcon import InputError, evaluate, evaluate_uncertainty
from gradcon.result.jumps import evaluate_at_jumps


def test_hand_computed() -> None:
    truth = np.zeros((2, 4))
    estimate = np.array([[0.0, 0.005, -0.02, 0.04], [0.05, -0.08, 0.1, 0.0]])
    found = evaluate(estimate, truth, border=0)
    mse = (0.005**2 + 0.02**2 + 0.04**2 + 0.05**2 + 0.08**2 + 0.1**2) / 8
    assert found["rmse"] == pytest.approx(math.sqrt(mse))
    assert found["rmse_inner"] == pytest.approx(math.sqrt(mse))
    assert found["mse_100"] == pytest.approx(100 * mse)
    assert found["badpix_007"] == pytest.approx(100 * 2 / 8)  # 0.08, 0.1
    assert found["badpix_003"] == pytest.approx(100 * 4 / 8)  # and 0.04, 0.05
    assert found["badpix_001"] == pytest.approx(100 * 5 / 8)  # and 0.02
    assert found["q25"] == pytest.approx(0.0)  # of 8 sorted errors the second: 0
    assert set(found) == {"rmse", "rmse_inner", "mse_100", "badpix_007", "badpix_003", "badpix_001", "q25"}


def test_q25_is_a_quarter_up_the_sorted_errors_times_100() -> None:
    error = np.random.default_rng(0).permutation(np.arange(101)).reshape(1, 101) / 1000
    assert evaluate(error, np.zeros((1, 101)), border=0)["q25"] == pytest.approx(2.5)


def test_an_error_at_the_limit_is_not_bad() -> None:
    assert evaluate(np.full((1, 1), 0.07), np.zeros((1, 1)), border=0)["badpix_007"] == 0


def test_a_perfect_estimate_scores_zero() -> None:
    truth = np.random.default_rng(0).normal(size=(40, 50))
    assert set(evaluate(truth, truth).values()) == {0.0}


def test_unknown_truth_is_left_out() -> None:
    truth = np.array([[0.0, np.nan, 0.0, np.inf]])
    found = evaluate([[0.3, 99.0, 0.3, np.nan]], truth, border=0)
    assert found["rmse"] == pytest.approx(0.3)
    assert found["badpix_007"] == 100
    assert found["q25"] == pytest.approx(30)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_non_finite_estimate_is_bad_and_its_rmse_infinite(bad: float) -> None:
    found = evaluate([[bad, 0.0, 0.0, 0.0, 0.0]], np.zeros((1, 5)), border=0)
    assert found["rmse"] == math.inf
    assert found["rmse_inner"] == math.inf
    assert found["mse_100"] == math.inf
    assert found["badpix_007"] == found["badpix_001"] == 20
    assert found["q25"] == 0


def test_the_border_counts_in_rmse_only() -> None:
    truth = np.zeros((40, 50))
    estimate = truth.copy()
    estimate[14, 20] = estimate[20, 35] = estimate[25, 20] = estimate[20, 14] = 3.0  # just outside, a side each
    found = evaluate(estimate, truth)
    assert found["rmse"] == pytest.approx(math.sqrt(4 * 9 / 2000))
    assert found["rmse_inner"] == found["badpix_001"] == 0
    estimate[15, 15] = estimate[24, 34] = 1.0  # the inner corners: the inside is 10 x 20
    found = evaluate(estimate, truth)
    assert found["rmse_inner"] == pytest.approx(math.sqrt(2 / 200))
    assert found["badpix_007"] == pytest.approx(1.0)


@pytest.mark.parametrize("shape", [(30, 30), (10, 100), (1, 1)])
def test_an_image_that_is_all_border_is_judged_whole(shape: tuple[int, int]) -> None:
    found = evaluate(np.full(shape, 0.5), np.zeros(shape))
    assert found["rmse_inner"] == found["rmse"] == pytest.approx(0.5)


def test_float32_and_lists_are_taken() -> None:
    assert evaluate([[1, 2]], np.array([[1, 2]], np.float32))["rmse"] == 0


def test_a_border_is_any_whole_number() -> None:
    error = np.random.default_rng(0).normal(size=(40, 50))
    assert evaluate(error, np.zeros((40, 50)), border=np.int64(3)) == evaluate(error, np.zeros((40, 50)), border=3)
    assert evaluate(error, np.zeros((40, 50)), border=10**30)["rmse_inner"] == pytest.approx(np.sqrt((error**2).mean()))


@pytest.mark.parametrize("border", [-2, 1.5, "a", None, True, np.nan, [1], np.float64(2)])
def test_other_borders_are_refused(border: Any) -> None:
    with pytest.raises(InputError, match=r"^border: .* is not a number of pixels; give a whole number, 0 or more"):
        evaluate(np.zeros((40, 50)), np.zeros((40, 50)), border=border)


@pytest.mark.parametrize(
    "values", [np.zeros(6), np.zeros((2, 3, 1)), 1.0, [["a", "b"]], [[1], [1, 2]], np.zeros((2, 3), complex), None]
)
def test_what_is_no_map_is_refused(values: Any) -> None:
    good = np.zeros((2, 3))
    for measure in (evaluate, evaluate_at_jumps, lambda w, truth: evaluate_uncertainty(w, good, truth)):
        with pytest.raises(InputError, match=r"^disparity: "):
            measure(values, good)
        with pytest.raises(InputError, match=r"^ground truth: "):
            measure(good, values)
    with pytest.raises(InputError, match=r"^uncertainty: "):
        evaluate_uncertainty(good, values, good)


def test_different_sizes_are_refused_with_both() -> None:
    with pytest.raises(InputError, match=r"3 x 2 .* 4 x 2"):
        evaluate(np.zeros((2, 3)), np.zeros((2, 4)))


def test_a_truth_without_known_pixels_is_refused() -> None:
    with pytest.raises(InputError, match="ground truth: is unknown at every pixel"):
        evaluate(np.zeros((2, 3)), np.full((2, 3), np.nan))
