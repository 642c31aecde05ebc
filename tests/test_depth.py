"""Metric depth: the formulas of the datasets, the geometry of rendered scenes, and what is written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from gradcon import Calibration, Options, Scene, cli, estimate, open_scene, synth
from gradcon.cli import estimates
from gradcon.errors import InputError
from gradcon.io.formats.hci import write_hci
from gradcon.io.formats.rig import write_rig
from gradcon.io.images import read_image
from gradcon.io.pfm import read_pfm
from gradcon.result import Result
from gradcon.result.depth import calibration_of, depth_remarks, depth_summary, to_millimetres
from gradcon.result.stopped import Stopped, StopReason
from gradcon.scene.geometry import Camera
from gradcon.synth import raycast
from gradcon.synth.textures import Painter

ENDED = Stopped.because(StopReason.CALLBACK, solves=1)
METRES = {"m": 1.0, "mm": 1e-3}
WITHOUT_DEPTH = {"uncertainty.pfm", "disparity.pfm", "disparity.png", "result.json", "views.jpg"}
WITH_DEPTH = WITHOUT_DEPTH | {"depth.pfm", "depth.png"}


def true_depth(name: str, scene: Scene, view: str) -> np.ndarray:
    """What a camera of a rendered scene measures, in metres."""
    camera = Camera(*(np.array(scene.metadata["cameras"][view][part]) for part in "KRt"))
    return raycast.depth(synth.SCENES[name](Painter(100, 0)).surfaces, camera, scene.shape)


def result_of(scene: Scene, disparity: np.ndarray) -> Result:
    deviation = np.full(scene.shape, 0.01, np.float32)
    size = {"views": len(scene.colours), "width": scene.shape[1], "height": scene.shape[0]}
    source = {"name": scene.name, "reference": scene.reference_name, **size}
    return Result(np.float32(disparity), deviation, [], ENDED, {}, source, "cpu", "", {"total": 0.0}, None, [], scene)


def calibrated(depth: Any, unit: str = "mm") -> Result:
    """A result of these depths; an unknown one is at infinity, which has the disparity 0."""
    calibration = Calibration(1000.0, np.eye(3), unit=unit)
    images = np.random.default_rng(0).integers(0, 255, (2, *np.shape(depth)), np.uint8)
    scene = Scene(images[0], images[1:], [(-1, 0)], calibration=calibration, name="made up")
    return result_of(scene, np.nan_to_num(calibration.disparity(depth)))


# ------------------------------------------------------------------------------------------ what it is


@pytest.mark.parametrize("name", ["planes", "parallel", "sphere", "occlusion", "rotated"])
def test_depth_of_the_truth_is_what_the_rays_measure(name: str) -> None:
    scene = synth.render(name, (60, 84), grid=3)
    depth = result_of(scene, scene.ground_truth).depth() * METRES[scene.calibration.unit]
    np.testing.assert_allclose(depth, true_depth(name, scene, scene.reference_name), rtol=1e-5)
    assert depth.min() > 1.5
    assert depth.max() < 4


@pytest.mark.slow
# Measured 0.08 to 0.24 % at the median; 0.12 % for `occlusion`.
@pytest.mark.parametrize("name", ["planes", "parallel", "rotated"])
def test_estimated_depth_is_right_where_disparity_is(name: str) -> None:
    scene = synth.render(name, (192, 192))
    result = estimate(scene, Options("gcm", solves=25), check_directions=False)
    right = np.abs(result.disparity - scene.ground_truth) < 0.05
    assert right.mean() > 0.8
    truth = true_depth(name, scene, scene.reference_name)[right]
    measured = result.depth()[right] * METRES[scene.calibration.unit]
    assert np.median(np.abs(measured / truth - 1)) < 0.005


def test_depth_deviation_is_the_change_that_one_deviation_of_disparity_makes() -> None:
    scene = synth.render("planes", (48, 48), grid=3)
    nearer, farther = (result_of(scene, scene.ground_truth + step).depth() for step in (1e-2, -1e-2))
    np.testing.assert_allclose(
        result_of(scene, scene.ground_truth).depth_deviation(), (farther - nearer) / 2, rtol=1e-3
    )


def test_depth_of_the_benchmark_is_its_own_formula(tmp_path: Path) -> None:
    F, b, f, s, width, height = 1150.0, 9.5, 100.0, 35.0, 12, 8
    parameters = {
        "focal_length_mm": f, "sensor_size_mm": s, "baseline_mm": b, "focus_distance_m": F / 1e3,
        "image_resolution_x_px": width, "image_resolution_y_px": height, "num_cams_x": 3, "num_cams_y": 3,
    }  # fmt: skip
    views = np.random.default_rng(0).integers(0, 255, (3, 3, height, width), np.uint8)
    scene = open_scene(write_hci(tmp_path, views, parameters=parameters))
    d = np.linspace(-0.1, 0.3, width * height).reshape(height, width)
    beta = b * f * max(width, height)
    np.testing.assert_allclose(result_of(scene, d).depth(), beta * F / (d * F * s + beta), rtol=1e-5)
    assert scene.calibration.unit == "mm"
    assert scene.calibration.depth(0.0) == pytest.approx(F)


def middlebury(folder: Path, height: int, dmin: str | None) -> Path:
    folder.mkdir()
    for k in (0, 1, 5):
        Image.fromarray(np.full((height, 8), 40 * k, np.uint8)).save(folder / f"view{k}.png")
    if dmin is not None:
        (folder / "dmin.txt").write_text(dmin)
    return folder


@pytest.mark.parametrize(("height", "factor"), [(1110, 1), (555, 2), (370, 3)])
def test_depth_of_middlebury_counts_what_was_cropped(tmp_path: Path, height: int, factor: int) -> None:
    scene = open_scene(middlebury(tmp_path / "a", height, "270\n"))
    D = np.linspace(0, 250, height * 8).reshape(height, 8)  # full-size pixels from view1 to view5
    depth = result_of(scene, D / factor / 4).depth()
    np.testing.assert_allclose(depth, 3740 * 160 / (D + 270), rtol=1e-5)
    assert scene.calibration.unit == "mm"


@pytest.mark.parametrize("text", ["many", "1 2", "nan", "inf", "270 px"])
def test_bad_dmin_is_refused(tmp_path: Path, text: str) -> None:
    folder = middlebury(tmp_path / "a", 370, text)
    with pytest.raises(InputError, match=r"dmin\.txt: must hold one number") as refusal:
        open_scene(folder)
    assert str(refusal.value).startswith(str(folder / "dmin.txt"))


@pytest.mark.data
def test_depth_of_a_real_scene_lies_about_its_focus(data_folder: Path) -> None:
    scene = open_scene(data_folder / "hci" / "boxes", views=2)
    focus = 1e3 * scene.metadata["focus_distance_m"]
    depth = result_of(scene, scene.ground_truth).depth()
    assert np.isfinite(depth).all()
    assert depth.min() > 0.7 * focus
    assert depth.max() < 2 * focus
    assert np.median(depth) == pytest.approx(focus, rel=0.2)
    truth = data_folder / "hci" / "boxes" / "gt_depth_lowres.pfm"
    if truth.exists():  # the benchmark's own depth, in metres
        np.testing.assert_allclose(depth / 1e3, read_pfm(truth), rtol=2e-3)


# ------------------------------------------------------------------------------------------ where it is not known


def test_a_scene_without_calibration_says_what_is_missing(tmp_path: Path) -> None:
    views = np.random.default_rng(0).integers(0, 255, (9, 9, 12, 12), np.uint8)
    images = {"a.png": views[0, 0], "b.png": views[0, 1]}
    scenes = {
        r"parameters\.cfg": open_scene(write_hci(tmp_path / "hci", views)),
        r"dmin\.txt": open_scene(middlebury(tmp_path / "middlebury", 370, None)),
        "size factor": open_scene(middlebury(tmp_path / "odd", 100, "270")),
        "K, R and t": open_scene(write_rig(tmp_path / "rig", images, [(0, 0), (-1, 0)], reference="a.png")),
        "give Scene a calibration": Scene.from_lightfield(views),
    }
    for told, scene in scenes.items():
        result = result_of(scene, np.zeros(scene.shape))
        for ask in (result.depth, result.depth_deviation, result.points, lambda scene=scene: calibration_of(scene)):
            with pytest.raises(InputError, match=told) as refusal:
                ask()
            assert str(refusal.value).startswith(f"{scene.name}: ")
        assert result.summary()["calibration"] is None
        assert result.summary()["depth"] is None
    result.save(tmp_path / "out")
    assert {path.name for path in (tmp_path / "out").iterdir()} == WITHOUT_DEPTH
    with pytest.raises(InputError, match="calibration"):
        result.save(tmp_path / "other", points=True)
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize("asked", [["--points"], ["--depth"], ["--points", "--normals", "--keep", "0.5"]])
def test_the_command_refuses_before_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], asked: list[str]
) -> None:
    folder = synth.write("planes", tmp_path / "scene", (24, 24), views=3)
    (folder / "parameters.cfg").unlink()
    monkeypatch.setattr(estimates, "estimate", lambda *_, **__: pytest.fail("it ran"))
    assert cli.main(["estimate", str(folder), "--out", str(tmp_path / "out"), *asked]) == 2
    assert "parameters.cfg" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


# ------------------------------------------------------------------------------------------ what is written


@pytest.mark.parametrize(("unit", "millimetres"), [("mm", 1), ("cm", 10), ("m", 1000)])
def test_saved_depth(tmp_path: Path, unit: str, millimetres: int) -> None:
    depth = np.array([[1.2, 2.0, 3.3], [4.0, 5.5, np.nan]]) * 100 / millimetres
    result = calibrated(depth, unit)
    result.save(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == WITH_DEPTH
    np.testing.assert_array_equal(read_pfm(tmp_path / "depth.pfm"), result.depth())
    np.testing.assert_allclose(result.depth(), depth, rtol=1e-6)
    whole = read_image(tmp_path / "depth.png")
    assert whole.dtype == np.uint16
    np.testing.assert_array_equal(whole, [[120, 200, 330], [400, 550, 0]])
    written = json.loads((tmp_path / "result.json").read_text())
    assert written["depth"] == {
        "unit": unit,
        "min": pytest.approx(120 / millimetres),
        "max": pytest.approx(550 / millimetres),
        "median": pytest.approx(330 / millimetres),
        "unknown_pixels": 1,
        "outside_png_pixels": 0,
    }
    told = written["calibration"]
    back = Calibration(told["product"], told["K"], told["offset"], told["unit"])
    np.testing.assert_array_equal(back.depth(result.disparity), result.depth())


def test_what_millimetres_cannot_hold_is_unknown_and_counted(tmp_path: Path) -> None:
    depth = np.array([[0.2, 0.6, 65535.4, 65536.0], [1e6, np.nan, 65535.0, 1.0]], np.float32)
    np.testing.assert_array_equal(to_millimetres(depth, "mm"), [[np.nan, 1, 65535, np.nan], [np.nan, np.nan, 65535, 1]])
    assert to_millimetres(depth, "") is None
    fields = depth_summary(depth, "mm")
    assert (fields["outside_png_pixels"], fields["unknown_pixels"]) == (3, 1)
    assert any("3 pixels" in remark for remark in depth_remarks(fields))
    far = calibrated(np.full((3, 4), 90.0), "m")
    far.save(tmp_path)
    assert not read_image(tmp_path / "depth.png").any()
    assert any("coarse" in remark for remark in depth_remarks(depth_summary(np.full((2, 2), 5.0, np.float32), "mm")))
    assert depth_remarks(depth_summary(np.full((2, 2), 5.0, np.float32), "m")) == []
    assert depth_remarks(depth_summary(np.full((2, 2), 5.0, np.float32), "")) == []


def test_depth_in_an_unknown_unit_is_not_called_millimetres(tmp_path: Path) -> None:
    calibrated(np.full((3, 4), 7.0), "").save(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == WITHOUT_DEPTH | {"depth.pfm"}


def test_files_of_an_earlier_result_are_removed(tmp_path: Path) -> None:
    result = calibrated(np.full((6, 8), 7.0))
    result.save(tmp_path, points=True, normals=True, keep=1.0)
    assert {path.name for path in tmp_path.iterdir()} == WITH_DEPTH | {"points.ply"}
    (tmp_path / "notes.txt").touch()
    result.save(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == WITH_DEPTH | {"notes.txt"}
    plain = result_of(Scene(np.zeros((6, 8)), [np.ones((6, 8))], [(1, 0)]), np.zeros((6, 8)))
    plain.save(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == WITHOUT_DEPTH | {"notes.txt"}
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "depth.pfm").touch()  # without a result beside it, it is the user's own
    with pytest.raises(InputError, match="files that are not results of gradcon, such as depth"):
        plain.save(tmp_path / "mine")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["depth.pfm"]


def test_a_failed_save_leaves_the_earlier_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calibrated(np.full((6, 8), 7.0)).save(tmp_path, points=True)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(InputError, match="normals"):
        calibrated(np.full((6, 8), 9.0)).save(tmp_path, normals=True)
    monkeypatch.setattr("gradcon.result.folder.to_json", lambda _: pytest.fail("full"))
    with pytest.raises(pytest.fail.Exception):
        calibrated(np.full((6, 8), 9.0)).save(tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
