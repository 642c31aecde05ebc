"""The cpu engine against the reference, operation by operation; the inner solver against a dense solve."""

from itertools import pairwise

import numpy as np
import pytest

from gradcon import Options, Scene, synth
from gradcon.engines import DataTerm, create
from gradcon.engines.reference import smoothness_operator
from gradcon.methods.schedules import Stage, Weighting, build


def random_scene(shape=(37, 45), baselines=((1, 0), (-1, 0), (0, 1), (0, -2), (1, 1), (-2, 1)), seed=0):
    from scipy.ndimage import gaussian_filter

    rng = np.random.default_rng(seed)
    images = [gaussian_filter(rng.random(shape), 1.0) for _ in range(1 + len(baselines))]
    return Scene(images[0], images[1:], baselines)


def both(scene):
    return create("reference", scene, Options()), create("cpu", scene, Options())


def some_disparity(scene, seed=1, size=0.6):
    from scipy.ndimage import gaussian_filter

    w = gaussian_filter(np.random.default_rng(seed).normal(size=scene.shape), 3.0)
    return (size * w / max(np.abs(w).max(), 1e-12)).astype(np.float32)


SCENES = {
    "every planar kind": random_scene(),
    "odd sizes": random_scene((23, 51), ((1, 0), (0, 1), (3, 0), (2, 2))),
    "wider than a tile": random_scene((9, 530), ((1, 0), (0, -1), (-1, -1))),
    "smaller than the filters": random_scene((5, 7), ((1, 0), (0, 1))),
    "one row": random_scene((1, 40), ((1, 0), (-1, 0))),
    "one column": random_scene((40, 1), ((0, 1), (0, -1))),
    "rotated cameras": synth.render("rotated", (40, 48), grid=3, views="all"),
}


# Method, scales, and the term that is left out.
DATA_TERMS = [
    ("gcm", 3, None),
    ("gcm", 1, None),
    ("gcm", 3, "scale"),
    ("gcm", 3, "gradient"),
    ("gcm", 5, None),
    ("naive", 2, None),
]


@pytest.mark.parametrize("scene", SCENES.values(), ids=SCENES.keys())
def test_warp_agrees(scene):
    reference, cpu = both(scene)
    (stage,) = build("gcm", scene.baselines, 0.5)
    w = some_disparity(scene, size=3.0)  # far enough to leave the image
    expected = np.stack([image for image, _, _ in reference.warp(reference.upload(w), stage).values()])
    assert cpu.warp(w, stage) == pytest.approx(expected, abs=2e-5)


@pytest.mark.parametrize("scene", SCENES.values(), ids=SCENES.keys())
@pytest.mark.parametrize("reweight", [False, True])
@pytest.mark.parametrize(
    ("method", "scales", "without"),
    DATA_TERMS,
)
def test_data_term_agrees(scene, reweight, method, scales, without):
    reference, cpu = both(scene)
    stage = build(method, scene.baselines, 0.5, scales, without)[0]
    w = some_disparity(scene)
    wide = reference.upload(w)
    expected = reference.data_term(wide, reference.warp(wide, stage), stage, reweight)
    got = cpu.data_term(w, cpu.warp(w, stage), stage, reweight)
    for a, b in zip(got, expected, strict=True):
        assert np.abs(a - b).max() <= 2e-3 * np.abs(b).max()
        assert np.abs(a - b).mean() <= 2e-4 * np.abs(b).mean() + 1e-12


@pytest.mark.parametrize("scene", SCENES.values(), ids=SCENES.keys())
def test_deviation_agrees(scene):
    reference, cpu = both(scene)
    (stage,) = build("gcm", scene.baselines, 0.5)
    w = some_disparity(scene)
    expected = reference.deviation(reference.upload(w), stage)
    assert np.isfinite(expected).all()
    assert cpu.deviation(w, stage) == pytest.approx(expected, rel=5e-3)


def random_system(shape, seed, empty=0.3):
    """A data term over five decades, absent at some pixels, and a disparity with flat parts and jumps."""
    rng = np.random.default_rng(seed)
    diagonal = 10 ** rng.uniform(-1, 4, shape) * (rng.random(shape) > empty)
    w = np.round(some_disparity(Scene(np.zeros(shape), [np.zeros(shape)], [(1, 0)]), seed, 4.0))
    return w.astype(np.float32), DataTerm(diagonal.astype(np.float32), (rng.normal(size=shape) * diagonal).astype("f4"))


@pytest.mark.parametrize("engine", ["reference", "cpu"])
@pytest.mark.parametrize("shape", [(12, 15), (17, 16), (1, 30), (31, 1), (2, 2)])
@pytest.mark.parametrize("reweight", [False, True])
def test_inner_solver_agrees_with_a_dense_solve(engine, shape, reweight, monkeypatch):
    from gradcon.engines import cpu

    monkeypatch.setattr(cpu, "INNER_TOLERANCE", 1e-5)
    w, term = random_system(shape, seed=3)
    alpha = 0.5
    L = smoothness_operator(w.astype(float), reweight).toarray()
    A = np.diag(term.diagonal.ravel().astype(float)) + alpha * L
    expected = np.linalg.solve(A, term.rhs.ravel() - alpha * L @ w.ravel()).reshape(shape)
    machine = create(engine, Scene(np.zeros(shape), [np.zeros(shape)], [(1, 0)]), Options())
    dw = machine.solve(machine.upload(w), term, alpha, reweight)
    assert np.abs(dw - expected).max() <= 2e-3 * np.abs(expected).max()


def weak_system(shape=(40, 50)):
    """A flat disparity under strong smoothness, and a data term a million times weaker that asks for a step of 3."""
    w = np.zeros(shape, np.float32)
    diagonal = np.random.default_rng(5).uniform(0.005, 0.02, shape).astype(np.float32)
    return w, DataTerm(diagonal, 3 * diagonal), 16.0


def test_strong_links_do_not_swallow_a_weak_data_term():
    w, term, alpha = weak_system()
    machine = create("cpu", Scene(np.zeros(w.shape), [np.zeros(w.shape)], [(1, 0)]), Options())
    assert machine.solve(w, term, alpha, True) == pytest.approx(3.0, abs=1e-3)


def test_the_error_counts_where_the_truth_is_known():
    truth = np.full((9, 11), np.nan, np.float32)
    truth[2:5, 3:7] = 1.5
    scene = Scene(np.zeros(truth.shape), [np.zeros(truth.shape)], [(2, 0)], ground_truth=truth)
    for machine in both(scene):
        w = machine.upload(np.full(truth.shape, 4.0))  # 2 pixels per unit baseline
        assert machine.report(w, w).rmse == pytest.approx(0.5)
    unknown = Scene(np.zeros((4, 4)), [np.zeros((4, 4))], [(1, 0)], ground_truth=np.full((4, 4), np.nan))
    for machine in both(unknown):
        w = machine.upload(np.zeros((4, 4)))
        assert machine.report(w, w).rmse is None


@pytest.mark.parametrize("side", ["left", "right", "top", "bottom"])
def test_a_small_step_over_the_border_is_not_rounded_away(side):
    """At column 1000 a float32 position cannot tell 1e-5 from 0; the view sees the pixel, or it does not."""
    shape = (3, 1001) if side in ("left", "right") else (1001, 3)
    B = {"left": (-1, 0), "right": (1, 0), "top": (0, -1), "bottom": (0, 1)}[side]
    scene = Scene(np.zeros(shape), [np.ones(shape)], [B])
    w = np.full(shape, 1e-5, np.float32)
    (stage,) = build("gcm", scene.baselines, 0.5)
    for machine in both(scene):
        (warped,) = machine.warped_images(machine.upload(w), stage)
        edge = {"left": np.s_[:, 0], "right": np.s_[:, -1], "top": np.s_[0], "bottom": np.s_[-1]}[side]
        assert (warped[edge] == 0).all()  # not seen: the reference's own value
        assert warped.mean() > 0.99


def test_inner_solver_takes_tens_of_iterations_not_hundreds():
    scene = synth.render("occlusion", (160, 160), grid=5)
    reference, cpu = both(scene)
    (stage,) = build("gcm", scene.baselines, 0.5)
    w = cpu.upload(scene.ground_truth)
    term = cpu.data_term(w, cpu.warp(w, stage), stage, True)
    reference.solve(reference.upload(w), term, stage.alpha, True)
    cpu.solve(w, term, stage.alpha, True)
    assert cpu.inner_iterations <= 15
    assert reference.inner_iterations >= 5 * cpu.inner_iterations


def test_a_system_without_data_is_no_trouble():
    scene = Scene(np.zeros((20, 20)), [np.zeros((20, 20))], [(1, 0)])
    nothing = DataTerm(np.zeros((20, 20), np.float32), np.zeros((20, 20), np.float32))
    for machine in both(scene):
        dw = machine.solve(machine.upload(np.zeros((20, 20), np.float32)), nothing, 0.5, True)
        assert np.abs(dw).max() == 0


@pytest.mark.parametrize("shape", [(33, 47), (3, 600), (1, 9), (9, 1), (1, 1), (2, 3)])
def test_update_limits_and_takes_the_median(shape):
    scene = Scene(np.zeros(shape), [np.zeros(shape)], [(1, 0)])
    rng = np.random.default_rng(7)
    w, dw = rng.normal(size=shape).astype("f4"), rng.normal(size=shape).astype("f4")
    reference, cpu = both(scene)
    expected = reference.update(reference.upload(w), reference.upload(dw), 0.5)
    got = cpu.update(w, dw, 0.5)
    assert got == pytest.approx(expected, abs=1e-6)
    assert cpu.report(w, got).clipped == np.mean(np.abs(dw) > 0.5)
    assert cpu.report(w, got)[:-1] == pytest.approx(reference.report(w.astype(float), expected)[:-1], rel=1e-5)


def test_weights_of_a_pixel_sum_to_the_number_of_equations():
    """With unit g and R = 1 the diagonal is the sum of the weights: T Q, whatever the noise."""
    scene = random_scene()
    reference, _ = both(scene)
    (stage,) = build("gcm", scene.baselines, 0.5)
    w = reference.upload(some_disparity(scene))
    N2, fields = reference.noise_powers(w, reference.warp(w, stage), stage, Weighting())
    Z = len(N2) / sum(1 / value for value in N2.values())
    assert sum(Z / value for value in N2.values()) == pytest.approx(3 * len(scene.targets))
    ones = {key: (dI, np.ones_like(g), G) for key, (dI, g, G) in fields.items()}
    reference.noise_powers = lambda *_: (N2, ones)
    assert reference.data_term(w, {}, stage, False).diagonal == pytest.approx(3 * len(scene.targets))


def test_weights_fall_with_the_baseline_inside_a_sector():
    scene = random_scene(baselines=((1, 0), (2, 0), (3, 0), (0, 1)))
    reference, _ = both(scene)
    (stage,) = build("gcm", scene.baselines, 0.5)
    w = reference.upload(some_disparity(scene))
    N2, _ = reference.noise_powers(w, reference.warp(w, stage), stage, Weighting())
    along_x = [t for t in range(4) if scene.baselines[t, 1] == 0]
    for q in stage.scales:
        for near, far in pairwise(along_x):
            assert (N2[near, q] <= N2[far, q]).all()


def test_a_stage_may_use_some_of_the_views():
    scene = random_scene()
    stage = Stage((0, 2, 5), (1, 0), 0.5, 0.5, Weighting())
    reference, cpu = both(scene)
    w = some_disparity(scene)
    wide = reference.upload(w)
    expected = reference.data_term(wide, reference.warp(wide, stage), stage, True)
    got = cpu.data_term(w, cpu.warp(w, stage), stage, True)
    assert np.abs(got.diagonal - expected.diagonal).max() <= 2e-3 * expected.diagonal.max()
