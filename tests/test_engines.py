"""The conformance suite: every engine is held to `reference`, operation by operation, and to what all must do."""

from __future__ import annotations

import numpy as np
import pytest

from engine_cases import (
    ALL,
    COMPILED,
    DATA_TERMS,
    OTHERS,
    blank_scene,
    data_term,
    dense_solution,
    every_scene,
    make,
    random_areas,
    random_scene,
    random_system,
    solve,
    some_disparity,
    weak_system,
)
from gradcon import Options, Scene, synth
from gradcon.arrays import sampled
from gradcon.engines import DataTerm, Stage, Weighting
from gradcon.engines.cpu import solver as cpu_solver
from gradcon.engines.cuda import solver as cuda_solver
from gradcon.methods.loop import minimise
from gradcon.methods.schedules import RECIPES, build

compiled = pytest.mark.parametrize("name", COMPILED)
every_engine = pytest.mark.parametrize("name", ALL)


@every_scene
@compiled
def test_warp_agrees(name, scene):
    reference, engine = make("reference")(scene), make(name)(scene)
    (stage,) = build("gcm", scene.baselines, 0.5)
    w = some_disparity(scene, size=3.0)  # far enough to leave the image
    expected = reference.warped_images(reference.upload(w), stage)
    assert engine.warped_images(engine.upload(w), stage) == pytest.approx(expected, abs=2e-5)


@every_scene
@pytest.mark.parametrize("reweight", [False, True])
@pytest.mark.parametrize(("method", "scales", "without"), DATA_TERMS)
@compiled
def test_data_term_agrees(name, scene, reweight, method, scales, without):
    stage = build(method, scene.baselines, 0.5, scales, without)[0]
    w = some_disparity(scene)
    expected = data_term(make("reference")(scene), w, stage, reweight)
    got = data_term(make(name)(scene), w, stage, reweight)
    for a, b in zip(got[:2], expected[:2], strict=True):
        assert np.abs(a - b).max() <= 2e-3 * np.abs(b).max()
        assert np.abs(a - b).mean() <= 2e-4 * np.abs(b).mean() + 1e-12


@compiled
def test_a_stage_may_use_some_of_the_views(name):
    scene = random_scene()
    stage = Stage((0, 2, 5), (1, 0), 0.5, 0.5, Weighting())
    w = some_disparity(scene)
    got, expected = data_term(make(name)(scene), w, stage), data_term(make("reference")(scene), w, stage)
    assert np.abs(got.diagonal - expected.diagonal).max() <= 2e-3 * expected.diagonal.max()


@every_scene
@pytest.mark.parametrize(("scales", "without"), [(3, None), (1, None), (3, "scale"), (3, "gradient")])
@compiled
def test_weights_agree(name, scene, scales, without):
    stage = build("gcm", scene.baselines, 0.5, scales, without)[0]
    w = some_disparity(scene)
    got, expected = (data_term(make(one)(scene), w, stage, sample=3).weights for one in (name, "reference"))
    assert got.shape == expected.shape == (*sampled(scene.shape, 3), len(stage.scales), len(stage.views))
    assert got == pytest.approx(expected, rel=5e-3)


@compiled
def test_a_step_agrees_where_the_reference_saw_nothing(name):
    scene = random_scene(seen=random_areas(7, (37, 45)))
    (stage,) = build("gcm", scene.baselines, 0.5)
    found = []
    for engine in (make(one)(scene) for one in (name, "reference")):
        w = engine.upload(some_disparity(scene))
        term = engine.data_term(w, engine.warp(w, stage), stage, reweight=True)
        assert engine.download(term.diagonal)[~scene.seen[0]].any()  # the targets saw something there
        found.append(engine.download(engine.step(w, stage).w))
    assert np.abs(found[0] - found[1]).mean() < 1e-4
    everywhere = make(name)(random_scene())
    assert everywhere.seen is None
    assert (
        np.abs(everywhere.download(everywhere.step(everywhere.upload(some_disparity(scene)), stage).w) - found[1]).max()
        > 0.01
    )


@pytest.mark.parametrize("sample", [2, 5, 8, 40])
@every_engine
def test_weights_are_sampled_in_the_middle_of_squares(name, sample):
    scene = random_scene()
    engine = make(name)(scene)
    (stage,) = build("gcm", scene.baselines, 0.5)
    w = some_disparity(scene)
    every, some = (data_term(engine, w, stage, sample=step).weights for step in (1, sample))
    np.testing.assert_array_equal(some, every[sample // 2 :: sample, sample // 2 :: sample])


@every_engine
def test_asking_for_weights_changes_nothing_else(name):
    scene = random_scene()
    engine = make(name)(scene)
    (stage,) = build("gcm", scene.baselines, 0.5)
    w = engine.upload(some_disparity(scene))
    plain, sampling = (engine.download(engine.step(w, stage, sample=sample).w) for sample in (0, 4))
    assert plain.tobytes() == sampling.tobytes()
    assert engine.step(w, stage).weights is None


@every_scene
@compiled
def test_deviation_agrees(name, scene):
    reference, engine = make("reference")(scene), make(name)(scene)
    (stage,) = build("gcm", scene.baselines, 0.5)
    w = some_disparity(scene)
    expected = reference.deviation(reference.upload(w), stage)
    assert np.isfinite(expected).all()
    assert engine.download(engine.deviation(engine.upload(w), stage)) == pytest.approx(expected, rel=5e-3)


@pytest.mark.parametrize("shape", [(12, 15), (17, 16), (1, 30), (31, 1), (2, 2)])
@pytest.mark.parametrize("reweight", [False, True])
@every_engine
def test_inner_solver_agrees_with_a_dense_solve(name, shape, reweight, monkeypatch):
    monkeypatch.setattr(cpu_solver, "INNER_TOLERANCE", 1e-5)
    monkeypatch.setattr(cuda_solver, "INNER_TOLERANCE", 1e-5)
    w, term = random_system(shape, seed=3)
    expected = dense_solution(shape, reweight, alpha=0.5)
    dw = solve(make(name)(blank_scene(shape)), w, term, 0.5, reweight)
    assert np.abs(dw - expected).max() <= 2e-3 * np.abs(expected).max()


@compiled
def test_strong_links_do_not_swallow_a_weak_data_term(name):
    w, term, alpha = weak_system()
    assert solve(make(name)(blank_scene(w.shape)), w, term, alpha, True) == pytest.approx(3.0, abs=1e-3)


@every_engine
def test_a_system_without_data_gives_no_step(name):
    shape = 20, 20
    nothing = DataTerm(np.zeros(shape, np.float32), np.zeros(shape, np.float32))
    assert np.abs(solve(make(name)(blank_scene(shape)), np.zeros(shape, np.float32), nothing, 0.5, True)).max() == 0


@pytest.mark.parametrize("shape", [(33, 47), (3, 600), (1, 9), (9, 1), (1, 1), (2, 3)])
@compiled
def test_update_and_report_agree(name, shape):
    rng = np.random.default_rng(7)
    w, dw, truth = (rng.normal(size=shape).astype("f4") for _ in range(3))
    truth[rng.random(shape) < 0.2] = np.nan
    truth[0, 0] = 1.0
    scene = Scene(np.zeros(shape), [np.zeros(shape)], [(2, 0)], ground_truth=truth)
    nothing = DataTerm(np.zeros(shape), np.zeros(shape))
    found = []
    for engine in (make("reference")(scene), make(name)(scene)):
        before = engine.upload(w)
        there = DataTerm(engine.upload(nothing.diagonal), engine.upload(nothing.rhs))
        _, counts = engine.solve(engine.upload(np.zeros(shape)), there, 0.5, False)
        after, counts = engine.update(before, engine.upload(dw), 0.5, counts)
        found.append((engine.download(after), engine.report(before, after, counts), engine.change(before, after)))
    (expected, wanted, _), (got, report, change) = found
    assert got == pytest.approx(expected, abs=1e-6)
    assert report.clipped == wanted.clipped == np.mean(np.abs(dw) > 0.5)
    assert report[2:] == pytest.approx(wanted[2:], rel=1e-5)
    assert change == report.step_mean


@every_engine
def test_the_error_counts_where_the_truth_is_known(name):
    truth = np.full((9, 11), np.nan, np.float32)
    truth[2:5, 3:7] = 1.5
    for shape, known, expected in ((truth.shape, truth, 0.5), ((4, 4), np.full((4, 4), np.nan), None)):
        scene = Scene(np.zeros(shape), [np.zeros(shape)], [(2, 0)], ground_truth=known)
        engine = make(name)(scene)
        w, nothing = engine.upload(np.full(shape, 4.0)), engine.upload(np.zeros(shape))  # 2 pixels per unit baseline
        _, counts = engine.solve(nothing, DataTerm(nothing, nothing), 0.5, False)
        assert engine.report(w, w, counts).rmse == (None if expected is None else pytest.approx(expected))


@pytest.mark.parametrize("side", ["left", "right", "top", "bottom"])
@every_engine
def test_a_small_step_over_the_border_is_not_rounded_away(name, side):
    """At column 1000 a float32 position cannot tell 1e-5 from 0; the view sees the pixel, or it does not."""
    shape = (3, 1001) if side in ("left", "right") else (1001, 3)
    B = {"left": (-1, 0), "right": (1, 0), "top": (0, -1), "bottom": (0, 1)}[side]
    scene = Scene(np.zeros(shape), [np.ones(shape)], [B])
    engine = make(name)(scene)
    (stage,) = build("gcm", scene.baselines, 0.5)
    (warped,) = engine.warped_images(engine.upload(np.full(shape, 1e-5, np.float32)), stage)
    edge = {"left": np.s_[:, 0], "right": np.s_[:, -1], "top": np.s_[0], "bottom": np.s_[-1]}[side]
    assert (warped[edge] == 0).all()  # not seen: the reference's own value
    assert warped.mean() > 0.99


@every_engine
def test_no_call_leaves_anything_for_the_next(name):
    """Steps on other stages and maps in between change no byte of a step."""
    scene = random_scene()
    engine = make(name)(scene)
    stages = [build(method, scene.baselines, 0.5)[0] for method in ("gcm", "naive")]
    w, other = engine.upload(some_disparity(scene)), engine.upload(some_disparity(scene, seed=9))
    first = engine.step(w, stages[0])
    expected = engine.download(first.w).tobytes(), first.report
    engine.step(other, stages[1], reweight=False)
    engine.deviation(other, stages[0])
    engine.change(w, other)
    again = engine.step(w, stages[0])
    assert (engine.download(again.w).tobytes(), again.report) == expected


@pytest.mark.parametrize("method", RECIPES)
@pytest.mark.parametrize("kind", ["occlusion", "rotated"])
@pytest.mark.parametrize("name", OTHERS)
def test_a_run_follows_the_cpu(name, method, kind):
    scene = synth.render(kind, (50, 61), grid=3)
    options = Options(method=method, solves=4)
    expected = minimise(scene, options, engine="cpu")
    found = minimise(scene, options, engine=make(name)(scene))
    assert [row.scales for row in found.history] == [row.scales for row in expected.history]
    assert [row.views for row in found.history] == [row.views for row in expected.history]
    for got, wanted in zip(found.history, expected.history, strict=True):
        assert got.rmse == pytest.approx(wanted.rmse, abs=1e-3)
    assert np.abs(found.disparity() - expected.disparity()).mean() < 2e-3


@compiled
def test_two_runs_give_the_same_bytes(name):
    scene = synth.render("occlusion", (40, 52), grid=3)
    first, second = (minimise(scene, Options("gcm", solves=4), engine=make(name)(scene)).disparity() for _ in range(2))
    assert first.tobytes() == second.tobytes()
