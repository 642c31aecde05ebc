"""Folders of images whose names give no positions: stereo pairs, numbered grids, and the frames of a sliding camera."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from gradcon import InputError, cli, estimate, open_frames, open_scene, synth
from gradcon.io.formats.slide_motion import image_motion
from gradcon.io.images import png
from sliding import sliding_frames
from test_video_files import encode


def put(folder: Path, *names: str, shape: tuple[int, ...] = (24, 32)) -> Path:
    """Write a different image under each name, in this order."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    for name in names:
        (folder / name).write_bytes(png.encode(rng.integers(0, 256, shape, dtype=np.uint8)))
    return folder


def places(path: Path, **hints: Any) -> tuple[str, dict[str, tuple[float, float]]]:
    """Return the name of the reference, and the baselines of the other views."""
    scene = open_scene(path, **hints)
    return scene.reference_name, {
        name: (float(x), float(y)) for name, (x, y) in zip(scene.target_names, scene.baselines, strict=True)
    }


# Stereo pairs


@pytest.mark.parametrize(
    ("left", "right"),
    [("left.png", "right.png"), ("l.png", "r.png"), ("scene_L.png", "scene_R.png"), ("camL.png", "camR.png"),
     ("Zed Left 01.png", "Aft Right 01.png"), ("0.png", "1.png"), ("9.png", "10.png"), ("a.png", "b.PNG"),
     ("im0.png", "im1.png")],
)  # fmt: skip
def test_two_images_are_a_stereo_pair(tmp_path: Path, left: str, right: str) -> None:
    put(tmp_path, right, left)
    (tmp_path / "calib.txt").write_text("as Middlebury gives it")
    assert places(tmp_path) == (left, {right: (-1.0, 0.0)})
    assert places(tmp_path, reference=right) == (right, {left: (1.0, 0.0)})
    said = open_frames(tmp_path).listing.recognised
    assert said.startswith("a stereo pair: it holds two images")
    assert f"{left} from the left and {right} from the right" in said


def test_a_stereo_pair_gives_positive_disparities(tmp_path: Path) -> None:
    (_, left, right), truth = sliding_frames("planes", (64, 96), 3, (0.05, 0))
    (tmp_path / "left.png").write_bytes(png.encode(left))
    (tmp_path / "right.png").write_bytes(png.encode(right))
    result = estimate(open_scene(tmp_path), check_directions=False)
    assert truth.min() > 2
    assert np.median(np.abs(result.disparity - truth)) < 0.1


def test_a_pair_may_lie_beside_a_result_and_consist_of_videos(tmp_path: Path) -> None:
    folder = put(tmp_path / "pair", "left.png", "right.png")
    estimate(open_scene(folder), check_directions=False).save(tmp_path / "out")
    for path in (tmp_path / "out").iterdir():  # as an earlier version allowed
        path.rename(folder / path.name)
    (tmp_path / "out").rmdir()
    assert places(folder)[0] == "left.png"
    videos = tmp_path / "videos"
    videos.mkdir()
    for name in ("left.mkv", "right.mkv"):
        encode(videos / name, [np.zeros((16, 16, 3), np.uint8)] * 3)
    assert len(open_frames(videos)) == 3


def test_what_is_not_a_pair(tmp_path: Path) -> None:
    for names in (("a.png",), ("a.png", "b.png", "c.png")):
        with pytest.raises(InputError, match="is not recognised as a scene"):
            open_scene(put(tmp_path / str(len(names)), *names))
    beside = put(tmp_path / "data", "overview.png", "poster.png")  # pictures beside scenes
    put(beside / "scene", "left.png", "right.png")
    with pytest.raises(InputError, match="is not recognised as a scene"):
        open_scene(beside)
    put(beside, "left.png", "right.png")
    for name in ("overview.png", "poster.png"):
        (beside / name).unlink()
    assert places(beside)[0] == "left.png"  # their names leave no doubt
    shots = put(tmp_path / "shots", "shot_0_0.png", "shot_1_0.png")  # a more specific format
    assert places(shots)[1] == {"shot_0_0.png": (0.0, 1.0)}
    different = put(tmp_path / "different", "left.png")
    put(different, "right.png", shape=(24, 30))
    with pytest.raises(InputError, match=r"right.png: is 30 x 24 pixels but left.png is 32 x 24"):
        open_scene(different)


# Numbered grids


def test_numbered_images_form_a_grid_row_by_row(tmp_path: Path) -> None:
    numbers = [8, 9, 10, 12, 99, 100]  # the order counts, not the gaps
    put(tmp_path, *(f"IMG_{k}.png" for k in numbers))
    reference, others = places(tmp_path, grid=(2, 3))
    assert reference == "IMG_99.png"  # row 1, column 1
    assert others == {
        "IMG_8.png": (1.0, 1.0), "IMG_9.png": (0.0, 1.0), "IMG_10.png": (-1.0, 1.0),
        "IMG_12.png": (1.0, 0.0), "IMG_100.png": (-1.0, 0.0),
    }  # fmt: skip
    assert places(tmp_path, grid=(2, 3), reference=(0, 2))[0] == "IMG_10.png"
    assert places(tmp_path, grid=(2, 3), reference="IMG_8.png")[0] == "IMG_8.png"
    assert "row by row from IMG_8.png to IMG_100.png" in open_frames(tmp_path, grid=(2, 3)).listing.recognised


def test_numbered_images_are_the_same_scene_as_the_grid_they_come_from(tmp_path: Path) -> None:
    scene = open_scene(synth.write("planes", tmp_path / "scene", (32, 40), views=9))
    (tmp_path / "numbered").mkdir()
    for k, path in enumerate(sorted((tmp_path / "scene").glob("*.png")), start=1):
        path.rename(tmp_path / "numbered" / f"im{k}.png")  # names that Middlebury uses too
    numbered = open_scene(tmp_path / "numbered", grid=(3, 3))
    np.testing.assert_array_equal(numbered.baselines, scene.baselines)
    np.testing.assert_array_equal(numbered.colours, scene.colours)


def test_another_count_is_refused_with_both_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(tmp_path, *(f"IMG_{k:04d}.png" for k in range(24)))
    assert cli.main(["info", str(tmp_path), "--grid", "5x5"]) == 2
    assert "holds 24 images, but a grid of 5 x 5 has 25 views; give the rows" in capsys.readouterr().err
    assert cli.main(["info", str(tmp_path), "--grid", "4x6"]) == 0
    assert "all of a grid of 4 rows and 6 columns" in capsys.readouterr().out
    assert cli.main(["info", str(tmp_path), "--grid", "4x6", "--micro-images"]) == 2
    assert "micro_images (--micro-images) means nothing here" in capsys.readouterr().err
    assert cli.main(["info", str(tmp_path), "--grid", "0x6"]) == 2


def test_numbered_images_without_a_word_are_told_both_options(tmp_path: Path) -> None:
    put(tmp_path, *(f"IMG_{k:04d}.png" for k in range(6)))
    with pytest.raises(InputError, match=r"6 numbered images, such as IMG_0000.png.*--grid ROWSxCOLUMNS.*--slide"):
        open_scene(tmp_path)


# Sliding cameras

SIZE = (96, 128)


def write_frames(folder: Path, frames: list[NDArray[Any]]) -> Path:
    folder.mkdir(exist_ok=True)
    for k, frame in enumerate(frames):
        (folder / f"DSC{k + 98}.png").write_bytes(png.encode(frame))  # 98, 99, 100: natural order matters
    return folder


@pytest.mark.parametrize(
    ("step", "towards", "sign"),
    [((0.01, 0), "to the right", (-1, 0)), ((-0.01, 0), "to the left", (1, 0)), ((0, 0.01), "down", (0, -1))],
)
def test_a_slide_is_a_line_of_views(tmp_path: Path, step: tuple[float, float], towards: str, sign: tuple[int, int]):
    frames, truth = sliding_frames("occlusion", SIZE, 11, step)
    listing = open_frames(write_frames(tmp_path, frames), slide=True).listing
    assert listing.metadata["slide"] == (
        f"all 11 frames, from DSC98.png to DSC108.png; the camera slides {towards}, as the images show"
    )
    reference, others = places(tmp_path, slide=True)
    assert reference == "DSC103.png"
    assert others["DSC104.png"] == sign
    assert others["DSC98.png"] == (-5 * sign[0], -5 * sign[1])
    result = estimate(open_scene(tmp_path, slide=True), check_directions=False)
    assert np.median(np.abs(result.disparity - truth)) < 0.03
    assert places(tmp_path, slide=True, reference="DSC101.png")[0] == "DSC101.png"


def test_frames_reach_as_far_as_is_useful(tmp_path: Path) -> None:
    slow, _ = sliding_frames("occlusion", SIZE, 51, (0.001, 0))
    listing = open_frames(write_frames(tmp_path / "slow", slow), slide=True).listing
    assert (len(listing.views), listing.metadata["step"]) == (17, 3)  # the whole clip
    fast, truth = sliding_frames("occlusion", SIZE, 21, (0.06, 0))
    listing = open_frames(write_frames(tmp_path / "fast", fast), slide=True).listing
    assert listing.metadata["step"] == 1
    reach = (len(listing.views) - 1) / 2
    assert 2 <= reach < 8
    assert reach * np.median(truth) < 0.15 * SIZE[1]
    nearest = open_scene(tmp_path / "slow", slide=True, views=5)
    assert sorted(nearest.baselines[:, 0]) == [-2, -1, 1, 2]


def test_the_motion_is_measured_or_declared_unclear() -> None:
    frames, truth = sliding_frames("planes", SIZE, 9, (0.02, 0))
    motion = image_motion(lambda k: frames[k], 0, 8)
    assert motion is not None
    assert truth.min() < -motion[0] < truth.max()
    assert abs(motion[1]) < 0.1
    rng = np.random.default_rng(0)
    unrelated = rng.integers(0, 256, (9, *SIZE), dtype=np.uint8)
    assert image_motion(lambda k: unrelated[k], 0, 8) is None
    assert image_motion(lambda k: frames[0], 0, 8) is None  # it stands still
    assert image_motion(lambda k: np.zeros((1, 7)), 0, 8) is None


def test_a_video_of_a_slide(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frames, truth = sliding_frames("occlusion", SIZE, 15, (-0.01, 0))
    path = encode(tmp_path / "clip.mkv", frames)
    assert cli.main(["info", str(path)]) == 2
    assert "is a single video; if one camera slid past a still scene, say so (--slide)" in capsys.readouterr().err
    assert cli.main(["info", str(path), "--slide"]) == 0
    said = capsys.readouterr().out
    assert "the frames of one sliding camera: a slide was given, in one video" in said
    assert "15 of 128 x 96 pixels: a row of 15" in said
    assert "all 15 frames, from frame 0 to frame 14; the camera slides to the left" in said
    assert f"gradcon estimate {path} --out out --slide" in said
    scene = open_scene(path, slide=True, views=9)
    assert scene.reference_name == "frame 7"
    np.testing.assert_array_equal(scene.colour, frames[7])
    for name, colours in zip(scene.target_names, scene.colours[1:], strict=True):
        np.testing.assert_array_equal(np.moveaxis(colours, 0, -1), frames[int(name.removeprefix("frame "))])
    assert np.median(np.abs(estimate(scene, check_directions=False).disparity - truth)) < 0.03
    assert open_scene(path, slide=True, reference="9").reference_name == "frame 9"
    with pytest.raises(InputError, match="the reference '99' is not one of its 15 frames"):
        open_scene(path, slide=True, reference="99")


def test_what_is_not_a_slide(tmp_path: Path) -> None:
    for names, said in (((), "empty folder"), (("a1.png",), "holds one image, but a slide needs several")):
        with pytest.raises(InputError, match=said):
            open_scene(put(tmp_path / f"{len(names)}", *names), slide=True)
    hci = synth.write("planes", tmp_path / "hci", (32, 32), views=5)
    with pytest.raises(InputError, match=r"so slide \(--slide\) means nothing here"):
        open_scene(hci, slide=True)
    with pytest.raises(InputError, match="a slide needs at least two"):
        open_scene(encode(tmp_path / "one.mkv", [np.zeros((16, 16, 3), np.uint8)]), slide=True)
    unclear = put(tmp_path / "unclear", *(f"{k}.png" for k in range(5)))
    said = open_frames(unclear, slide=True).listing.metadata["slide"]
    assert "is assumed to slide to the right, because the images do not show it" in said


@pytest.mark.parametrize("name", ["IMG_0001.lfp", "IMG_0001.LFR", "raw.raw", "lf.mat"])
def test_files_that_another_program_decodes(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"\x89LFP")
    said = (
        r"numpy\.save" if name.endswith("mat") else "decode it into views with PlenoptiCam or the Light Field Toolbox"
    )
    with pytest.raises(InputError, match=said):
        open_scene(tmp_path / name)


def test_a_mat_file_of_version_7_3_is_not_taken_for_a_light_field(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "lf.mat", "w", userblock_size=512) as root:
        root.create_dataset("LF", data=np.zeros((3, 32, 32, 5, 5), np.uint8))
    with pytest.raises(InputError, match=r"h5py for version 7\.3, whose axes are reversed"):
        open_scene(tmp_path / "lf.mat")
