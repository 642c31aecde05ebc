"""New views, wide lenses and the judge without truth, on scenes of flat layers that are known at every sub-pixel."""

from __future__ import annotations

import numpy as np
import pytest

import gradcon
from gradcon import InputError, Map, Scene, leave_out, refocus, synth, synthesise
from gradcon.judging.similarity import psnr, ssim
from gradcon.rendering.carrying import carry
from gradcon.rendering.viewpoint import Viewpoint, viewpoints, virtual
from layered_scenes import CROSS, Layer, edge, layered, plane, render
from sweep_cases import Waves

NEAR, FAR = 1.1, -0.7


def quality(picture: np.ndarray, truth: np.ndarray) -> float:
    return psnr(float(((picture - truth) ** 2).mean()))


def covers(x, y):
    return (abs(x - 47.5) < 20) & (abs(y - 47.5) < 20)


LAYERS = [Layer(FAR, Waves(11)), Layer(NEAR, Waves(12), covers)]


@pytest.fixture(scope="module")
def square() -> Scene:
    """A square before a plane."""
    return layered(LAYERS, CROSS)


@pytest.mark.parametrize("at", [(0.5, 0.0), (1.5, -0.5), (-2.0, 3.0)])
def test_a_view_between_the_cameras_is_what_a_camera_there_sees(square: Scene, at: tuple[float, float]) -> None:
    truth = render(LAYERS, (-at[0], -at[1]), square.shape)
    made = quality(synthesise(square, square.ground_truth, at), truth)
    assert made > 32
    assert made > quality(square.colour / 255, truth) + 10


def test_a_plane_is_synthesised_almost_exactly() -> None:
    scene = plane(0.6, CROSS)
    made = synthesise(scene, scene.ground_truth, (0.5, 0.5))
    truth = render([Layer(0.6, Waves(11))], (-0.5, -0.5), scene.shape)
    assert quality(made[4:-4, 4:-4], truth[4:-4, 4:-4]) > 42


def test_the_place_of_a_view_gives_that_view(square: Scene) -> None:
    k = square.target_names.index("target 4")  # at baseline (1, 0): one step to the left
    made = synthesise(square, square.ground_truth, at=tuple(-square.baselines[k]))
    real = np.moveaxis(square.colours[1 + k], 0, -1) / 255
    assert quality(made, real) > 38
    reference = synthesise(square, square.ground_truth, (0, 0))
    assert quality(reference, square.colour / 255) > 38


def test_what_a_camera_did_not_see_does_not_count() -> None:
    plain = plane(0.6, CROSS)
    nearest = 1 + plain.target_names.index("target 4")  # at baseline (1, 0)
    hole = np.s_[nearest, 30:60, 30:60]
    views, seen = np.moveaxis(plain.colours, 1, -1).copy(), np.ones(plain.colours[:, 0].shape, bool)
    views[hole], seen[hole] = 255 - views[hole], False
    scene = Scene(views[0], list(views[1:]), plain.baselines, target_names=plain.target_names, seen=seen)
    at = tuple(-plain.baselines[nearest - 1])
    made, expected = (synthesise(each, plain.ground_truth, at) for each in (scene, plain))
    assert quality(made, expected) > 35
    judged, best = (leave_out(each, plain.ground_truth) for each in (scene, plain))
    assert judged.views[nearest - 1].psnr > best.views[nearest - 1].psnr - 1
    assert judged.views[nearest - 1].seen < best.views[nearest - 1].seen - 9


def test_rotated_cameras_see_what_they_saw() -> None:
    scene = synth.render("rotated", (64, 64), views=9)
    judged = leave_out(scene, scene.ground_truth)
    assert judged.psnr > 33
    assert judged.suspected_rmse < 0.05
    shifted = leave_out(scene, scene.ground_truth + 0.3)
    assert shifted.psnr < judged.psnr - 3
    assert shifted.suspected_rmse > 0.2


def test_what_is_carried_to_a_view_can_be_carried_back() -> None:
    scene = synth.render("rotated", (48, 48), views=5)
    x, y, w = np.array([10.0, 30.0]), np.array([20.0, 5.0]), np.array([2.0, 2.4])
    for each in viewpoints(scene):
        u, v, near = each.see(x, y, w)
        assert np.allclose(each.disparity(u, v, near), w)
        assert np.allclose(each.back(u, v, w), (x, y))


def test_a_slope_has_no_cracks_and_a_jump_opens_a_gap_that_shows_the_background() -> None:
    slope = np.tile(np.linspace(0, 3, 60), (20, 1))
    seen = carry(slope, virtual(4, 0))  # the right end moves left by 12 pixels
    assert seen.known[:, :44].all()
    back = np.tile(np.linspace(0, 3, 60), (20, 1))[:, ::-1].copy()
    assert carry(back, virtual(4, 0)).known[:, 5:48].all()  # stretched by a fifth
    step = np.zeros((20, 60))
    step[:, 20:40] = 2
    moved = carry(step, virtual(4, 0))
    assert np.array_equal(np.flatnonzero(~moved.known[10]), [*range(32, 40)])
    assert (moved.disparity[:, 32:40] == 0).all()
    assert (moved.disparity[:, 12:32] == 2).all()


def test_a_camera_that_looks_away_sees_nothing() -> None:
    away = Viewpoint(np.diag([1.0, 1.0, -1.0]), np.zeros(3))
    assert not carry(np.ones((8, 8)), away).known.any()


@pytest.mark.parametrize("pixel", [(48, 48), (8, 8)])
def test_refocusing_keeps_the_asked_pixel_sharp(square: Scene, pixel: tuple[int, int]) -> None:
    made, real = refocus(square, square.ground_truth, pixel, 8), square.colour / 255
    x, y = pixel
    there = np.s_[y - 3 : y + 4, x - 3 : x + 4]
    other = np.s_[4:13, 4:13] if pixel == (48, 48) else np.s_[44:53, 44:53]
    assert np.abs(made[there] - real[there]).max() < 0.004
    assert np.abs(np.diff(made[other], axis=1)).mean() < 0.4 * np.abs(np.diff(real[other], axis=1)).mean()


def test_blur_respects_what_is_in_front() -> None:
    """A white wall behind a black square: only a blurred square may spread, and only a sharp wall stay white."""
    truth = np.where(covers(*np.indices((96, 96))[::-1]), NEAR, FAR)
    colours = np.where(truth == NEAR, 0.0, 1.0)[..., None] * np.ones(3)

    def flat(value: float):
        return lambda x, y: np.full((3, *np.shape(x)), value)

    layers = [Layer(FAR, flat(1.0)), Layer(NEAR, flat(0.0), covers)]
    scene = layered(layers, CROSS)
    assert np.abs(scene.colour / 255 - colours).max() < 0.01
    sharp_front = refocus(scene, truth, (48, 48), 10)
    assert np.abs(sharp_front - colours).max() < 0.02  # nothing bleeds over the rim
    blurred_front = refocus(scene, truth, (5, 5), 10)
    outside, inside = blurred_front[48, 24:28, 0], blurred_front[48, 28:32, 0]
    assert (outside < 0.97).all()  # the blurred rim spills over the wall
    assert (inside[:2] > 0.3).all()  # and the wall shows through it
    assert blurred_front[48, 48, 0] < 0.01
    assert blurred_front[5, 5, 0] > 0.99


def test_no_aperture_changes_nothing(square: Scene) -> None:
    assert np.abs(refocus(square, square.ground_truth, (5, 5), 0) - square.colour / 255).max() < 1e-6


def test_the_judge_ranks_the_truth_above_disturbed_maps() -> None:
    scene = edge(0, CROSS, noise=0.004)
    truth, rng = scene.ground_truth, np.random.default_rng(0)
    fat = np.roll(truth, -4, axis=1)
    maps = [truth, truth + 0.1, truth + 0.2 * rng.normal(size=truth.shape), fat, np.full_like(truth, NEAR)]
    judged = [leave_out(scene, each).suspected_rmse for each in maps]
    true = [gradcon.evaluate(each, truth)["rmse"] for each in maps]
    assert judged[0] < 0.08  # the pixels at the edge show both surfaces
    assert judged == pytest.approx(np.hypot(true, judged[0]), rel=0.05)
    assert np.argsort(judged).tolist() == np.argsort(true).tolist()


def test_views_that_were_not_used_are_left_out(square: Scene) -> None:
    near = [name for name, B in zip(square.target_names, square.baselines, strict=True) if np.abs(B).sum() < 3]
    judged = leave_out(square, square.ground_truth, used=near)
    assert judged.independent
    assert {view.name for view in judged.views} == set(square.target_names) - set(near)
    assert 90 < judged.seen <= 100
    assert judged.failures.shape == square.shape
    assert not leave_out(square, square.ground_truth).independent
    with pytest.raises(InputError, match="none of the views"):
        leave_out(square, square.ground_truth, used=["another"])


def test_grey_scenes_and_unknown_pixels_work() -> None:
    scene = edge(0, CROSS)
    grey = Scene(scene.colour[..., 1], scene.colours[1:, 1], scene.baselines)
    holes = scene.ground_truth.copy()
    holes[40:50, 20:30] = np.nan
    assert synthesise(grey, holes, (0.5, 0)).shape == (96, 96)
    assert refocus(grey, holes, (5, 5), 4).shape == (96, 96)


def test_similarity() -> None:
    image = np.random.default_rng(1).random((32, 32)).astype(np.float32)
    assert psnr(0.01) == pytest.approx(20)
    assert psnr(0.0) == 100
    assert ssim(image, image).mean() == pytest.approx(1)
    assert ssim(image, 1 - image).mean() < 0


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda s, w: synthesise(s, w, (30, 0)), "at: .* far outside the cameras, which stand from -4 to 4"),
        (lambda s, w: synthesise(s, w, (1, 2, 3)), "at: .* pair of finite numbers"),
        (lambda s, w: synthesise(s, w, "there"), "at: .* not an array of real numbers"),
        (lambda s, w: synthesise(s, w[:-1], (0, 0)), "result: is 96 x 95 pixels"),
        (lambda s, w: synthesise(s, np.full_like(w, np.nan), (0, 0)), "unknown at every pixel"),
        (lambda s, w: synthesise(s, Map(np.ones((96, 96), "f4"), "depth"), (0, 0)), "holds depth, not disparity"),
        (lambda s, w: synthesise("scene", w, (0, 0)), "is a str, not a Scene"),
        (lambda s, w: refocus(s, w, (96, 0), 1), r"at: \(96, 0\) is outside the picture"),
        (lambda s, w: refocus(s, w, (0, 0), -1), "aperture: -1 is not a diameter"),
        (lambda s, w: refocus(s, w, (0, 0), float("nan")), "aperture: nan"),
        (lambda s, w: refocus(s, w, (0, 0), 1000), "leaves nothing to see; give at most"),
        (lambda s, w: leave_out(s, w, used="target 1"), "used: 'target 1' is not a list of names"),
    ],
)
def test_wrong_input_is_refused(square: Scene, call, match: str) -> None:
    with pytest.raises(InputError, match=match):
        call(square, square.ground_truth)


def test_a_result_of_another_scene_is_refused() -> None:
    first, second = (synth.render("planes", (32, 32), views=5, seed=seed) for seed in (0, 1))
    result = gradcon.estimate(first)
    with pytest.raises(InputError, match="estimated from other pixels"):
        synthesise(second, result, (0, 0))
    assert leave_out(first, result).independent is False
