"""A map is used only for the view that it belongs to, whether it is compared with the truth or started from."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from gradcon import cli, estimate, open_scene, synth
from gradcon.io.formats.lightfield_array import save_lightfield
from gradcon.io.images import png
from gradcon.io.maps import Map, read_map, write_map
from gradcon.io.pfm import write_pfm
from gradcon.methods.options import Options

Capture = pytest.CaptureFixture[str]
MIDDLE, CORNER = "input_Cam004.png", "input_Cam000.png"
SIZE = (24, 30)


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Nine views, with the truth of the middle one and of the corner."""
    folder = synth.write("planes", tmp_path_factory.mktemp("scenes") / "planes", SIZE, grid=3, views="all")
    write_pfm(folder / "gt_disp_lowres_Cam000.pfm", np.zeros(SIZE, np.float32))
    return folder


@pytest.fixture(scope="module")
def corner(scene: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A result of the corner view."""
    opened = open_scene(scene, reference=CORNER)
    result = estimate(opened, Options("gcm", solves=1), engine="reference", check_directions=False)
    return result.save(tmp_path_factory.mktemp("results") / "corner")


def run(*arguments: object) -> int:
    return cli.main([str(argument) for argument in arguments])


def refused(capsys: Capture, *arguments: object) -> str:
    assert run(*arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    return captured.err


@pytest.mark.parametrize("form", ["folder", "disparity.pfm", ".tif", ".png", ".npz", ".exr"])
def test_a_map_of_another_view_is_refused(
    form: str, corner: Path, scene: Path, tmp_path: Path, capsys: Capture
) -> None:
    if form == ".exr":
        pytest.importorskip("OpenEXR")
    path = {"folder": corner, "disparity.pfm": corner / form}.get(form, tmp_path / f"map{form}")
    if form.startswith("."):
        write_map(path, read_map(corner, "disparity"), lossy=True)
    said = refused(capsys, "evaluate", path, scene)
    assert said == (
        f"gradcon: {path}: is a map of {CORNER}, but the reference of {scene} is {MIDDLE}; "
        f"add --reference {CORNER}, or give a map of {MIDDLE}.\n"
    )
    assert run("evaluate", path, scene, "--reference", CORNER) == 0
    captured = capsys.readouterr()
    assert "RMSE" in captured.out
    assert captured.err == ""


def test_uncertainty_and_start_of_another_view_are_refused(
    corner: Path, scene: Path, tmp_path: Path, capsys: Capture
) -> None:
    assert f"is a map of {CORNER}" in refused(capsys, "evaluate", corner, scene, "--uncertainty")
    assert not (corner / "uncertainty.png").exists()
    mixed = tmp_path / "mixed.npz"
    disparity, uncertainty = (read_map(corner, quantity) for quantity in ("disparity", "uncertainty"))
    write_map(mixed, [dataclasses.replace(disparity, reference=MIDDLE), uncertainty])
    assert f"is a map of {CORNER}" in refused(capsys, "evaluate", mixed, scene, "--uncertainty")

    start = [
        "estimate",
        scene,
        "--method",
        "gcm",
        "--solves",
        1,
        "--engine",
        "reference",
        "--initial",
        corner,
        "--out",
        tmp_path / "out",
    ]
    assert f"--reference {CORNER}" in refused(capsys, *start)
    assert not (tmp_path / "out").exists()
    assert run(*start, "--reference", CORNER) == 0
    assert json.loads((tmp_path / "out" / "result.json").read_text())["parameters"]["initial"] == "a map"


def test_plots_of_the_uncertainty_replace_no_other_file_of_a_result(corner: Path, scene: Path, capsys: Capture) -> None:
    before = (corner / "disparity.png").read_bytes()
    plots = ["evaluate", corner, scene, "--reference", CORNER, "--uncertainty", "--picture"]
    assert "disparity.png: is the name of a file of the result" in refused(capsys, *plots, corner / "disparity.png")
    assert (corner / "disparity.png").read_bytes() == before
    assert run(*plots, corner / "uncertainty.png") == 0
    (corner / "uncertainty.png").unlink()


def test_a_map_of_a_view_that_the_scene_lacks_causes_a_warning(
    corner: Path, scene: Path, tmp_path: Path, capsys: Capture
) -> None:
    """The view may have been removed, or the files renumbered, so there is no better reference to suggest."""
    path = tmp_path / "map.tif"
    write_map(path, dataclasses.replace(read_map(corner, "disparity"), reference="input_Cam077.png"))
    assert run("evaluate", path, scene) == 0
    said = f"WARNING: {path}: is a map of input_Cam077.png, but is used as one of {MIDDLE} of planes.\n"
    assert capsys.readouterr().err == said


def rig(folder: Path, *names: str) -> Path:
    """Write views in a row; the first is the reference and has a truth."""
    images = np.random.default_rng(2).integers(0, 256, (len(names), *SIZE), dtype=np.uint8)
    folder.mkdir()
    rows = [f'reference = "{names[0]}"', 'ground_truth = "truth.pfm"', 'name = "rig"']
    for k, name in enumerate(names):
        rows += ["[[views]]", f'image = "{name}"', f"baseline = [{k}, 0]"]
        (folder / name).write_bytes(png.encode(images[k]))
    write_pfm(folder / "truth.pfm", np.zeros(SIZE, np.float32))
    (folder / "rig.toml").write_text("\n".join(rows))
    return folder


def a_map(path: Path, reference: str) -> Path:
    write_map(path, Map(np.zeros(SIZE, np.float32), "disparity", reference=reference, scene="rig"))
    return path


def test_leading_zeros_do_not_make_another_view(tmp_path: Path, capsys: Capture) -> None:
    scene = rig(tmp_path / "rig", "v_0_1.png", "v_0_0.png", "v_0_2.png")
    assert run("evaluate", a_map(tmp_path / "map.tif", "v_00_01.png"), scene) == 0
    assert capsys.readouterr().err == ""
    said = refused(capsys, "evaluate", a_map(tmp_path / "map.tif", "v_00_02.png"), scene)
    assert "is a map of v_00_02.png, but the reference of" in said
    assert "add --reference v_0_2.png, or" in said


def test_leading_zeros_tell_views_apart_if_the_scene_has_both(tmp_path: Path, capsys: Capture) -> None:
    scene = rig(tmp_path / "rig", "v_1.png", "v_01.png")
    assert "add --reference v_01.png" in refused(capsys, "evaluate", a_map(tmp_path / "map.tif", "v_01.png"), scene)


def test_an_image_on_the_disk_is_another_view_even_if_it_is_not_listed(tmp_path: Path, capsys: Capture) -> None:
    """A COLMAP model, for example, lists only the neighbours of the reference."""
    scene = rig(tmp_path / "rig", "v_1.png", "v_2.png")
    (scene / "v_9.png").write_bytes((scene / "v_1.png").read_bytes())
    path = a_map(tmp_path / "map.tif", "v_9.png")
    assert refused(capsys, "evaluate", path, scene).endswith("/rig.toml is v_1.png; give a map of v_1.png.\n")


@pytest.mark.parametrize("called", ["view (1, 1)", "0004.jpg", "cameras/input_Cam004.png", "middle", None])
def test_a_name_of_another_kind_may_mean_the_same_view(
    called: str | None, corner: Path, scene: Path, tmp_path: Path, capsys: Capture
) -> None:
    write_map(tmp_path / "map.tif", dataclasses.replace(read_map(corner, "disparity"), reference=called))
    assert run("evaluate", tmp_path / "map.tif", scene) == 0
    assert capsys.readouterr().err == ""


def test_another_scene_may_count_its_views_differently(corner: Path, tmp_path: Path, capsys: Capture) -> None:
    """A crop of the grid has another middle view: the map is compared, with a warning."""
    views = np.random.default_rng(1).random((5, 5, *SIZE)).astype(np.float32)
    save_lightfield(tmp_path / "all.npz", views, ground_truth=np.zeros(SIZE, np.float32))
    crop = Map(np.zeros(SIZE, np.float32), "disparity", reference="view (1, 1)", scene="crop")
    write_map(tmp_path / "crop.tif", crop)
    assert run("evaluate", tmp_path / "crop.tif", tmp_path / "all.npz") == 0
    warned = capsys.readouterr().err
    assert warned.startswith("WARNING: ")
    assert "is a map of view (1, 1) of crop, but is used as one of view (2, 2) of all" in warned
    write_map(tmp_path / "crop.tif", dataclasses.replace(crop, scene="all.npz"))
    said = refused(capsys, "evaluate", tmp_path / "crop.tif", tmp_path / "all.npz")
    assert 'add --reference "view (1, 1)"' in said
    assert "holds no ground truth of view (1, 1)" in refused(
        capsys, "evaluate", tmp_path / "crop.tif", tmp_path / "all.npz", "--reference", "view (1, 1)"
    )


def test_a_frame_of_a_video_starts_only_its_own_view(corner: Path, tmp_path: Path, capsys: Capture) -> None:
    for name in ("cam_0_0", "cam_0_1", "cam_0_2"):
        (tmp_path / "in" / name).mkdir(parents=True)
        for k, image in enumerate(np.random.default_rng(0).integers(0, 256, (2, *SIZE), dtype=np.uint8)):
            (tmp_path / "in" / name / f"{k}.png").write_bytes(png.encode(image))
    common = ["estimate", tmp_path / "in", "--method", "gcm", "--solves", 1, "--engine", "reference", "--out"]
    assert run(*common, tmp_path / "first", "--frames", "0") == 0
    start = ["--frames", "1", "--initial", tmp_path / "first" / "frame_0000"]
    assert run(*common, tmp_path / "second", *start) == 0
    capsys.readouterr()
    said = refused(capsys, *common, tmp_path / "third", *start, "--reference", "cam_0_0")
    assert "is a map of cam_0_1, but the reference of" in said


def test_sizes_that_differ_name_the_map_and_the_scene(scene: Path, tmp_path: Path, capsys: Capture) -> None:
    write_pfm(tmp_path / "small.pfm", np.zeros((3, 4)))
    said = refused(capsys, "evaluate", tmp_path / "small.pfm", scene)
    assert f"{tmp_path / 'small.pfm'}: is 4 x 3 pixels, but the ground truth of {scene} is 30 x 24;" in said


def test_a_result_of_other_pixels_is_evaluated_with_a_warning(scene: Path, tmp_path: Path, capsys: Capture) -> None:
    other = synth.write("planes", tmp_path / "planes", SIZE, grid=3, views="all", seed=1)  # same size and names
    out = tmp_path / "out"
    assert run("estimate", scene, "--method", "gcm", "--solves", 1, "--engine", "reference", "--out", out) == 0
    capsys.readouterr()
    said = "was estimated from other pixels than those of input_Cam004.png of planes."
    for path in (out, out / "disparity.pfm"):
        assert run("evaluate", path, scene) == 0
        assert capsys.readouterr().err == ""
        assert run("evaluate", path, other, "--json") == 0
        captured = capsys.readouterr()
        assert captured.err == f"WARNING: {path}: {said}\n"
        assert "metrics" in json.loads(captured.out)
    summary = json.loads((out / "result.json").read_text())
    del summary["source"]["reference_sha256"]  # as an older version wrote it
    (out / "result.json").write_text(json.dumps(summary))
    assert run("evaluate", out, other) == 0
    assert capsys.readouterr().err == ""
