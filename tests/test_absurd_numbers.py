"""Absurd numbers from users and files are refused in a sentence, and no estimate is without a finite map."""

from __future__ import annotations

import dataclasses
import warnings
from functools import cache

import numpy as np
import pytest

from gradcon import Calibration, Camera, InputError, Options, Scene, estimate, estimate_many, synth
from gradcon.methods.registry import check_start
from gradcon.result.finite import refuse_unknown

ABSURD = [10**400, "text", "", None, 1j, True, [], [1, [2, 3]], {}, object(), np.nan, np.inf, -1, 0, 1e39, 1e-39, b"1"]


@cache
def views() -> tuple[np.ndarray, ...]:
    scene = synth.render("planes", size=(24, 32), views="cross")
    return tuple(np.array(image) for image in (scene.reference, *scene.targets[:4]))


BASELINES = np.array([(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)])


def small(factor: float = 1.0, unit: float = 1.0, rows: int | None = None, **more) -> Scene:
    images = [np.float32(factor * image[:rows].astype(np.float64)) for image in views()]
    return Scene(images[0], images[1:], unit * BASELINES, **more)


def quiet(scene: Scene, options: Options | None = None, **how):
    """Estimate, with every warning of NumPy an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        warnings.simplefilter("error", RuntimeWarning)
        return estimate(scene, options, **how)


def is_refused(call) -> bool:
    """Return whether a call is refused in words; any error but an InputError or a TypeError is a defect."""
    try:
        call()
    except (InputError, TypeError) as error:
        return len(str(error)) > 10
    return False


@pytest.mark.parametrize("field", [field.name for field in dataclasses.fields(Options)])
def test_options_refuse_absurd_values_in_words(field):
    for value in ABSURD:
        for method in ("gcm", "sweep"):
            given = {"method": method, field: value}
            required = ("method", "alpha", "solves", "gains", "align", "choices", "use_inspection")
            allowed = value is None and field not in required
            allowed = allowed or (value == {} and field == "choices")  # as a record of the defaults has it
            allowed = allowed or (value is True and field in ("gains", "align", "use_inspection"))
            assert allowed or is_refused(lambda given=given: Options(**given)), (field, value)


def test_options_take_numpys_numbers_as_plain_ones():
    options = Options("gcm", alpha=np.float32(0.5), scales=np.int64(2), disparity_range=np.array([-1, 2]))
    assert options == Options("gcm", alpha=0.5, scales=2, disparity_range=(-1.0, 2.0))
    assert type(options.scales) is int
    assert type(options.disparity_range) is tuple


@pytest.mark.parametrize(("name", "value"), [("epsilon", 1e-20), ("epsilon", 1e39), ("alpha", 1e300), ("noise", 1e20)])
def test_a_setting_that_cannot_be_computed_with_is_refused(name, value):
    with pytest.raises(InputError, match=rf"^{name}: .* is too (small|large) to compute with; give a number from"):
        Options("gcm", **{name: value})


@pytest.mark.parametrize("engine", ["cpu", "reference"])
@pytest.mark.parametrize("given", [{"epsilon": 1e-12}, {"epsilon": 1e12}, {"alpha": 1e-12}, {"alpha": 1e12}])
def test_the_ends_of_the_ranges_give_finite_maps(engine, given):
    result = quiet(small(), Options("gcm", solves=2, **given), engine=engine)
    assert np.isfinite(result.disparity).all()
    assert np.isfinite(result.uncertainty).all()


@pytest.mark.parametrize("parameter", ["baselines", "transforms", "ground_truth", "white", "calibration", "reference"])
def test_scenes_refuse_absurd_values_in_words(parameter):
    optional = ("ground_truth", "white", "calibration")
    for value in ABSURD:
        given = {"reference": views()[0], "targets": list(views()[1:]), "baselines": BASELINES}
        if parameter == "transforms":
            del given["baselines"]
        given[parameter] = value
        allowed = value is None and parameter in optional
        allowed = allowed or (parameter == "ground_truth" and value is None)
        assert allowed or is_refused(lambda given=given: Scene(**given)), (parameter, value)


def test_ragged_and_text_baselines_and_transforms_that_are_no_pair_are_refused():
    reference, *targets = views()
    for baselines in ([(1, 0), (2,), (0, 1), (0, 2)], [("a", "b")] * 4, "text"):
        with pytest.raises(InputError, match=r"its baselines are not an array of real numbers; give one"):
            Scene(reference, targets, baselines)
    for transforms in (3, np.eye(3), (np.eye(3),)):
        with pytest.raises(InputError, match=r"not a pair of arrays \(M, m\)"):
            Scene(reference, targets, transforms=transforms)


def test_a_target_that_is_no_array_is_named():
    reference, *targets = views()
    for wrong in ([[1, 2], [3]], lambda: [[1, 2], [3]]):
        with pytest.raises(InputError, match=r"^target 2: this list is not an array of numbers"):
            Scene(reference, [*targets[:2], wrong, targets[3]], BASELINES)


def test_cameras_and_calibrations_refuse_absurd_values_in_words():
    K = np.array([[100.0, 0, 16], [0, 100, 12], [0, 0, 1]])
    for value in ABSURD:
        assert is_refused(lambda value=value: Calibration(value, K))
        assert value in (-1, 0, 1e-39) or is_refused(lambda value=value: Calibration(1.0, K, value))
        assert is_refused(lambda value=value: Calibration(1.0, value))
        for k in range(3):
            matrices = [K, np.eye(3), np.zeros(3)]
            matrices[k] = value
            assert is_refused(lambda matrices=matrices: Camera.of(*matrices))


@pytest.mark.parametrize("unit", [1e-300, 1e-30, 1e30, 1e300])
def test_baselines_that_cannot_be_computed_with_are_refused(unit):
    with pytest.raises(InputError, match=r"its baseline of .* is too (short|long) to compute with"):
        small(unit=unit)


@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_the_unit_of_the_baselines_does_not_change_the_map(unit):
    here, there = (quiet(small(unit=u), engine="cpu").disparity for u in (1.0, unit))
    assert np.allclose(here, there * unit, rtol=1e-3, atol=1e-3)


def test_huge_pixels_are_refused():
    with pytest.raises(InputError, match=r"its pixel values of up to .* are too large; scale"):
        small(1e30)


@pytest.mark.parametrize("engine", ["cpu", "reference"])
@pytest.mark.parametrize("factor", [1e-40, 1e-20, 1e-10])
def test_rows_of_hardly_any_light_give_finite_maps_without_noise(engine, factor):
    result = quiet(small(factor, rows=1), Options("gcm", solves=2), engine=engine)
    assert np.isfinite(result.disparity).all()
    assert np.isfinite(result.uncertainty).all()


@pytest.mark.parametrize("white", [1e-39, 1e39, 0, -1, np.nan, "white"])
def test_a_white_that_makes_no_scene_is_refused(white):
    with pytest.raises(InputError, match=r"^white: "):
        small(white=white)


@pytest.mark.parametrize("initial", [1e39, 1e300, np.full((24, 32), 1e30), "0", [[1], [2, 3]], 1j, np.nan])
def test_a_start_that_cannot_be_computed_with_is_refused(initial):
    with pytest.raises(InputError, match=r"^initial: "):
        quiet(small(), Options("gcm", solves=1), initial=initial, engine="cpu")
    if not isinstance(initial, str):
        with pytest.raises(InputError, match=r"^initial: "):
            list(estimate_many([small()], Options("gcm", solves=1), initial=initial, engine="cpu"))


@pytest.mark.parametrize("limits", [(-1e4, 1e4), (-1e12, 1e12)])
def test_a_range_that_no_copy_of_the_views_can_be_searched_in_is_refused(limits):
    with pytest.raises(InputError, match=r"^disparity_range: .* is too wide for views of 32 x 24 pixels; give one"):
        quiet(small(), Options(disparity_range=limits), engine="cpu")


def test_maps_that_are_not_finite_are_neither_returned_nor_written(tmp_path, monkeypatch):
    result = quiet(small(), engine="cpu")
    spoilt = np.array(result.uncertainty)
    spoilt[3, 4] = np.nan
    with pytest.raises(InputError, match="the uncertainty of 1 of 768 pixels is not a finite number"):
        dataclasses.replace(result, uncertainty=spoilt).save(tmp_path / "out")
    assert not (tmp_path / "out").exists()
    with pytest.raises(InputError, match="the disparity of 768 of 768 pixels"):
        refuse_unknown("scene", np.full((24, 32), np.inf), spoilt)
    monkeypatch.setattr("gradcon.methods.sweep.run.deviation", lambda *_: spoilt)
    with pytest.raises(InputError, match="the uncertainty of 1 of 768 pixels"):
        estimate(small(), engine="cpu")


@pytest.mark.parametrize("initial", ["left", np.nan, np.inf, np.array(np.nan), 1j])
def test_a_start_that_is_no_number_is_refused_before_anything_compiles(initial):
    with pytest.raises(InputError, match=r"^initial: .* is not a finite disparity"):
        check_start("gcm", initial)


def three_cameras(**changes) -> list[Camera]:
    """Three parallel cameras; `changes` replaces fields of the last."""
    K = [[20.0, 0, 16], [0, 20, 12], [0, 0, 1]]
    places = [{"K": K, "R": np.eye(3), "t": t} for t in ([0, 0, 0], [-1, 0, 0.01], [0.5, 0.5, 0])]
    return [Camera.of(**place) for place in (*places[:2], {**places[2], **changes})]


@pytest.mark.parametrize("value", [1e13, -1e30, 1e300])
@pytest.mark.parametrize("field", ["K", "t"])
def test_cameras_beyond_measure_are_refused_by_their_field(field, value):
    given = {"K": [[value, 0, 16], [0, 20, 12], [0, 0, 1]], "t": [value, 0, 0]}
    with pytest.raises(InputError, match=rf"^camera: {field} holds a number that is too large to compute with"):
        three_cameras(**{field: given[field]})
    with pytest.raises(InputError, match="its geometry holds a number that is too large"):
        Scene(views()[0], views()[1:2], transforms=(value * np.eye(3)[None], np.ones((1, 3))))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("nearest", [0, -1, np.nan, np.inf, True, "a", [1.0], 1e-300, 1e300])
def test_a_length_that_is_no_unit_is_refused_without_a_warning(nearest):
    with pytest.raises(InputError, match=r"^(nearest: .* is not the length of a baseline|calibration: product)"):
        Scene.from_cameras(views()[0], views()[1:3], three_cameras(t=[1e11, 0, 0]), nearest=nearest)


@pytest.mark.parametrize("focal", [1e-9, 1e-6, 1e6, 1e9])
def test_every_view_has_a_camera_however_far_its_focal_length_is_from_the_others(focal):
    K = np.array([[focal, 0, 16], [0, 20, 12], [0, 0, 1]])
    scene = Scene.from_cameras(views()[0], views()[1:2], three_cameras(K=K)[::2])
    camera = scene.calibration.camera_of_view(scene.M[0], scene.m[0])
    assert np.allclose(camera.K, K, rtol=1e-6)
    assert np.allclose(camera.R, np.eye(3), atol=1e-6)
    assert np.allclose(camera.t, (0.5, 0.5, 0), rtol=1e-6)


@pytest.mark.parametrize("given", [{"product": 1e30}, {"product": 1e-30}, {"offset": -1e30}])
def test_calibrations_beyond_measure_are_refused(given):
    with pytest.raises(InputError, match=r"^calibration: product .* are too small or too large to compute with"):
        Calibration(**{"product": 1.0, "K": np.eye(3), **given})
