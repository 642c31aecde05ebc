"""Point clouds: they lie on the surfaces, have their colours, and can be read by another library."""

from __future__ import annotations

import dataclasses
import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plyfile import PlyData

from gradcon import Calibration, Scene, cli, open_scene, synth
from gradcon.cli import estimates
from gradcon.errors import InputError
from gradcon.io import ply
from gradcon.result import Result
from gradcon.result.points import PointCloud, surest
from gradcon.result.stopped import Stopped, StopReason
from gradcon.scene.colours import to_rgb
from gradcon.scene.geometry import Camera
from gradcon.synth import raycast
from gradcon.synth.textures import Painter

pytestmark = pytest.mark.slow

ENDED = Stopped.because(StopReason.CALLBACK, solves=1)
METRES = {"m": 1.0, "mm": 1e-3}
SCENES = ["planes", "parallel", "sphere", "occlusion", "rotated"]


def surfaces(name: str) -> list[raycast.Surface]:
    return synth.SCENES[name](Painter(100, 0)).surfaces


def result_of(scene: Scene, disparity: np.ndarray, deviation: np.ndarray | float = 0.01) -> Result:
    deviations = np.broadcast_to(np.float32(deviation), scene.shape)
    source = {"name": scene.name, "reference": scene.reference_name}
    return Result(np.float32(disparity), deviations, [], ENDED, {}, source, "cpu", "", {}, None, [], scene)


def small_scene(shape: tuple[int, int] = (5, 7), **more: object) -> Scene:
    images = np.random.default_rng(0).integers(0, 255, (2, *shape, 3), np.uint8)
    K = np.array([[500.0, 0, shape[1] / 2], [0, 500.0, shape[0] / 2], [0, 0, 1]])
    return Scene(images[0], images[1:], [(-1, 0)], calibration=Calibration(10.0, K, unit="m"), **more)


def off_surface(world: list[raycast.Surface], points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distance of points (n, 3) to the nearest surface, and that surface's normal there, towards the origin."""
    P = points.T.astype(np.float64)
    distances, normals = [], []
    for surface in world:
        n = np.broadcast_to(surface.normal(P), P.shape)
        if isinstance(surface, raycast.Sphere):
            distances.append(np.abs(np.linalg.norm(P - surface.centre, axis=0) - surface.radius))
        else:
            distances.append(np.abs((surface.axes[2][:, None] * (P - surface.point)).sum(axis=0)))
        normals.append(np.where((n * P).sum(axis=0) > 0, -n, n))
    nearest = np.argmin(distances, axis=0)
    each = np.arange(P.shape[1])
    return np.array(distances)[nearest, each], np.array(normals)[nearest, :, each]


# ------------------------------------------------------------------------------------------ where the points are


@pytest.mark.parametrize("name", SCENES)
def test_points_of_the_truth_lie_on_the_surfaces(name: str) -> None:
    scene = synth.render(name, (96, 120), grid=3)
    cloud = result_of(scene, scene.ground_truth).points(keep=1.0, normals=True)
    assert len(cloud) > (0.7 if name == "occlusion" else 0.9) * 96 * 120  # the rest is beside jumps
    distance, normals = off_surface(surfaces(name), cloud.positions * METRES[cloud.unit])
    assert distance.max() < 5e-5  # metres
    angle = np.degrees(np.arccos(np.clip((cloud.normals * normals).sum(axis=1), -1, 1)))
    assert np.median(angle) < 0.1
    assert np.mean(angle < 5) > 0.97  # at seams of surfaces, and towards the sphere's rim, differences are coarse
    np.testing.assert_allclose(np.linalg.norm(cloud.normals, axis=1), 1, atol=1e-6)
    assert ((cloud.normals * cloud.positions).sum(axis=1) < 0).all()  # seen from the front


def test_a_point_is_drawn_at_its_pixel() -> None:
    scene = synth.render("rotated", (40, 56), grid=3)
    cloud = result_of(scene, scene.ground_truth).points(keep=1.0)
    x, y, z = (scene.calibration.K @ cloud.positions.T.astype(float)).astype(float)
    column, row = np.rint(x / z).astype(int), np.rint(y / z).astype(int)
    np.testing.assert_allclose(x / z, column, atol=1e-3)
    np.testing.assert_array_equal(cloud.colours, scene.colour[row, column])
    np.testing.assert_allclose(cloud.deviation, result_of(scene, scene.ground_truth).depth_deviation()[row, column])


def test_the_cloud_of_another_reference_falls_on_the_same_surfaces(tmp_path: Path) -> None:
    """The principal point of a converged array's outer camera is shifted; without that the cloud would be sheared."""
    folder = synth.write("sphere", tmp_path, (36, 48), grid=3, views="all")
    focal, step, focus = 50 / 36 * 48, 0.018, 2.15
    for view, right, down in (("input_Cam000.png", -1, -1), ("input_Cam005.png", 1, 0)):
        scene = open_scene(folder, reference=view, views=2)
        place = step * np.array([right, down, 0.0])
        x, y = 23.5 + focal * place[0] / focus, 17.5 + focal * place[1] / focus
        camera = Camera(np.array([[focal, 0, x], [0, focal, y], [0, 0, 1]]), np.eye(3), -place)
        depth = raycast.depth(surfaces("sphere"), camera, scene.shape)
        cloud = result_of(scene, scene.calibration.disparity(1e3 * depth)).points(keep=1.0)
        assert off_surface(surfaces("sphere"), cloud.positions * 1e-3 + place)[0].max() < 5e-5
        assert off_surface(surfaces("sphere"), cloud.positions * 1e-3)[0].max() > 1e-3  # unmoved, it is not


# ------------------------------------------------------------------------------------------ which points there are


def test_keep_takes_the_surest_pixels() -> None:
    scene = small_scene()
    deviation = np.random.default_rng(1).permutation(35).reshape(5, 7) / 100 + 0.01
    result = result_of(scene, np.ones(scene.shape), deviation)
    for keep, count in ((1.0, 35), (0.8, 28), (0.5, 18), (0.001, 1)):
        cloud = result.points(keep)
        assert len(cloud) == count
        np.testing.assert_allclose(np.sort(cloud.deviation), np.sort(result.depth_deviation().ravel())[:count])
    assert surest(np.array([1.0, np.nan, np.inf, 0.5]), 0.5).tolist() == [True, False, False, True]
    assert surest(np.ones(10), 0.2).all()  # equal values cannot be told apart, so all are kept
    for keep in (0, -1, 1.001, np.nan):
        with pytest.raises(InputError, match=r"^keep: .* is not a share of the pixels"):
            result.points(keep)


def test_unknown_depth_has_no_point_and_no_normal_leads_to_it() -> None:
    scene = small_scene((6, 9))
    disparity = np.tile(np.linspace(1, 1.1, 9), (6, 1))
    disparity[:, 4] = -1  # beyond infinity
    result = result_of(scene, disparity)
    assert len(result.points(1.0)) == 6 * 8
    cloud = result.points(1.0, normals=True)
    assert len(cloud) == 6 * 8
    np.testing.assert_allclose(cloud.normals, np.broadcast_to(cloud.normals[0], cloud.normals.shape), atol=1e-5)
    assert len(result_of(scene, np.full(scene.shape, -1)).points(1.0, normals=True)) == 0
    assert len(result_of(small_scene((1, 9)), np.ones((1, 9))).points(1.0, normals=True)) == 0  # no neighbours below


def test_points_between_two_surfaces_are_left_out() -> None:
    """A near and a far wall with a ramp of three pixels between them, as estimates have it."""
    scene = small_scene((8, 30))
    row = np.concatenate([np.full(13, 2.0), [1.75, 1.5, 1.25], np.full(14, 1.0)])
    cloud = result_of(scene, np.tile(row, (8, 1))).points(keep=1.0, normals=True)
    assert set(np.unique(cloud.positions[:, 2])) == {5.0, 10.0}
    assert len(cloud) == 8 * (12 + 13)  # the pixel of each wall beside the ramp is left out too
    np.testing.assert_allclose(cloud.normals, np.tile([0, 0, -1], (len(cloud), 1)), atol=1e-6)


# ------------------------------------------------------------------------------------------ colours and files


@pytest.mark.parametrize(
    ("image", "colour"),
    [
        (np.full((2, 2), 7, np.uint8), (7, 7, 7)),
        (np.full((2, 2, 1), 65535, np.uint16), (255, 255, 255)),
        (np.full((2, 2, 2), 0.5, np.float32), (128, 128, 128)),  # grey and alpha
        (np.tile(np.uint16([0, 257, 65535]), (2, 2, 1)), (0, 1, 255)),
        (np.tile(np.uint8([1, 2, 3, 4]), (2, 2, 1)), (1, 2, 3)),
        (np.tile([0.0, -1.0, 2.0], (2, 2, 1)), (0, 0, 255)),  # past 1: divided by the largest
        (np.array([[True, True], [True, True]]), (255, 255, 255)),
    ],
)
def test_colours(image: np.ndarray, colour: tuple[int, int, int]) -> None:
    rgb = to_rgb(image)
    assert rgb.dtype == np.uint8
    assert rgb.shape == (2, 2, 3)
    assert (rgb == colour).all()


def read_back(data: bytes) -> PlyData:
    return PlyData.read(io.BytesIO(data))


@pytest.mark.parametrize("normals", [False, True])
def test_ply_reads_back(tmp_path: Path, normals: bool) -> None:
    scene = synth.render("planes", (40, 48), grid=3)
    result = result_of(scene, scene.ground_truth)
    cloud = result.points(0.9, normals)
    back = PlyData.read(cloud.save(tmp_path / "a.ply"))
    assert back.byte_order == "<"
    vertex = back["vertex"]
    names = ["x", "y", "z", *(["nx", "ny", "nz"] if normals else []), "red", "green", "blue", "uncertainty"]
    assert [prop.name for prop in vertex.properties] == names
    assert vertex["x"].dtype == np.float32
    assert vertex["red"].dtype == np.uint8
    np.testing.assert_array_equal(np.stack([vertex[k] for k in "xyz"], 1), cloud.positions)
    np.testing.assert_array_equal(np.stack([vertex[k] for k in ("red", "green", "blue")], 1), cloud.colours)
    np.testing.assert_array_equal(vertex["uncertainty"], cloud.deviation)
    if normals:
        np.testing.assert_array_equal(np.stack([vertex[k] for k in ("nx", "ny", "nz")], 1), cloud.normals)
    assert back.comments[:3] == ["scene planes", "reference input_Cam004.png", "unit mm"]
    result.save(tmp_path / "out", points=True, normals=normals, keep=0.9)
    assert (tmp_path / "out" / "points.ply").read_bytes() == (tmp_path / "a.ply").read_bytes()


@given(name=st.text(max_size=40), reference=st.text(max_size=40))
def test_ply_of_any_name(name: str, reference: str) -> None:
    positions = np.float32([[1, 2, 3]])
    cloud = PointCloud(positions, np.uint8([[10, 13, 0]]), np.float32([0.5]), None, "", name, reference)
    back = read_back(ply.encode(cloud))
    assert len(back.comments) == 5
    assert back["vertex"].count == 1
    assert back["vertex"]["z"][0] == 3
    assert back["vertex"]["green"][0] == 13


def test_ply_of_no_points() -> None:
    cloud = result_of(small_scene(name="end_header\nelement vertex 9"), np.full((5, 7), -1.0)).points()
    back = read_back(ply.encode(dataclasses.replace(cloud, reference="\u6f22")))
    assert back["vertex"].count == 0
    assert back.comments[:3] == ["scene end_header element vertex 9", "reference \\u6f22", "unit m"]


# ------------------------------------------------------------------------------------------ the command


def test_the_command_writes_points(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scene, out = synth.write("planes", tmp_path / "scene", (40, 48), views=5), tmp_path / "out"
    common = ["estimate", str(scene), "--out", str(out), "--method", "gcm", "--solves", "3"]
    assert cli.main([*common, "--points", "--normals", "--keep", "0.5", "--depth"]) == 0
    said = capsys.readouterr().out
    assert "points.ply" in said
    assert " mm, median " in said
    vertex = PlyData.read(out / "points.ply")["vertex"]
    assert 0.3 * 40 * 48 < vertex.count <= 0.5 * 40 * 48 + 1
    assert cli.main(common) == 0
    assert "points.ply" not in capsys.readouterr().out
    assert not (out / "points.ply").exists()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--normals"], "normals: applies only to the points"),
        (["--keep", "0.5"], "keep: applies only to the points"),
        (["--points", "--keep", "0"], "keep: 0.0 is not a share"),
        (["--points", "--keep", "nan"], "keep: nan is not a share"),
    ],
)
def test_options_that_make_no_sense(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], options: list[str], told: str
) -> None:
    scene = synth.write("planes", tmp_path / "scene", (24, 24), views=3)
    monkeypatch.setattr(estimates, "estimate", lambda *_, **__: pytest.fail("it ran"))
    assert cli.main(["estimate", str(scene), "--out", str(tmp_path / "out"), *options]) == 2
    assert told in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_colours_of_a_camera_with_fewer_bits_are_bright() -> None:
    assert to_rgb(np.uint16([[0, 2047, 4095]])).max() == 255
