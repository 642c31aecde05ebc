"""What a look at the views finds, and what an estimate makes of it."""

from __future__ import annotations

import warnings
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import ndimage

from gradcon import InputError, Options, Result, Scene, estimate, estimate_many, open_scene, synth
from gradcon.methods.look import look_at
from gradcon.scene.layout import TEXTS, Layout
from gradcon.scene.variants import laid_out

SIZE = (144, 144)


@pytest.fixture(scope="module")
def scene() -> Scene:
    return synth.render("occlusion", SIZE)


@pytest.fixture(scope="module")
def clean(scene: Scene) -> float:
    return rmse(quiet(scene))


def quiet(scene: Scene, options: Options | None = None) -> Result:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimate(scene, options, engine="cpu")


def rmse(result: Result) -> float:
    assert result.metrics is not None
    return result.metrics["rmse"]


def images(scene: Scene) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the views, (1 + T, height, width, C), with white at 255."""
    return np.moveaxis(scene.colours, 1, -1) * (255 * scene.colour_scale)


def remade(scene: Scene, views: Any, baselines: Any = None) -> Scene:
    """Return a scene with other views, rounded to 8 bits."""
    views = np.clip(np.rint(views), 0, 255).astype(np.uint8)
    B = scene.baselines if baselines is None else baselines
    return Scene(views[0], list(views[1:]), B, ground_truth=scene.ground_truth, target_names=scene.target_names)


def test_nothing_is_wrong_with_good_scenes() -> None:
    for name, views in product(["occlusion", "sphere", "planes"], ["cross", "all"]):
        found = look_at(synth.render(name, SIZE, views=views, grid=5), engine="cpu").findings
        assert found.doubts == []
        grey = [0.5 * np.mean(view.gain) + np.mean(view.offset) for view in found.brightness]
        np.testing.assert_allclose(grey, 0.5, atol=0.006)
        assert found.layout is None
        assert found.odd_views == []


@pytest.mark.parametrize("name", ["occlusion", "sphere"])
def test_the_range_holds_the_disparities(name: str) -> None:
    truth = synth.render(name, SIZE).ground_truth
    assert truth is not None
    low, high = look_at(synth.render(name, SIZE), engine="cpu").findings.disparity_range
    assert low <= np.quantile(truth, 0.02)
    assert high >= np.quantile(truth, 0.98)
    assert high - low < 4 * (truth.max() - truth.min())


@pytest.mark.parametrize("name", ["planes", "sphere", "occlusion"])
def test_two_views_tell_the_range_too(name: str) -> None:
    """Textures of a pair also match by chance, far outside the range, and along any axis."""
    pair = synth.render(name, SIZE, views=2)
    assert pair.ground_truth is not None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = estimate(pair, engine="cpu")
    low, high = result.parameters["disparity_range"]
    assert low <= pair.ground_truth.min()
    assert high >= pair.ground_truth.max()
    assert high - low < 12 * np.ptp(pair.ground_truth)
    assert rmse(result) < 0.25


def test_what_is_given_is_not_looked_for(scene: Scene) -> None:
    options = Options(disparity_range=(-3.0, 4.0), noise=0.01)
    result = quiet(scene, options)
    assert result.findings is not None
    assert result.findings.disparity_range == (-3.0, 4.0)
    assert result.findings.noise == 0.01
    assert result.findings.given == ["disparity_range", "noise"]
    assert result.summary()["findings"]["disparity_range"] == [-3.0, 4.0]
    assert "given" in dict(result.findings.lines())["range"]


@pytest.mark.parametrize("wrong", [(1, 1), (2, 1), (0, np.nan), (1, 2, 3), "12", ("a", "b")])
def test_a_range_that_is_none_is_refused(wrong: Any) -> None:
    with pytest.raises(InputError, match="disparity_range"):
        Options(disparity_range=wrong)


@pytest.mark.parametrize("sigma", [5, 15])
def test_noise_is_measured_and_used(scene: Scene, sigma: float) -> None:
    views = images(scene)
    noisy = remade(scene, views + np.random.default_rng(0).normal(0, sigma, views.shape))
    result = quiet(noisy)
    assert result.findings is not None
    assert 0.7 * sigma < 255 * result.findings.noise < 1.4 * sigma
    assert f"noise of {255 * result.findings.noise:.1f} in 255" in str(result.summary())


@pytest.mark.parametrize("most", [0.05, 0.3])
def test_gains_are_compensated(scene: Scene, clean: float, most: float) -> None:
    generator = np.random.default_rng(1)
    views = 0.75 * images(scene)  # leaves room for brighter cameras
    gains = 1 + generator.uniform(-most, most, len(views))
    result = quiet(remade(scene, views * gains[:, None, None, None]))
    assert result.findings is not None
    assert result.findings.compensated
    found = [np.mean(view.gain) for view in result.findings.brightness]
    np.testing.assert_allclose(found, gains[1:] / gains[0], atol=0.03)
    assert rmse(result) < 1.05 * clean + 0.003
    left_alone = quiet(remade(scene, views * gains[:, None, None, None]), Options(gains=False))
    assert rmse(left_alone) > rmse(result)


@pytest.mark.parametrize("engine", ["reference", "cpu"])
@pytest.mark.parametrize("method", ["sweep", "gcm"])
def test_gains_are_compensated_on_every_engine(method: str, engine: str) -> None:
    scene = synth.render("occlusion", (64, 64), grid=3)
    views = 0.75 * images(scene)
    gains = 1 + np.linspace(-0.2, 0.2, len(views))[:, None, None, None]
    options = Options("sweep") if method == "sweep" else Options("gcm", solves=12)
    results = [estimate(remade(scene, v), options, engine=engine) for v in (views, views * gains)]
    assert rmse(results[1]) < 1.1 * rmse(results[0]) + 0.01


def test_every_layout_of_a_grid_is_named(scene: Scene) -> None:
    right = [(text, Layout.parse(text)) for text in TEXTS]
    for text, layout in right:
        wrong = remade(scene, images(scene), layout.of(scene.baselines))
        (warning,) = quiet(wrong).warnings
        found = warning.split("--flip ")[1].split(".")[0]
        np.testing.assert_allclose(
            laid_out(wrong, Layout.parse(found)).baselines[
                np.argsort(laid_out(wrong, Layout.parse(found)).target_names)
            ],
            scene.baselines[np.argsort(scene.target_names)],
            atol=1e-12,
        )
        if text not in ("tx", "ty"):  # which undo each other
            assert found == text


def test_the_named_layout_counts_what_was_given(scene: Scene) -> None:
    wrong = remade(scene, images(scene), scene.baselines * (-1, 1))
    (warning,) = quiet(wrong.flipped(y=True)).warnings
    assert "with --flip x." in warning
    (warning,) = quiet(remade(scene, images(scene)).flipped(x=True)).warnings
    assert "without --flip x" in warning
    (warning,) = quiet(scene.transposed()).warnings
    assert "without --flip t" in warning


def test_identical_views_are_not_sure_of_anything(scene: Scene) -> None:
    result = quiet(remade(scene, np.repeat(images(scene)[:1], len(scene.colours), axis=0)))
    (warning,) = result.warnings
    assert "do not differ" in warning
    assert np.median(result.uncertainty) > 0.5


def test_a_black_view_is_named_and_left_out(scene: Scene, clean: float) -> None:
    views = images(scene)
    views[3] = 0
    result = quiet(remade(scene, views))
    (warning,) = result.warnings
    assert scene.target_names[2] in warning
    assert "left out" in warning
    assert scene.target_names[2] not in result.source["targets"]
    assert rmse(result) < 1.3 * clean


def test_exchanged_views_are_named() -> None:
    scene = synth.render("sphere", SIZE)
    views = images(scene)
    far = np.argsort(-np.hypot(*scene.baselines.T))[:2]
    views[1 + far] = views[1 + far[::-1]]
    text = " ".join(quiet(remade(scene, views)).warnings)
    assert "exchanged" in text
    assert all(scene.target_names[t] in text for t in far)


def displaced(scene: Scene, pixels: float, degrees: float) -> Scene:
    """Shift and turn every target at random."""
    generator, views = np.random.default_rng(0), images(scene)
    middle = (np.array(scene.shape) - 1) / 2
    for view in views[1:]:
        turn = np.deg2rad(generator.uniform(-degrees, degrees))
        R = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
        offset = middle - R @ middle + generator.uniform(-pixels, pixels, 2)
        for channel in range(view.shape[-1]):
            view[..., channel] = ndimage.affine_transform(view[..., channel], R, offset, order=3, mode="nearest")
    return remade(scene, views)


@pytest.mark.parametrize(("pixels", "degrees"), [(1.0, 0.0), (0.0, 0.8)])
def test_views_out_of_place_are_named_and_aligned(pixels: float, degrees: float) -> None:
    scene = synth.render("sphere", (192, 192))
    wrong = displaced(scene, pixels, degrees)
    before = quiet(wrong)
    (warning,) = before.warnings
    assert "out of place" in warning
    assert "--align" in warning
    after = quiet(wrong, Options(align=True))
    assert after.warnings == []
    assert after.findings is not None
    assert after.findings.aligned
    assert scene.ground_truth is not None
    # Shifts along all baselines are a disparity of everything, which nobody can tell from them.
    errors = [result.disparity - scene.ground_truth for result in (before, after, quiet(scene))]
    wrong_error, error, best = (float(np.std(each)) for each in errors)
    assert error < 0.9 * wrong_error
    assert error < 1.05 * best


def test_alignment_is_not_advised_to_those_who_asked_for_it(scene: Scene) -> None:
    wrong = displaced(scene, 0.0, 0.8)
    (text,) = look_at(wrong, Options(align=True), engine="cpu").findings.doubts  # which only `prepare` aligns
    assert "out of place" in text
    assert "--align" not in text


def test_the_frames_of_a_video_share_their_alignment(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    from gradcon.methods import preparation

    calls = []
    real = preparation.alignment
    monkeypatch.setattr(preparation, "alignment", lambda *a: calls.append(a) or real(*a))
    wrong = displaced(scene, 1.0, 0.0)
    results = list(estimate_many([wrong, wrong], Options(align=True), engine="cpu"))
    assert len(calls) == 1
    assert all(result.findings is not None and result.findings.aligned for result in results)


@pytest.mark.data
@pytest.mark.parametrize("name", ["hci/boxes", "hci/dots", "middlebury2006/Plastic", "other/cones", "other/lytro2067"])
def test_real_scenes_raise_no_alarm_with_any_reference(data_folder: Any, name: str) -> None:
    from gradcon import open_frames

    views = [view.name for view in open_frames(data_folder / name).listing.views]
    for reference in views[:: max(1, len(views) // 4)]:
        assert look_at(open_scene(data_folder / name, reference=reference), engine="cpu").findings.doubts == []
