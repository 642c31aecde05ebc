"""Sparse COLMAP models, in text and binary form, become scenes."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from gradcon import Options, estimate, synth
from gradcon.errors import InputError
from gradcon.io import open_scene
from gradcon.io.formats.colmap import list_colmap
from gradcon.io.formats.colmap_model import read_model
from gradcon.io.formats.format import Hints
from gradcon.result.metrics import evaluate
from gradcon.scene.geometry import Camera

pycolmap = pytest.importorskip("pycolmap")
SIZE = (40, 56)


def write_model(folder, cameras, points, size=SIZE):
    """Write a sparse model with pycolmap; every camera sees every point that falls into its image."""
    reconstruction = pycolmap.Reconstruction()
    seen = {}
    for k, (name, camera) in enumerate(cameras.items(), 1):
        K = camera.K
        parameters = [K[0, 0], K[1, 1], K[0, 2] + 0.5, K[1, 2] + 0.5]
        lens = pycolmap.Camera(model="PINHOLE", width=size[1], height=size[0], params=parameters, camera_id=10 * k)
        reconstruction.add_camera_with_trivial_rig(lens)
        pixels = (points @ camera.R.T + camera.t) @ K.T
        pixels = pixels[:, :2] / pixels[:, 2:] + 0.5
        image = pycolmap.Image(name=name, keypoints=pixels, camera_id=10 * k, image_id=k)
        pose = pycolmap.Rigid3d(pycolmap.Rotation3d(camera.R), camera.t)
        reconstruction.add_image_with_trivial_frame(image, pose)
        seen[k] = (pixels > 0).all(axis=1) & (pixels < size[::-1]).all(axis=1)
    for p, point in enumerate(points):
        track = pycolmap.Track()
        for k, there in seen.items():
            if there[p]:
                track.add_element(k, p)
        if track.length() > 1:
            reconstruction.add_point3D(point, track)
    for form in ("text", "binary"):
        (folder / form).mkdir(parents=True, exist_ok=True)
    reconstruction.write_text(str(folder / "text"))
    reconstruction.write_binary(str(folder / "binary"))


@pytest.fixture(scope="module")
def rig(tmp_path_factory):
    """The scene `rotated` as a rig.toml, and as a COLMAP project with a model in text and one in binary form."""
    folder = tmp_path_factory.mktemp("colmap")
    synth.write("rotated", folder / "rig", SIZE, grid=3, views="all")
    scene = synth.render("rotated", SIZE, grid=3, views="all")
    cameras = {name: Camera.of(*parts.values()) for name, parts in scene.metadata["cameras"].items()}
    depth = scene.calibration.depth(scene.ground_truth)
    points = scene.calibration.points(depth)[::2, ::2].reshape(-1, 3).astype(float)
    write_model(folder, cameras, points)
    shutil.copytree(folder / "rig", folder / "images", ignore=shutil.ignore_patterns("*.toml", "*.pfm"))
    return folder


@pytest.fixture
def project_folder(rig, tmp_path):
    """A fresh copy of the project, with its model in text form in sparse/."""
    shutil.copytree(rig / "images", tmp_path / "images")
    shutil.copytree(rig / "text", tmp_path / "sparse")
    return tmp_path


def test_a_model_gives_the_same_scene_as_a_rig(rig, project_folder):
    expected = open_scene(rig / "rig")
    scene = open_scene(project_folder, reference=expected.reference_name)
    assert (scene.reference_name, scene.target_names) == (expected.reference_name, expected.target_names)
    np.testing.assert_allclose(scene.M, expected.M, atol=1e-9)
    np.testing.assert_allclose(scene.m, expected.m, atol=1e-9)
    np.testing.assert_array_equal(scene.targets, expected.targets)
    assert scene.calibration.unit == ""
    assert scene.calibration.product == pytest.approx(expected.calibration.product)
    low, high = np.percentile(expected.ground_truth, (2, 98))
    assert scene.metadata["disparity_range"] == pytest.approx([low, high], rel=0.03)
    assert scene.metadata["disparity_start"] == pytest.approx(np.median(expected.ground_truth), rel=0.03)
    errors = []
    for each in (expected, scene):
        result = estimate(each, Options("gcm", solves=4, scales=2), initial=scene.metadata["disparity_start"])
        errors.append(evaluate(result.disparity, expected.ground_truth)["rmse"])
    assert errors[1] == pytest.approx(errors[0], rel=1e-6)
    assert errors[1] < 0.2 * (high - low)


def test_points_project_to_where_they_were_seen(project_folder):
    """Check the half-pixel offset and the quaternions against the keypoints in COLMAP's own file."""
    model = read_model(project_folder / "sparse")
    lines = [line for line in (project_folder / "sparse/images.txt").read_text().splitlines() if line[0] != "#"]
    first, second = lines[0].split()[9], np.array(lines[1].split(), float).reshape(-1, 3)
    camera = next(shot.camera for shot in model.shots if shot.name == first)
    seen = second[second[:, 2] >= 0]
    X = model.points[np.searchsorted(model.point_ids, seen[:, 2])]
    p = (X @ camera.R.T + camera.t) @ camera.K.T
    np.testing.assert_allclose(p[:, :2] / p[:, 2:], seen[:, :2] - 0.5, atol=1e-9)


def test_text_and_binary_are_the_same(rig, project_folder):
    text = open_scene(project_folder)
    shutil.rmtree(project_folder / "sparse")
    shutil.copytree(rig / "binary", project_folder / "sparse/0")
    binary = open_scene(project_folder)
    np.testing.assert_allclose(text.m, binary.m, atol=1e-12)
    assert text.reference_name == binary.reference_name
    assert text.metadata["disparity_range"] == pytest.approx(binary.metadata["disparity_range"])
    legacy = project_folder / "sparse/0"
    for name in ("rigs.bin", "frames.bin"):  # as COLMAP wrote before 3.12
        (legacy / name).unlink()
    for path in (legacy, project_folder / "sparse" / "..", project_folder):
        assert open_scene(path).fingerprint() == binary.fingerprint()
    shutil.copy(rig / "text/cameras.txt", legacy)
    shutil.copy(rig / "text/images.txt", legacy)  # now both forms are there, and no points3D.txt
    assert "disparity_range" not in open_scene(legacy).metadata


def test_how_views_are_chosen(project_folder):
    every = list_colmap(project_folder, Hints())
    assert every.metadata["neighbours"] == 8
    assert every.reference.name == "input_Cam004.png"  # in the middle: all see it, and its neighbours are nearest
    few = list_colmap(project_folder, Hints(neighbours=np.int64(3)))
    assert len(few.views) == 4
    corner = list_colmap(project_folder, Hints(reference="input_Cam000.png", neighbours=2))
    assert {view.name for view in corner.views[1:]} == {"input_Cam001.png", "input_Cam003.png"}
    (project_folder / "images/input_Cam001.png").unlink()
    less = list_colmap(project_folder, Hints())
    assert (less.metadata["neighbours"], less.metadata["images_missing"]) == (7, 1)
    cameras = project_folder / "sparse/cameras.txt"
    cameras.write_text(cameras.read_text().replace("PINHOLE 56 40", "PINHOLE 56 41", 1))
    changed = list_colmap(project_folder, Hints())
    assert (changed.metadata["neighbours"], changed.metadata["images_of_another_size"]) == (6, 1)
    with pytest.raises(InputError, match=r"input_Cam001\.png: the reference is in the model, but there is no such"):
        list_colmap(project_folder, Hints(reference="input_Cam001.png"))


def test_views_that_look_elsewhere_or_share_nothing_are_left_out(tmp_path):
    def turned(degrees, x):
        c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
        R = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
        return Camera(np.array([[30.0, 0, 27.5], [0, 30, 19.5], [0, 0, 1]]), R, -R @ [x, 0, 0])

    cameras = {"a.png": turned(0, 0), "b.png": turned(29, 0.5), "c.png": turned(31, 0.1), "d.png": turned(0, 0.2)}
    points = np.random.default_rng(0).uniform((-0.5, -0.5, 3), (0.5, 0.5, 4), (20, 3))
    write_model(tmp_path, {**cameras, "same place.png": turned(5, 0)}, points)
    (tmp_path / "images").mkdir()
    for name in [*cameras, "same place.png"]:
        (tmp_path / "images" / name).write_bytes(b"not read here")
    listing = list_colmap(tmp_path / "text", Hints(reference="a.png"))
    assert [view.name for view in listing.views] == ["a.png", "d.png", "b.png"]
    images = tmp_path / "text/images.txt"
    lines = images.read_text().splitlines()
    lines[next(k for k, line in enumerate(lines) if line.endswith(" d.png")) + 1] = ""  # d.png shares nothing now
    images.write_text("\n".join(lines))
    listing = list_colmap(tmp_path / "text", Hints(reference="a.png"))
    assert [view.name for view in listing.views] == ["a.png", "b.png"]
    with pytest.raises(InputError, match=r"with the reference d\.png: 0 are not in .*, 0 have another size"):
        list_colmap(tmp_path / "text", Hints(reference="d.png"))


def test_the_folder_that_holds_numbered_models_is_recognised(rig, project_folder, monkeypatch):
    expected = open_scene(project_folder)
    shutil.rmtree(project_folder / "sparse")
    shutil.copytree(rig / "text", project_folder / "sparse/0")
    for here, path in ((".", "sparse"), (".", "sparse/0"), ("sparse", "."), ("sparse", "0"), ("sparse/0", ".")):
        monkeypatch.chdir(project_folder / here)
        np.testing.assert_array_equal(open_scene(path).m, expected.m)
    np.testing.assert_array_equal(open_scene(project_folder / "sparse").m, expected.m)
