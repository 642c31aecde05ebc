"""Fused clouds and meshes as files: from folders of results, and into files that other programs open."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from plyfile import PlyData

import gradcon
from gradcon import synth
from gradcon.cli import main
from gradcon.errors import InputError

SIZE = 48
NAMES = ("input_Cam040.png", "input_Cam036.png", "input_Cam044.png")  # the middle of the grid, and the ends of its row


@pytest.fixture(scope="module")
def estimates(tmp_path_factory: pytest.TempPathFactory) -> dict[str, gradcon.Result]:
    """Results of three views of a scene.  The first one used all views, so its scene has those of the others."""
    folder = synth.write("sphere", tmp_path_factory.mktemp("views"), (SIZE, SIZE), views="all")
    used = dict(zip(NAMES, ("all", 12, 12), strict=True))
    scenes = {name: gradcon.open_scene(folder, reference=name, views=views) for name, views in used.items()}
    return {name: gradcon.estimate(scene, engine="cpu") for name, scene in scenes.items()}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, estimates: dict[str, gradcon.Result]) -> Path:
    """A folder with the scene and the results."""
    folder = tmp_path_factory.mktemp("fusion")
    synth.write("sphere", folder / "scene", (SIZE, SIZE), views="all")
    for name, result in estimates.items():
        result.save(folder / name[6:12])
    return folder


@pytest.fixture
def results(place: Path) -> list[str]:
    return [str(place / name[6:12]) for name in NAMES]


def every_view(place: Path, folder: Path) -> Path:
    """Write the folder of every view: the results, and a views.json with the places of their cameras."""
    views = []
    for name, step in zip(NAMES, (0, -4, 4), strict=True):
        shutil.copytree(place / name[6:12], folder / name)
        sha256 = hashlib.sha256((folder / name / "result.json").read_bytes()).hexdigest()
        there = {"M": np.eye(3).tolist(), "m": [-step, 0, 0], "camera": None}
        views.append({"view": name, "folder": name, "result_sha256": sha256, **there})
    fields = {"format": "gradcon-views-1", "scene": "sphere", "reference": NAMES[0], "views": views}
    (folder / "views.json").write_text(json.dumps(fields))
    return folder


def told(capsys: pytest.CaptureFixture[str], *arguments: Any) -> tuple[int, str]:
    code = main(["fuse", *map(str, arguments)])
    said = capsys.readouterr()
    return code, said.out if code == 0 else said.err


def test_all_ways_give_the_same_cloud(
    place: Path, results: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = every_view(place, tmp_path / "all")
    ways = {"results": results, "folder": [folder], "scene": [*results, "--scene", place / "scene"]}
    for name, way in ways.items():
        code, text = told(capsys, *way, "--out", tmp_path / f"{name}.ply", "--json")
        assert code == 0
        found = json.loads(text)
        assert found["views"] == 3
        assert found["reference"] == NAMES[0]
        assert found["merged"] > found["points"]
    clouds = {name: PlyData.read(tmp_path / f"{name}.ply")["vertex"] for name in ways}
    for name in ("folder", "scene"):
        for axis in ("x", "y", "z", "uncertainty"):
            assert np.array_equal(clouds[name][axis], clouds["results"][axis])
    assert np.array_equal(clouds["folder"]["red"], clouds["results"]["red"])
    difference = clouds["scene"]["red"].astype(int) - clouds["results"]["red"]
    assert 0 < np.abs(difference).mean() < 10  # the copies of the views in a result are JPEGs


def test_the_api_fuses_the_same(estimates: dict[str, gradcon.Result], results: list[str], tmp_path: Path) -> None:
    cloud = gradcon.fuse(estimates)
    assert cloud.counts.views == 3
    assert repr(cloud) == f"<FusedCloud of 'sphere': {len(cloud)} points from 3 views, in mm>"
    path = cloud.save(tmp_path / "cloud.ply")
    assert b"deviation of the distance from the camera in the same unit" in path.read_bytes()[:1000]
    assert main(["fuse", *results, "--out", str(tmp_path / "command.ply")]) == 0
    read = PlyData.read(tmp_path / "command.ply")["vertex"]
    assert np.allclose(cloud.positions[:, 2], read["z"])
    assert np.allclose(cloud.normals[:, 2], read["nz"])
    with pytest.raises(InputError, match=r"is a result of .*Cam040.png, which is no view of sphere"):
        gradcon.fuse([estimates[NAMES[1]], estimates[NAMES[0]]])  # 12 views do not reach that far
    with pytest.raises(InputError, match="two of the results are of the same view"):
        gradcon.fuse([estimates[NAMES[0]]] * 2)
    with pytest.raises(InputError, match="there is none to fuse"):
        gradcon.fuse([])


@pytest.mark.slow
def test_a_rig_needs_its_scene(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    synth.write("rotated", tmp_path / "rig", (SIZE, SIZE), views=9)
    names = ("input_Cam040.png", "input_Cam041.png")
    for k, name in enumerate(names):
        gradcon.estimate(gradcon.open_scene(tmp_path / "rig", reference=name), engine="cpu").save(tmp_path / str(k))
    both = tmp_path / "0", tmp_path / "1"
    code, text = told(capsys, *both, "--out", tmp_path / "cloud.ply")
    assert code == 2
    assert "its cameras do not stand in a plane" in text
    code, text = told(capsys, *both, "--scene", tmp_path / "rig", "--out", tmp_path / "cloud.ply", "--json")
    assert code == 0
    counts = json.loads(text)
    assert counts["merged"] > 0.85 * SIZE**2  # although each result has its own unit baseline
    assert counts["unit"] == "m"


def test_other_libraries_open_the_mesh(results: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trimesh = pytest.importorskip("trimesh")
    meshio = pytest.importorskip("meshio")
    pygltflib = pytest.importorskip("pygltflib")
    code, text = told(capsys, *results, "--mesh", "--out", tmp_path / "mesh.ply", "--json")
    assert code == 0
    expected = json.loads(text)["mesh"]
    for suffix in ("glb", "obj"):
        assert told(capsys, *results, "--out", tmp_path / f"mesh.{suffix}")[0] == 0
    ply = trimesh.load(tmp_path / "mesh.ply", process=False)
    glb = trimesh.load(tmp_path / "mesh.glb", force="mesh", process=False)
    obj = trimesh.load(tmp_path / "mesh.obj", process=False)
    for mesh in (ply, glb, obj):
        assert mesh.vertices.shape == (expected["corners"], 3)
        assert mesh.faces.shape == (expected["triangles"], 3)
        assert mesh.is_winding_consistent
    assert np.allclose(glb.vertices, ply.vertices * [0.001, -0.001, -0.001], atol=1e-6)  # metres, y up
    assert np.allclose(obj.vertices, ply.vertices * [1, -1, -1], atol=1e-4)
    assert np.array_equal(obj.visual.vertex_colors, ply.visual.vertex_colors)
    light = 255 * (ply.visual.vertex_colors[:, :3] / 255) ** 2.2
    assert np.abs(glb.visual.vertex_colors[:, :3] - light).max() < 4  # glTF's colours are linear

    content = pygltflib.GLTF2().load(str(tmp_path / "mesh.glb"))
    attributes = content.meshes[0].primitives[0].attributes
    assert content.accessors[attributes.POSITION].count == expected["corners"]
    view = content.bufferViews[content.accessors[attributes.NORMAL].bufferView]
    normals = np.frombuffer(content.binary_blob(), "<f4", 3 * expected["corners"], view.byteOffset).reshape(-1, 3)
    read = PlyData.read(tmp_path / "mesh.ply")
    assert np.allclose(normals, np.column_stack([read["vertex"]["nx"], -read["vertex"]["ny"], -read["vertex"]["nz"]]))
    assert attributes.COLOR_0 is not None
    other = meshio.read(tmp_path / "mesh.obj")
    assert np.allclose(other.points[:, :3], obj.vertices)  # it takes the colours for further coordinates
    assert len(other.cells_dict["triangle"]) == expected["triangles"]
    assert np.array_equal(np.vstack(read["face"]["vertex_indices"]), ply.faces)


def test_a_missing_library_is_named(
    results: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "trimesh", None)
    code, text = told(capsys, *results, "--out", tmp_path / "new" / "mesh.glb")
    assert code == 2
    assert "mesh.glb: a GLB is written by trimesh, which is not installed; run `pip install '" in text
    assert "[mesh]" in text
    assert not (tmp_path / "new").exists()
    assert told(capsys, *results, "--mesh", "--out", tmp_path / "mesh.ply")[0] == 0


def test_wrong_input_is_refused_in_one_sentence(
    place: Path, results: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    synth.write("occlusion", tmp_path / "other", (SIZE, SIZE))
    shutil.copytree(results[1], tmp_path / "foreign")
    summary = json.loads((tmp_path / "foreign" / "result.json").read_text())
    summary["source"]["name"] = "box"
    (tmp_path / "foreign" / "result.json").write_text(json.dumps(summary))
    shutil.copytree(results[0], tmp_path / "bare")
    summary = json.loads((tmp_path / "bare" / "result.json").read_text())
    summary["calibration"] = None
    (tmp_path / "bare" / "result.json").write_text(json.dumps(summary))
    refusals = {
        ("cloud.stl",): "cloud.stl: is not the name of a mesh",
        (tmp_path / "other",): "holds no result.json",
        (results[0], tmp_path / "foreign"): "is a result of box, but",
        (results[0], results[0]): "two of the results are of the same view",
        (results[1], results[0]): f"is of the view {NAMES[0]}, which {results[1]} did not use",
        (results[0], "--scene", tmp_path / "other"): "was estimated from other pixels than those of",
        (results[0], "--grid", "3x3"): "grid: describes the scene, which is not given; add --scene SCENE",
        (results[0], "--keep", "0"): "keep: 0.0 is not a share of the pixels",
        (results[0], "--confirm", "0"): "confirm: 0 is not a number of views",
        (tmp_path / "bare",): "its disparities cannot be turned into depths, which needs the benchmark's",
    }
    for arguments, sentence in refusals.items():
        given = [results[0]] if arguments == ("cloud.stl",) else arguments
        out = tmp_path / ("cloud.stl" if arguments == ("cloud.stl",) else "cloud.ply")
        code, text = told(capsys, *given, "--out", out)
        assert code == 2
        assert sentence in text.replace("\n", " ")
        assert text.count("\n") == 1
        assert not out.exists()
    code, text = told(capsys, results[0], "--out", Path(results[0]) / "points.ply")
    assert code == 2
    assert "is the name of a file of the result in that folder" in text


def test_damaged_lists_of_views_are_refused(place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = every_view(place, tmp_path / "all")
    path = folder / "views.json"
    good = json.loads(path.read_text())

    def view(**fields: Any) -> dict[str, Any]:
        return {**good, "views": [{**good["views"][0], **fields}, *good["views"][1:]]}

    damage: dict[str, Any] = {
        "is not valid JSON": None,
        "does not have the format gradcon-views-1": {**good, "format": "gradcon-views-9"},
        "does not describe its views completely": {**good, "views": [1]},
        "which is not the name of a file in": view(folder="../elsewhere"),
        "does not describe its views": view(M=[[1, 2], [3, 4]]),
        "not of input_Cam099.png": view(view="input_Cam099.png"),
        "is not the result that views.json lists": view(result_sha256="0"),
    }
    for sentence, fields in damage.items():
        path.write_text("{" if fields is None else json.dumps(fields))
        code, text = told(capsys, folder, "--out", tmp_path / "cloud.ply")
        assert code == 2
        assert sentence in text
        assert text.count("\n") == 1
    assert not (tmp_path / "cloud.ply").exists()


@pytest.mark.parametrize(
    "fields",
    [
        {"M": [[0] * 3] * 3},
        {"M": (1e300 * np.eye(3)).tolist()},
        {"M": (1e-200 * np.eye(3)).tolist()},
        {"m": [1e308] * 3},
    ],
)
@pytest.mark.parametrize("command", ["fuse", "report"])
def test_places_that_no_camera_can_have_are_refused(
    place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str, fields: dict[str, Any]
) -> None:
    path = every_view(place, tmp_path / "all") / "views.json"
    listed = json.loads(path.read_text())
    listed["views"][1] |= fields
    path.write_text(json.dumps(listed))
    out = tmp_path / {"fuse": "cloud.ply", "report": "page.html"}[command]
    assert main([command, str(path.parent), "--out", str(out)]) == 2
    assert re.match(rf"gradcon: {path}: M (and m )?of \S+ ", capsys.readouterr().err)
    assert not out.exists()


def test_a_view_of_something_else_is_refused_by_its_folder(
    place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = every_view(place, tmp_path / "all") / "views.json"
    listed = json.loads(path.read_text())
    listed["views"][1]["m"] = [1e4, 0, 0]
    path.write_text(json.dumps(listed))
    assert main(["fuse", str(path.parent), "--out", str(tmp_path / "cloud.ply")]) == 2
    assert capsys.readouterr().err.startswith(f"gradcon: {path.parent / listed['views'][1]['folder']}: no other view ")
