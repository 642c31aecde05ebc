"""Light-field videos, from folders of frames or video files, give a result for every frame."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tifffile

import gradcon
from gradcon import InputError, Options, cli, estimate_many, open_frames, open_scene, synth
from gradcon.extras import install_extra
from gradcon.io.images import png
from gradcon.io.pfm import read_pfm, write_pfm
from test_video_files import Images, encode, noise

pytestmark = pytest.mark.slow

FRAMES = 4


def put(folder: Path, frames: Images, name: str = "{}.png") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for k, frame in enumerate(frames):
        (folder / name.format(k)).write_bytes(png.encode(frame))
    return folder


@pytest.fixture(scope="module")
def grid() -> dict[tuple[int, int], Images]:
    """The frames of nine views of a scene that moves to the left, one pixel per frame."""
    scene = synth.render("occlusion", (40, 48 + FRAMES), grid=3, views="all", seed=1)
    views = {(0.0, 0.0): scene.reference} | dict(zip(map(tuple, scene.baselines), scene.targets, strict=True))
    bytes_of = {key: np.round(255 * np.stack([view] * 3, -1)).astype(np.uint8) for key, view in views.items()}
    return {
        (row, col): [np.ascontiguousarray(bytes_of[1.0 - col, 1.0 - row][:, k : k + 48]) for k in range(FRAMES)]
        for row in range(3)
        for col in range(3)
    }


@pytest.fixture(scope="module")
def videos(grid: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("videos") / "lossless"
    folder.mkdir()
    for (row, col), frames in grid.items():
        encode(folder / f"cam_{row}_{col}.mkv", frames)
    return folder


@pytest.fixture(scope="module")
def folders(grid: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("folders") / "frames"
    for (row, col), frames in grid.items():
        put(folder / f"cam_{row}_{col}", frames, "shot_{}.png")
        (folder / f"cam_{row}_{col}" / ".DS_Store").write_text("hidden")
    return folder


def test_without_pyav(videos, monkeypatch):
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(InputError, match=r"cam_0_0\.mkv: is a video, which needs PyAV") as refusal:
        open_scene(videos)
    assert refusal.value.remedy == install_extra("video")


def test_files_and_folders_give_equal_scenes_and_results(videos, folders, grid):
    options = Options("gcm", solves=3)
    found = [open_frames(videos), open_frames(folders), open_frames(folders, pattern="cam_{row}_{col}")]
    assert [(len(each), each.is_video) for each in found] == [(FRAMES, True)] * 3
    assert [each.listing.reference.name for each in found] == ["cam_1_1.mkv", "cam_1_1", "cam_1_1"]
    prints = [[scene.fingerprint() for scene in each] for each in found]
    assert prints[0] == prints[1] == prints[2]
    assert len(set(prints[0])) == FRAMES
    first, second = (list(estimate_many(each, options, initial="previous", engine="cpu")) for each in found[:2])
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a.disparity, b.disparity)
    scene = open_scene(videos, frame=2, pattern="cam_{row}_{col}.mkv", views=2)
    np.testing.assert_array_equal(scene.colour, grid[1, 1][2])
    with pytest.raises(InputError, match=f"has no frame {FRAMES}; choose a frame from 0 to {FRAMES - 1}"):
        open_scene(videos, frame=FRAMES)


def test_frames_are_sorted_by_their_numbers(tmp_path):
    images = noise(12, (8, 16))
    for col in (0, 1):
        put(tmp_path / f"{col}", images, "f{}.png")  # f10 before f2, by letters
    frames = open_frames(tmp_path, pattern="{col}")
    assert len(frames) == 12
    for k, image in enumerate(images):
        np.testing.assert_array_equal(frames[k].colour, image)


def test_a_rig_of_videos(tmp_path, grid):
    encode(tmp_path / "left.mkv", grid[1, 0])
    put(tmp_path / "right", grid[1, 1])
    text = 'reference = "right"\n[[views]]\nimage = "left.mkv"\nbaseline = [1, 0]\n'
    (tmp_path / "rig.toml").write_text(text + '[[views]]\nimage = "right"\nbaseline = [0, 0]\n')
    frames = open_frames(tmp_path)
    assert len(frames) == FRAMES
    np.testing.assert_array_equal(frames[3].colour, grid[1, 1][3])
    np.testing.assert_array_equal(open_scene(tmp_path, frame=3, reference="left.mkv").colour, grid[1, 0][3])
    (tmp_path / "left.mkv").unlink()
    with pytest.raises(InputError, match=r"left\.mkv: there is no such file"):
        open_scene(tmp_path)


def _longer(folder: Path, images: Images) -> str:
    put(folder / "v_0_2", [*images, images[0]])
    return r"v_0_2: has 4 frames but v_0_0 has 3; cut all videos to one length"


def _empty(folder: Path, images: Images) -> str:
    (folder / "v_0_2").mkdir()
    return r"v_0_2: is an empty folder"


def _notes(folder: Path, images: Images) -> str:
    (put(folder / "v_0_2", images) / "notes.txt").write_text("mine")
    return r"notes\.txt: lies among a video's frames"


def _sizes(folder: Path, images: Images) -> str:
    put(folder / "v_0_2", [*images[:2], images[2][:-1]])
    return r"v_0_2/2\.png: is 16 x 7 pixels but frame 0 of this view is 16 x 8"


def _not_an_image(folder: Path, images: Images) -> str:
    (put(folder / "v_0_2", images) / "1.png").write_text("mine")
    return r"v_0_2/1\.png: is not an image"


@pytest.mark.parametrize("spoil", [_longer, _empty, _notes, _sizes, _not_an_image])
def test_folders_that_do_not_belong_together(tmp_path, spoil):
    images = noise(3, (8, 16))
    for name in ("v_0_0", "v_0_1"):
        put(tmp_path / name, images)
    said = spoil(tmp_path, images)
    with pytest.raises(InputError, match=said):
        list(open_frames(tmp_path))


def test_stills_among_videos_are_refused(tmp_path):
    images = noise(3, (16, 16))
    encode(tmp_path / "v0.mkv", images)
    put(tmp_path, images[:1], "still.png")
    text = 'reference = "v0.mkv"\n[[views]]\nimage = "v0.mkv"\nbaseline = [0, 0]\n'
    (tmp_path / "rig.toml").write_text(text + '[[views]]\nimage = "still.png"\nbaseline = [1, 0]\n')
    with pytest.raises(InputError, match=r"still\.png: is a still image but v0\.mkv is a video"):
        open_scene(tmp_path)


# ------------------------------------------------------------------------------------------- the command line


@pytest.mark.parametrize(("method", "start"), [("sweep", None), ("gcm", 0.0)])
def test_estimate_writes_one_folder_per_frame(videos, tmp_path, capsys, method, start):
    out = tmp_path / "out"
    assert cli.main(["estimate", str(videos), "--out", str(out), "--method", method, "--engine", "cpu", "--json"]) == 0
    captured = capsys.readouterr()
    story = json.loads(captured.out)
    assert story == json.loads((out / "video.json").read_text())
    names = [f"frame_{k:04d}" for k in range(FRAMES)]
    assert sorted(path.name for path in out.iterdir()) == [*names, "video.json"]
    assert [row["folder"] for row in story["frames"]] == names
    assert [line.split(":")[1] for line in captured.err.splitlines()[1:]] == [f" frame {k}" for k in range(FRAMES)]
    results = [json.loads((out / name / "result.json").read_text()) for name in names]
    assert [result["parameters"]["initial"] for result in results] == [start, *["a map"] * (FRAMES - 1)]
    assert results[2]["source"]["name"] == "lossless, frame 2"
    solves = [row["solves"] for row in story["frames"]]
    assert np.mean(solves[1:]) < solves[0]  # started from a map of nearly the same


def test_a_frame_starts_from_the_map_of_the_one_before(folders, tmp_path):
    common = ["estimate", str(folders), "--engine", "cpu", "--method", "gcm", "--solves", "3", "--out"]
    assert cli.main([*common, str(tmp_path / "all"), "--frames", "1:3"]) == 0
    before = tmp_path / "all" / "frame_0001" / "disparity.pfm"
    assert cli.main([*common, str(tmp_path / "one"), "--frames", "2", "--initial", str(before)]) == 0
    assert sorted(path.name for path in (tmp_path / "one").iterdir()) == ["frame_0002", "video.json"]
    maps = [read_pfm(tmp_path / run / "frame_0002" / "disparity.pfm") for run in ("all", "one")]
    np.testing.assert_array_equal(*maps)


def test_finished_frames_survive_an_error_and_an_interrupt(tmp_path, capsys, monkeypatch):
    images = noise(4, (40, 48))
    for name in ("v_0_0", "v_0_1"):
        put(tmp_path / "in" / name, images)
    (tmp_path / "in" / "v_0_1" / "2.png").write_text("torn")
    command = [
        "estimate",
        str(tmp_path / "in"),
        "--method",
        "gcm",
        "--solves",
        "1",
        "--engine",
        "cpu",
        "--out",
        str(tmp_path / "out"),
    ]
    assert cli.main(command) == 2
    assert "v_0_1/2.png: is not an image" in capsys.readouterr().err
    rows = json.loads((tmp_path / "out" / "video.json").read_text())["frames"]
    assert [row["frame"] for row in rows] == [0, 1]
    assert all((tmp_path / "out" / row["folder"] / "disparity.pfm").exists() for row in rows)

    saved = []

    def interrupted(result: Any, folder: Any, **more: Any) -> None:
        if saved:
            raise KeyboardInterrupt
        saved.append(folder)

    monkeypatch.setattr("gradcon.cli.estimates.write_result", interrupted)
    assert cli.main([*command[:-1], str(tmp_path / "stopped")]) == 130
    assert len(json.loads((tmp_path / "stopped" / "video.json").read_text())["frames"]) == 1


@pytest.mark.parametrize(("told", "chosen"), [("1", [1]), ("-1", [3]), ("1:3", [1, 2]), ("2:", [2, 3]), (":-3", [0])])
def test_frames_are_chosen_like_python_slices(videos, tmp_path, told, chosen, capsys):
    assert cli.main(["estimate", str(videos), "--out", str(tmp_path), "--method", "gcm", "--solves", "1",
                     "--views", "2", "--engine", "cpu", f"--frames={told}"]) == 0  # fmt: skip
    printed = capsys.readouterr().out
    last = f" to {chosen[-1]}" if len(chosen) > 1 else ""
    assert f"{len(chosen)} of {FRAMES}: {chosen[0]}{last}\n" in printed
    assert [row["frame"] for row in json.loads((tmp_path / "video.json").read_text())["frames"]] == chosen


def test_the_ranges_of_the_frames_do_not_count_as_parameters(videos, tmp_path):
    command = ["estimate", str(videos), "--out", str(tmp_path), "--views", "2", "--engine", "cpu", "--frames"]
    for frames in ("2:4", "0:3"):
        assert cli.main([*command, frames]) == 0
    story = json.loads((tmp_path / "video.json").read_text())
    assert story["parameters"] == Options().parameters()
    assert [row["frame"] for row in story["frames"]] == [0, 1, 2, 3]
    assert {row["frame"]: row["initial"] for row in story["frames"]} == {0: None, 1: "a map", 2: "a map", 3: "a map"}


def test_a_video_may_be_estimated_in_parts_but_not_with_other_parameters(videos, tmp_path, capsys):
    out = tmp_path / "out"
    common = ["--out", str(out), "--method", "gcm", "--solves", "1", "--views", "2", "--engine", "cpu"]
    for frames in ("2:4", "0:3"):
        assert cli.main(["estimate", str(videos), *common, "--frames", frames]) == 0
    assert [row["frame"] for row in json.loads((out / "video.json").read_text())["frames"]] == [0, 1, 2, 3]
    (out / "frame_0003" / "notes.txt").write_text("the user's own")
    assert cli.main(["estimate", str(videos), *common, "--frames", "0:2", "--alpha", "0.3"]) == 0
    assert sorted(path.name for path in out.iterdir()) == ["frame_0000", "frame_0001", "frame_0003", "video.json"]
    assert [path.name for path in (out / "frame_0003").iterdir()] == ["notes.txt"]
    # Stills and videos do not mix, and a command that takes one result asks for a frame of the video.
    gradcon.synth.write("planes", tmp_path / "still", (24, 24), views=3)
    capsys.readouterr()
    assert cli.main(["estimate", str(tmp_path / "still"), *common]) == 2
    assert "holds the results of a video" in capsys.readouterr().err
    assert cli.main(["convert", str(out), str(tmp_path / "x.npz")]) == 2
    assert "give the folder of one of its frames" in capsys.readouterr().err
    assert (
        cli.main(
            ["estimate", str(tmp_path / "still"), "--out", str(tmp_path / "one"), "--method", "gcm", "--solves", "1"]
        )
        == 0
    )
    assert cli.main(["estimate", str(videos), "--out", str(tmp_path / "one"), *common[2:]]) == 2
    assert "holds the result of a still" in capsys.readouterr().err


def test_a_single_video_is_not_a_scene(videos, capsys):
    assert cli.main(["info", str(next(videos.glob("*.mkv")))]) == 2
    assert "give the folder that holds a video for each view" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("told", "problem"),
    [
        *((frames, f"selects none of the {FRAMES} frames of") for frames in ("4", "-5", "3:2")),
        *((frames, "is neither a frame nor START:STOP;") for frames in ("1-2", "", "1:2:3", "a")),
    ],
)
def test_frames_that_cannot_be_selected_are_refused(videos, tmp_path, told, problem, capsys):
    assert cli.main(["estimate", str(videos), "--out", str(tmp_path / "out"), f"--frames={told}"]) == 2
    assert capsys.readouterr().err.startswith(f"gradcon: frames: {told!r} {problem} ")
    assert not (tmp_path / "out").exists()


def test_a_still_has_no_frames(tmp_path, capsys):
    put(tmp_path / "still", noise(2, (16, 16)), "v_0_{}.png")
    assert cli.main(["estimate", str(tmp_path / "still"), "--out", str(tmp_path / "out"), "--frames", "0"]) == 2
    assert "is not a video, so '0' has no meaning" in capsys.readouterr().err


def test_the_first_frame_may_start_from_a_map(tmp_path):
    scene = synth.render("planes", (40, 48), grid=3)
    options = Options("gcm", solves=1)
    start = np.full(scene.shape, 0.25, np.float32)
    results = list(estimate_many([scene] * 2, options, initial="previous", first=start, engine="cpu"))
    np.testing.assert_array_equal(
        results[0].disparity, gradcon.estimate(scene, options, initial=start, engine="cpu").disparity
    )
    assert [result.parameters["initial"] for result in results] == ["a map", "a map"]
    with pytest.raises(InputError, match=r"^initial: "):
        list(estimate_many([scene], options, initial="previous", first=start[:-1], engine="cpu"))
    with pytest.raises(InputError, match=r"^first: "):
        estimate_many([scene], options, initial=0.0, first=start)


def test_brightness_does_not_jump_from_frame_to_frame(tmp_path):
    """The first frame tells the white of all frames that are no brighter; none has a luma above 1."""
    deep_frames(tmp_path, 3000, 1000, 5000)
    peaks = [scene.reference.max() for scene in open_frames(tmp_path)]
    assert peaks == pytest.approx([3000 / 4095, 1000 / 4095, 5000 / 16383], rel=0.05)


@pytest.mark.parametrize("dtype", [np.uint16, np.float32])
def test_a_frame_does_not_depend_on_the_frames_that_were_opened_before(tmp_path, dtype):
    deep_frames(tmp_path, 250, 60000, 1000, 200, dtype=dtype)
    in_order = [scene.fingerprint() for scene in open_frames(tmp_path)]
    backwards = [scene.fingerprint() for scene in reversed(open_frames(tmp_path))]
    alone = [open_scene(tmp_path, frame=frame).fingerprint() for frame in range(4)]
    assert in_order == backwards[::-1] == alone
    assert max(scene.targets.max() for scene in open_frames(tmp_path)) <= 1


def deep_frames(folder: Path, *peaks: float, dtype: Any = np.uint16) -> None:
    """Write two views of a video whose frames have these brightest pixels."""
    rng = np.random.default_rng(0)
    for view in range(2):
        (folder / f"cam_0_{view}").mkdir()
        for k, peak in enumerate(peaks):
            tifffile.imwrite(folder / f"cam_0_{view}" / f"{k}.tif", (peak * rng.random((16, 16))).astype(dtype))


def test_a_run_that_fails_leaves_the_earlier_one(videos, tmp_path, capsys):
    common = [
        "estimate",
        str(videos),
        "--out",
        str(tmp_path / "out"),
        "--method",
        "gcm",
        "--solves",
        "1",
        "--views",
        "2",
        "--engine",
        "cpu",
    ]
    assert cli.main(common) == 0
    before = {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    write_pfm(tmp_path / "bad.pfm", np.zeros((3, 3)))
    assert cli.main([*common, "--initial", str(tmp_path / "bad.pfm"), "--frames", "0:1"]) == 2
    assert {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()} == before
