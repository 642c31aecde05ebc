"""The engine `reference` computes what the paper prints: it agrees with `paper.transcription`.

The transcription was written from the paper alone.  It and the engine differ by the order of their operations, so all
that a solve uses, and the maps after three solves, agree to 1e-12 of the largest value, and most to 1e-14.  What limits
it is R = 1 / sqrt(delta I^2 + 1e-7), which turns the rounding of delta I into up to 1600 times as large a part of R.
Without the term of O, small N^2 are the small differences of large numbers, too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradcon.engines import PRINTED, Weighting
from gradcon.methods import loop
from gradcon.methods.options import Options
from paper import transcription as paper
from paper.cases import ALL_SECOND, ALPHA, CHOICES, LAYOUT_NAMES, SECOND, SHAPE, TERMS, Case, case, turned_cameras

TOLERANCE = 1e-12  # of the largest value; measured: 5e-13 at most
METHODS = {"naive": 1, "gcm": 3, "coarse-to-fine": 3, "progressive": 1}  # and the paper's number of scales

every_layout = pytest.mark.parametrize("layout", LAYOUT_NAMES)
both_kinds = pytest.mark.parametrize("layout", ["cross", "turned"])
every_choice = pytest.mark.parametrize("choices", CHOICES.values(), ids=CHOICES.keys())


def assert_agree(found: Any, expected: Any) -> None:
    """Compare arrays, or dictionaries of arrays by view and scale."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for key in expected:
            assert_agree(found[key], expected[key])
        return
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=0, atol=TOLERANCE * np.abs(expected).max())


def assert_a_solve_agrees(one: Case, scales: int = 3, without: str = "", window: int = 0) -> None:
    """Hold everything in a solve of gcm to the transcription, once at a start and once at an estimate."""
    problem, w, engine = one.problem, one.w, one.engine()
    stage, engine_stage = one.stages("gcm", scales, without)[window], one.engine_stages("gcm", scales, without)[window]
    f = paper.fields(problem, w, stage)
    N2 = paper.noise_powers(f, w, stage, problem.epsilon, problem.chosen)
    monotone = paper.monotone_weights(N2, stage, problem.views)
    W = paper.weights(f, problem, w, stage)

    warped = engine.warp(w, engine_stage)
    found_N2, found = engine.noise_powers(w, warped, engine_stage, engine_stage.weighting)
    assert_agree({key: dI for key, (dI, _, _) in found.items()}, {key: f.dI[key] for key in W})
    assert_agree({key: g for key, (_, g, _) in found.items()}, {key: f.g[key] for key in W})
    assert_agree({key: G for key, (_, _, G) in found.items()}, {key: f.gradient_difference[key] for key in W})
    assert_agree(found_N2, {key: 1 / weight for key, weight in monotone.items()})

    for reweight in (False, True):
        diagonal, rhs = paper.data_term(f, W, reweight, problem.chosen.floor)
        term = engine.data_term(w, warped, engine_stage, reweight)
        assert_agree(term.diagonal, diagonal)
        assert_agree(term.rhs, rhs)

        delta_w = paper.solve(diagonal, rhs, w, stage.alpha, reweight, problem.chosen)
        after, met = paper.update(w, delta_w, stage.M)
        step = engine.step(w, engine_stage, reweight=reweight)
        assert_agree(engine.delta_w, delta_w)
        assert_agree(step.w, after)
        assert step.report.clipped == pytest.approx(met / w.size)


# ---- A solve


@every_layout
def test_the_views_are_warped_and_coupled_as_printed(layout):
    one = case(layout)
    (stage,) = one.engine_stages("gcm")
    warped = one.engine().warp(one.w, stage)
    for t, view in enumerate(one.problem.views):
        I_t, (c_x, c_y) = paper.warp(one.problem, view, one.w)
        assert (I_t == one.problem.I_r).any(), "the case is to have pixels that a view does not see"
        assert_agree(warped[t][0], I_t)
        assert_agree(warped[t][1], c_x)
        assert_agree(warped[t][2], c_y)


@every_layout
def test_a_solve_is_as_printed(layout):
    assert_a_solve_agrees(case(layout))


@both_kinds
@every_choice
def test_a_solve_with_another_choice_agrees(layout, choices):
    assert_a_solve_agrees(case(layout, choices))


@both_kinds
@pytest.mark.parametrize("without", ["G", "O"])
def test_a_solve_of_an_ablation_is_as_printed(layout, without):
    assert_a_solve_agrees(case(layout), without=without)


@pytest.mark.parametrize("window", range(4))
def test_a_solve_in_each_of_the_windows_of_six_scales_is_as_printed(window):
    assert_a_solve_agrees(case("line"), scales=6, window=window)


def test_the_weights_of_two_scales_at_once_are_as_printed():
    assert_a_solve_agrees(case("line"), scales=2)


def test_each_term_of_the_noise_power_is_as_printed():
    one = case("alone")
    (stage,), (engine_stage,) = one.stages("gcm"), one.engine_stages("gcm")
    assert all(paper.not_beyond(t, stage, one.problem.views) == [t] for t in stage.views)
    engine = one.engine()
    warped = engine.warp(one.w, engine_stage)
    N2, _ = engine.noise_powers(one.w, warped, engine_stage, Weighting())
    without_O, _ = engine.noise_powers(one.w, warped, engine_stage, Weighting(scale=False))
    without_G, _ = engine.noise_powers(one.w, warped, engine_stage, Weighting(gradient=False))

    f = paper.fields(one.problem, one.w, stage)
    epsilon, chosen = one.problem.epsilon, one.problem.chosen
    residual = paper.delta_w_tilde(f, stage, epsilon)
    for t, q in N2:
        O2 = paper.scale_inconsistency2(f.g[t, 0], residual, paper.sigma(q))
        error2 = paper.delta_w_e2(f, one.w, q, stage, epsilon, chosen)
        noise = paper.acquisition_noise(epsilon, q)
        assert_agree(without_G[t, q], O2 + noise)
        assert_agree(without_O[t, q], f.gradient_difference[t, q] ** 2 * error2 + noise)
        assert_agree(N2[t, q] - without_O[t, q], O2)
        assert_agree(N2[t, q] - without_G[t, q], f.gradient_difference[t, q] ** 2 * error2)


# ---- Stages and runs


@pytest.mark.parametrize("layout", [name for name in LAYOUT_NAMES if name not in ("alone", "uneven")])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("scales", [1, 2, 3, 6])
def test_the_stages_of_the_methods_are_as_printed(layout, method, scales):
    # The views of the other two would share rings in gradcon, which allows for a rig that is a little uneven.
    expected, found = case(layout).stages(method, scales), case(layout).engine_stages(method, scales)
    assert [stage.views for stage in found] == [stage.views for stage in expected]
    assert [sorted(stage.scales) for stage in found] == [sorted(stage.scales) for stage in expected]
    assert [stage.alpha for stage in found] == [stage.alpha for stage in expected]
    assert [stage.limit for stage in found] == pytest.approx([stage.M for stage in expected], rel=1e-15)
    assert [stage.weighting.model for stage in found] == [stage.weighted for stage in expected]


def test_the_stages_of_the_17_views_are_those_of_the_paper():
    steps = range(-4, 5)
    B = np.array([(x, y) for y in steps for x in steps if x * y == 0 and (x, y) != (0, 0)], float)
    progressive = paper.stages("progressive", B, ALPHA)
    assert [1 + len(stage.views) for stage in progressive] == [5, 9, 13, 17]
    assert [stage.M for stage in progressive] == [1, 1 / 2, 1 / 3, 1 / 4]
    assert [(stage.scales, stage.M) for stage in paper.stages("naive", B, ALPHA)] == [((0,), 1 / 4)]
    coarse_to_fine = paper.stages("coarse-to-fine", B, ALPHA, scales=3)
    assert [(stage.scales, stage.M) for stage in coarse_to_fine] == [((2,), 1), ((1,), 1 / 2), ((0,), 1 / 4)]
    windows = [stage.scales for stage in paper.stages("gcm", B, ALPHA, scales=6)]
    assert windows == [(3, 4, 5), (2, 3, 4), (1, 2, 3), (0, 1, 2)]


def assert_three_solves_agree(one: Case, method: str, scales: int, without: str = "") -> list[int]:
    """Hold the maps after each of the first three solves to the transcription; return the stages that gradcon took."""
    given = {"alpha": ALPHA, "scales": scales, "without": TERMS[without], "choices": one.choices}
    run = loop.begin(one.scene, Options.printed(method, **given), initial=0.0, engine="reference")
    expected = paper.run(one.problem, one.stages(method, scales, without), solves=3)
    for w in expected:
        run.step()
        assert_agree(run.w, w)
    return [solve.stage for solve in run.history]


@pytest.mark.parametrize("layout", ["cross", "line", "turned"])
@pytest.mark.parametrize("method", METHODS)
def test_the_first_solves_of_a_run_are_as_printed(layout, method):
    assert_three_solves_agree(case(layout), method, METHODS[method])


@pytest.mark.parametrize("method", METHODS)
def test_the_first_solves_of_a_run_with_other_choices_agree(method):
    assert_three_solves_agree(case("cross", ALL_SECOND), method, METHODS[method])


@pytest.mark.parametrize("without", ["G", "O"])
def test_the_first_solves_of_an_ablation_are_as_printed(without):
    assert_three_solves_agree(case("cross"), "gcm", 3, without)


def test_a_stage_ends_after_a_solve_in_which_no_pixel_met_the_limit():
    assert assert_three_solves_agree(case("line"), "coarse-to-fine", 3) == [0, 0, 1]
    assert assert_three_solves_agree(case("cross"), "progressive", 1) == [0, 0, 1]
    assert assert_three_solves_agree(case("line"), "gcm", 6) == [0, 1, 2]


# ---- What the paper states beside the method


def test_the_general_coupling_is_that_of_points_in_space():
    cameras, one = turned_cameras(), case("turned")
    first = one.scene.target_names.index("3")  # the last camera in the list
    view, camera = one.problem.views[first], cameras[4]
    x, y, w = 5.0, 7.0, 0.8
    depth = 1.2 * one.scene.unit / w
    point = depth * np.linalg.inv(cameras[0].K) @ (x, y, 1)
    seen = camera.K @ (camera.R @ point + camera.t)
    at = paper.position(view, np.full(SHAPE, w))
    assert [at[0][7, 5], at[1][7, 5]] == pytest.approx(seen[:2] / seen[2], rel=1e-12)

    # A small change of w moves the point as a shift of s by c_t delta w does.
    change = 1e-5
    c = [component[7, 5] for component in paper.coupling(view, np.full(SHAPE, w))]
    nearer, farther = (paper.position(view, np.full(SHAPE, w + sign * change)) for sign in (1, -1))
    for k in (0, 1):
        by_x = (at[k][7, 6] - at[k][7, 4]) / 2
        by_y = (at[k][8, 5] - at[k][6, 5]) / 2
        by_w = (nearer[k][7, 5] - farther[k][7, 5]) / (2 * change)
        assert by_x * c[0] + by_y * c[1] == pytest.approx(by_w, rel=1e-4)


def test_without_smoothness_a_solve_is_the_estimate_of_the_data_term():
    one = case("cross")
    (stage,) = one.stages("gcm")
    f = paper.fields(one.problem, one.w, stage)
    W = paper.weights(f, one.problem, one.w, stage)
    stacked = [np.stack([values[key] for key in W]) for values in (W, f.g, f.dI)]
    diagonal, rhs = paper.data_term(f, W, False, one.problem.chosen.floor)
    estimate = paper.data_term_estimate(*stacked)
    np.testing.assert_allclose(rhs / diagonal, estimate, rtol=1e-9)
    noise = 0.1 * stacked[2]
    np.testing.assert_allclose(paper.noisy_solution(*stacked, noise), 1.1 * estimate, rtol=1e-9)
    assert np.sum(list(W.values()), axis=0) == pytest.approx(len(W))


def test_appendix_a_the_weights_of_least_error_are_inverse_to_the_noise():
    rng = np.random.default_rng(0)
    g, N2, some = rng.normal(size=12), rng.uniform(0.1, 1, 12), rng.uniform(0.1, 1, 12)
    step = 1e-6
    slopes = [
        (paper.expected_error(some + step * e, g, N2) - paper.expected_error(some - step * e, g, N2)) / (2 * step)
        for e in np.eye(12)
    ]
    np.testing.assert_allclose(paper.expected_error_derivative(some, g, N2), slopes, rtol=1e-6, atol=1e-9)

    best = 1 / N2
    assert np.abs(paper.expected_error_derivative(best, g, N2)).max() < 1e-15
    assert paper.Y(best, g, N2) == pytest.approx(1)
    assert paper.multiplier(best, g, N2, best.sum()) == pytest.approx(0, abs=1e-14)
    np.testing.assert_allclose(paper.lagrange_weights(best, g, N2, best.sum()), best, rtol=1e-13)
    least = paper.expected_error(best, g, N2)
    assert least < paper.expected_error(some, g, N2)
    assert paper.expected_error(3 * best, g, N2) == pytest.approx(least)  # Z is arbitrary


def test_appendix_b_the_bound_is_exact_where_the_displacement_is_proportional_to_the_gradient():
    g = np.random.default_rng(1).normal(size=(40, 40))
    for q in range(3):
        sigma = paper.sigma(q)
        constant = np.full(g.shape, 0.7)
        np.testing.assert_allclose(paper.J_A(g, constant, 0 * g, sigma), paper.J_B(g, constant, 0 * g, sigma))
        gamma = 1.7
        J_A = paper.J_A(g, gamma * g, 0 * g, sigma)
        np.testing.assert_allclose(J_A, paper.J_A_prime(g, gamma, sigma), rtol=1e-13)
        np.testing.assert_allclose(J_A**2, paper.scale_inconsistency2(g, gamma * g, sigma), rtol=1e-13)


def test_appendix_b_the_power_of_j_b_becomes_small_beside_that_of_j_a():
    image = np.random.default_rng(2).normal(size=(80, 80))
    g, _ = paper.G_prime(image, paper.sigma(0))
    ratios = []
    for q in range(4):
        J_A, J_B = paper.J_A_prime(g, 1.0, paper.sigma(q)), paper.J_B_prime(g, 1.0, paper.sigma(q))
        ratios.append(np.mean(J_A**2) / np.mean(J_B**2))
    assert ratios == sorted(ratios)
    assert ratios[0] > 1
    assert ratios[-1] > 100


@pytest.mark.parametrize("q", range(6))
def test_appendix_c_the_noise_power_is_the_integral_of_its_spectrum(q):
    assert paper.noise_integral(2e-4, paper.sigma(q)) == pytest.approx(paper.acquisition_noise(2e-4, q), rel=1e-14)


def test_the_choices_as_printed_are_those_of_the_transcription():
    assert {name: getattr(PRINTED, name) for name in SECOND} == {
        name: getattr(paper.AS_PRINTED, name) for name in SECOND
    }
    rest = {name: value for name, value in PRINTED.differing().items() if name not in SECOND}
    assert rest == {
        "sectors": "closed",
        "filters": "gaussians",
        "stage_end": "none",
        "stage_solves": 0,
        "run_end": "solves",
        "alpha_scales": "same",
        "alpha_views": "same",
    }
