"""A video may be estimated in parts: earlier frames are kept as long as they belong to the same video."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from gradcon import cli, open_frames
from gradcon.cli.footage import SAMPLE, Footage
from test_video import put
from test_video_files import Images, encode

SIZE = (24, 32, 3)
VIEWS = ("v_0_0", "v_0_1")


def noise(count: int, seed: int) -> Images:
    return list(np.random.default_rng(seed).integers(0, 256, (count, *SIZE), dtype=np.uint8))


def export(folder: Path, seed: int, kind: str = "{}.png", frames: int = 3) -> Path:
    """Write a video of noise; `kind` chooses video files, PNGs or raw images, whose files are all of one size."""
    for k, view in enumerate(VIEWS):
        images = noise(frames, seed + k)
        if kind == ".mkv":
            folder.mkdir(exist_ok=True)
            encode(folder / f"{view}.mkv", images)
        elif kind == "{}.ppm":
            (folder / view).mkdir(parents=True, exist_ok=True)
            for j, image in enumerate(images):
                (folder / view / f"{j}.ppm").write_bytes(b"P6 32 24 255\n" + image.tobytes())
        else:
            put(folder / view, images, kind)
    return folder


def estimated(source: Path, out: Path, frames: str, *more: str) -> list[int]:
    """Estimate some frames and return those that the list names; no other folders may be there."""
    command = [
        "estimate",
        str(source),
        "--method",
        "gcm",
        "--solves",
        "1",
        "--engine",
        "reference",
        "--out",
        str(out),
        "--frames",
        frames,
    ]
    assert cli.main([*command, *more]) == 0
    rows = json.loads((out / "video.json").read_text())["frames"]
    assert sorted(path.name for path in out.iterdir()) == [*(row["folder"] for row in rows), "video.json"]
    return [row["frame"] for row in rows]


@pytest.mark.parametrize("kind", ["{}.png", "{}.ppm", ".mkv"])
def test_a_new_export_under_the_same_names_is_another_video(tmp_path: Path, kind: str) -> None:
    source, out = export(tmp_path / "in", 0, kind), tmp_path / "out"
    assert estimated(source, out, "0:2") == [0, 1]
    export(source, 10, kind)
    assert estimated(source, out, "2:3") == [2]


def test_a_copy_is_the_same_video(tmp_path: Path) -> None:
    source, out = export(tmp_path / "in", 0), tmp_path / "out"
    assert estimated(source, out, "0:2") == [0, 1]
    moved = tmp_path / "elsewhere" / "in"
    shutil.copytree(source, moved, copy_function=shutil.copyfile)
    for path in moved.rglob("*.png"):
        os.utime(path, (1, 1))
    assert estimated(moved, out, "2:3") == [0, 1, 2]


def test_replacing_one_frame_keeps_the_others(tmp_path: Path) -> None:
    source, out = export(tmp_path / "in", 0), tmp_path / "out"
    assert estimated(source, out, "0:2") == [0, 1]
    put(source / "v_0_1", noise(1, seed=5))  # frame 0 alone, of the view that is not the reference
    assert estimated(source, out, "2:3") == [1, 2]


def test_a_view_that_is_not_used_does_not_matter(tmp_path: Path) -> None:
    source, out = export(tmp_path / "in", 0), tmp_path / "out"
    put(source / "v_0_2", noise(3, seed=7))
    nearest = ("--views", "2")
    assert estimated(source, out, "0:1", *nearest) == [0]
    used = json.loads((out / "frame_0000" / "result.json").read_text())["source"]
    (unused,) = {"v_0_0", "v_0_1", "v_0_2"} - {used["reference"], *used["targets"]}
    put(source / unused, noise(3, seed=8))
    assert estimated(source, out, "1:2", *nearest) == [0, 1]


def test_a_list_of_an_earlier_version_is_trusted(tmp_path: Path) -> None:
    source, out = export(tmp_path / "in", 0), tmp_path / "out"
    estimated(source, out, "0:1")
    story = json.loads((out / "video.json").read_text())
    for row in story["frames"]:
        del row["content"]
    (out / "video.json").write_text(json.dumps(story))
    assert estimated(source, out, "1:2") == [0, 1]


def test_what_changes_the_fingerprint(tmp_path: Path) -> None:
    """The size of a file, any byte of a small file, and the order of the views."""
    source = export(tmp_path / "in", 0, "{}.ppm")
    image = source / "v_0_0" / "1.ppm"
    before = image.read_bytes()
    assert len(before) < 4 * SAMPLE

    def now() -> str | None:
        return Footage(open_frames(source)).fingerprint(1, VIEWS)

    first = now()
    assert first is not None
    for place in np.linspace(0, len(before) - 1, 7).astype(int):
        image.write_bytes(before[:place] + bytes([before[place] ^ 1]) + before[place + 1 :])
        assert now() != first
    image.write_bytes(before + b"\n")
    assert now() != first
    image.write_bytes(before)
    assert now() == first
    assert Footage(open_frames(source)).fingerprint(1, VIEWS[::-1]) != first
    assert Footage(open_frames(source)).fingerprint(7, VIEWS) is None
    assert Footage(open_frames(source)).fingerprint(1, ["another"]) is None
