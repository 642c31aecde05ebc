"""What `gradcon info` says of a path, and its picture of the views."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import numpy as np
import pytest
from scipy import ndimage

from gradcon import cli, estimate, open_frames, open_scene, synth
from gradcon.io.images import png, read_image
from gradcon.methods.look import describe_scene
from gradcon.methods.options import Options
from gradcon.pictures.contact_sheet import contact_sheet
from gradcon.scene.shrink import shrunk

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("scenes")
    for name in ("occlusion", "parallel", "rotated"):
        synth.write(name, folder / name, size=(64, 96), views=9)
    plain = folder / "plain"  # nothing but pictures
    plain.mkdir()
    for path in (folder / "occlusion").glob("*.png"):
        number = int(path.stem.removeprefix("input_Cam"))
        (plain / f"shot_{number // 9}_{number % 9}.png").write_bytes(path.read_bytes())
    return {path.name: path for path in folder.iterdir()}


def run(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert cli.main(arguments) == 0
    return capsys.readouterr().out


def test_says_what_was_recognised_and_why(scenes: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    text = run(["info", str(scenes["occlusion"])], capsys)
    assert "4D Light Field Benchmark: it holds views named input_Cam000.png" in text
    assert "9 of 96 x 64 pixels: all of a grid of 3 rows and 3 columns" in text
    assert "positive is nearer" in text
    assert " mm; focal length" in text
    text = run(["info", str(scenes["rotated"])], capsys)
    assert "it holds a rig.toml" in text
    assert "calibrated cameras" in text
    assert " m; focal length" in text
    text = run(["info", str(scenes["plain"])], capsys)
    assert "its files fit the pattern 'shot_{row}_{col}.png'" in text
    assert "unknown: the cameras are not calibrated" in text


def test_the_meaning_it_states_is_what_the_images_show(scenes: dict[str, Path]) -> None:
    """Disparity w moves a pixel by (B_x w, B_y w) in a view, so a view warped by the truth equals the reference."""
    found = describe_scene(open_frames(scenes["parallel"]))
    scene = open_scene(scenes["parallel"])
    (far,) = (entry for entry in found["baselines"] if entry["view"] == found["farthest"]["view"])
    view = scene.targets[scene.target_names.index(far["view"])]
    truth = scene.ground_truth
    assert truth is not None
    y, x = np.indices(scene.shape)

    def mismatch(sign: int) -> float:
        at = [y + sign * far["y"] * truth, x + sign * far["x"] * truth]
        warped = ndimage.map_coordinates(view, at, order=1, mode="nearest")
        return float(np.abs(warped - scene.reference).mean())

    assert mismatch(1) < 0.6 * min(mismatch(-1), mismatch(0))


def test_the_look_finds_a_range_that_no_file_states(scenes: dict[str, Path]) -> None:
    truth = open_scene(scenes["occlusion"]).ground_truth
    span = describe_scene(open_frames(scenes["plain"]))["disparity_range"]
    assert span["from"] == "the views"
    assert truth is not None
    assert -2 < span["low"] <= np.percentile(truth, 2)
    assert np.percentile(truth, 98) <= span["high"] < 3


def test_it_says_what_an_estimate_would_find(scenes: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    text = run(["info", str(scenes["occlusion"])], capsys)
    result = estimate(open_scene(scenes["occlusion"]))
    assert result.findings is not None
    for name, line in result.findings.lines()[1:]:
        assert f"{name:11} {line}" in text
    assert "--out out" in text.splitlines()[-1]  # nothing needs to be set
    found = json.loads(run(["info", str(scenes["occlusion"]), "--json"], capsys))
    assert found["findings"] == json.loads(json.dumps(result.findings.fields()))
    assert found["doubts"] == []


def test_the_contact_sheet_shows_every_view_where_its_camera_stands(scenes: dict[str, Path]) -> None:
    listing = open_frames(scenes["occlusion"]).listing
    folder = scenes["occlusion"].parent / "sheet"
    folder.mkdir()
    (folder / "sheet.png").write_bytes(contact_sheet(listing))
    sheet = read_image(folder / "sheet.png").astype(int)
    rows, columns = (np.array_split(np.arange(n), 3) for n in sheet.shape[:2])
    red = (sheet[..., 0] > 180) & (sheet[..., 1] < 80) & (sheet[..., 2] < 80)
    frames = np.array([[red[np.ix_(r, c)].sum() for c in columns] for r in rows])
    assert frames.argmax() == 4  # the reference, in the middle, is framed
    assert frames[1, 1] > 3 * np.sort(frames.ravel())[-2]
    # Thumbnails are the images: the one at the top left is the camera's of the first row and column.
    (view,) = (view for view in listing.views if view.name == "input_Cam030.png")
    thumbnail, image = sheet[6:70, 6:102], view.read(0).astype(int)
    assert np.abs(thumbnail - image).mean() < 3


def test_a_picture_is_drawn_only_where_it_is_asked_for(
    scenes: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for arguments in ([], ["--no-picture"]):  # scripts may still pass the option of version 0.1
        assert "picture" not in run(["info", str(scenes["rotated"]), *arguments], capsys)
        assert list(tmp_path.iterdir()) == []
    assert "other/name.png: all views" in run(["info", str(scenes["rotated"]), "--picture", "other/name.png"], capsys)
    assert (tmp_path / "other" / "name.png").is_file()
    (tmp_path / "taken.png").mkdir()
    assert cli.main(["info", str(scenes["occlusion"]), "--picture", "taken.png"]) == 2


def test_views_and_flip_are_those_of_the_estimate(
    scenes: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    options = ["--views", "cross", "--flip", "y"]
    told = ["info", str(scenes["occlusion"]), *options, "--json", "--picture", "sheet.png"]
    found = json.loads(run(told, capsys))
    assert found["layout"] == "the cross of a grid of 3 rows and 3 columns"
    scene = open_scene(scenes["occlusion"], views="cross").flipped(y=True)
    expected = dict(zip(scene.target_names, scene.baselines.tolist(), strict=True))
    assert {entry["view"]: [entry["x"], entry["y"]] for entry in found["baselines"]} == expected
    assert found["calibration"] == json.loads(json.dumps(scene.calibration.summary()))
    assert found["command"][-4:] == options
    assert json.loads(run([*found["command"][1:], "--json"], capsys))["source"]["views"] == found["views"] == 5
    told = ["info", str(scenes["rotated"])]
    assert "3 of 96 x 64" in run([*told, "--views", "3"], capsys)
    for wrong, said in ((["--flip", "z"], "'z' is not one of"), (["--flip", "x"], "only the baselines of a planar"),
                        (["--views", "none"], "is not a choice of views")):  # fmt: skip
        assert cli.main([*told, *wrong]) == 2
        assert said in capsys.readouterr().err


def test_bad_paths_and_options_are_refused(scenes: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, said in (
        (["nothing-here"], "no such folder or file"),
        ([str(scenes["occlusion"]), "--grid", "3by3"], "grid: '3by3' is not ROWSxCOLUMNS"),
        ([str(scenes["occlusion"]), "--grid", "3x3"], "grid (--grid) means nothing here"),
        ([str(scenes["occlusion"]), "--neighbours", "3"], "neighbours (--neighbours) means nothing here"),
        ([str(scenes["occlusion"]), "--picture", "a.txt"], "a.txt does not end in .png"),
    ):
        assert cli.main(["info", *arguments]) == 2
        assert said in capsys.readouterr().err


@pytest.mark.parametrize("name", ["occlusion", "rotated"])
def test_a_small_copy_has_the_disparities_of_the_scene(name: str) -> None:
    scene = synth.render(name, size=(120, 160))
    small = shrunk(scene, 80)
    assert small.shape == (60, 80)
    truth = scene.ground_truth
    assert truth is not None
    result = estimate(small, Options("gcm", solves=20), check_directions=False)
    expected = truth.reshape(60, 2, 80, 2).mean(axis=(1, 3))
    assert np.median(np.abs(result.disparity - expected)) < 0.05 * np.ptp(expected)


@pytest.mark.parametrize("shape", [(1, 300), (300, 1)])
def test_a_strip(tmp_path: Path, shape: tuple[int, int]) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (2, *shape), dtype=np.uint8)
    for k in range(2):
        (tmp_path / f"shot_0_{k}.png").write_bytes(png.encode(pixels[k]))
    found = describe_scene(open_frames(tmp_path))
    assert (found["height"], found["width"]) == shape


def test_the_command_it_gives_works_as_it_stands(
    scenes: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It contains every option that was given, and quotes names with spaces."""
    monkeypatch.chdir(tmp_path)
    views = [read_image(path) for path in sorted(scenes["plain"].glob("*.png"))]
    rows = [np.concatenate(views[k : k + 3], axis=1) for k in (0, 3, 6)]
    (tmp_path / "all views.png").write_bytes(png.encode(np.concatenate(rows)))
    text = run(["info", "all views.png", "--grid", "3x3", "--reference", "0,1"], capsys)
    (line,) = (line for line in text.splitlines() if line.startswith("estimate"))
    command = shlex.split(line.removeprefix("estimate"))
    assert command[0] == "gradcon"
    result = json.loads(run([*command[1:], "--json"], capsys))
    assert result["source"]["reference"] == "view (0, 1)"


def test_views_of_different_scenes_are_doubted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for k in range(25):
        name = ("planes", "sphere", "occlusion")[k % 3]
        view = np.rint(255 * synth.render(name, (128, 128), seed=k, views=2).reference).astype(np.uint8)
        (tmp_path / f"a_{k // 5}_{k % 5}.png").write_bytes(png.encode(view))
    assert cli.main(["info", str(tmp_path)]) == 0
    assert "agree at no disparity" in capsys.readouterr().err
