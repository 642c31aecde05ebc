"""The views of a folder are found by their file names alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gradcon import cli, open_frames, open_scene
from gradcon.errors import InputError
from gradcon.io.formats.pattern import candidates, infer_pattern
from gradcon.io.images import png

IMAGES = np.random.default_rng(0).integers(0, 256, (9, 32, 40), dtype=np.uint8)


def put(folder: Path, *names: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, image in zip(names, IMAGES, strict=False):
        (folder / name).write_bytes(png.encode(image))
    return folder


@pytest.fixture
def shots(tmp_path: Path) -> Path:
    """A folder whose name ends in two numbers, and so do the names of outputs that are called after it."""
    return put(tmp_path / "lytro_2024_05", *(f"shot_{v}_{u}.png" for v in range(2) for u in range(2)))


def test_outputs_inside_the_scene_do_not_hide_it(shots: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(shots)
    pattern = infer_pattern(shots)
    assert pattern == "shot_{row}_{col}.png"
    assert cli.main(["info", ".", "--picture", "lytro_2024_05-views.png"]) == 0
    assert (shots / "lytro_2024_05-views.png").exists()
    assert (
        cli.main(
            [
                "estimate",
                ".",
                "--method",
                "gcm",
                "--solves",
                "1",
                "--engine",
                "reference",
                "--out",
                "results-2026-11-16",
            ]
        )
        == 0
    )
    assert (shots / "results-2026-11-16" / "result.json").exists()
    assert infer_pattern(shots) == pattern
    assert cli.main(["info", "."]) == 0


@pytest.mark.parametrize("record", ["result.json", "video.json", "batch.json"])
def test_folders_of_results_are_not_taken_for_frames(shots: Path, record: str) -> None:
    (put(shots / "out_1_2", "disparity.png") / record).write_text("{}")
    assert len(open_scene(shots).targets) == 3
    assert list(candidates(shots)[0]) == ["shot_{row}_{col}.png"]
    (shots / "out_1_2" / record).unlink()  # then they may be frames of something
    assert set(candidates(shots)[0]) == {"shot_{row}_{col}.png", "out_{row}_{col}"}


@pytest.mark.parametrize(
    "stray",
    ["thumb_1_1.png", "shot_1_1-copy.png", "shot_1_1 (1).png", "IMG_20240501_120000.jpg", "disp_0_1.tif", "a.png"],
)
def test_the_majority_of_names_decides(shots: Path, stray: str) -> None:
    put(shots, stray)
    found = open_frames(shots).listing
    assert len(found.views) == 4
    assert found.recognised.endswith("its files fit the pattern 'shot_{row}_{col}.png', except for 1 of them")


def test_a_tie_between_patterns_is_refused(shots: Path) -> None:
    put(shots, *(f"lf_{v}_{u}.png" for v in range(2) for u in range(2)))
    with pytest.raises(InputError, match=r"only 4 of its 8 .* fit one pattern, '.*_\{row\}_\{col\}\.png'; give"):
        open_scene(shots)
    assert len(open_scene(shots, pattern="lf_{row}_{col}.png").targets) == 3


def test_dates_and_times_are_not_camera_positions(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"not recognised .* or list the views in a rig\.toml"):
        open_scene(put(tmp_path, *(f"IMG_20240501_12{minute}00.jpg" for minute in range(10, 14))))


@pytest.mark.parametrize(
    "names",
    [
        [f"x_{x}.png" for x in ("0.0", "0.5", "1.0", "1.5")],
        [f"v_{x}_{k}.png" for x in ("0.00", "0.25", "0.50") for k in range(3)],
        [f"v_{k}_.5{k}.png" for k in range(3)],
        [f"cam.{v:02}.{u:02}.png" for v in range(3) for u in range(3)],  # or times such as 01.25
    ],
)
def test_decimal_numbers_are_not_split(tmp_path: Path, names: list[str]) -> None:
    with pytest.raises(InputError, match="not recognised"):
        open_scene(put(tmp_path, *names))


@pytest.mark.parametrize(
    "name",
    ["v1.2_{}_{}.png", "a.{}_{}b.png", "cam{}x{}.raw.png", "img.0{}_0{}.png", "r{}.c.{}.png", "v_0.5_x{}.y{}.png"],
)
def test_other_dots_do_not_matter(tmp_path: Path, name: str) -> None:
    put(tmp_path, *(name.format(v, u) for v in range(2) for u in range(2)))
    assert infer_pattern(tmp_path) == name.replace("0{}", "{}").replace("{}", "{row}", 1).replace("{}", "{col}", 1)
