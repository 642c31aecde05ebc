"""A camera that dropped a frame is found by the numbers in the names, even if all folders hold as many frames."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from gradcon import open_frames
from gradcon.errors import InputError
from gradcon.io.formats.dropped_frames import refuse_dropped_frames
from gradcon.io.images import png

IMAGE = png.encode(np.random.default_rng(0).integers(0, 256, (8, 12), dtype=np.uint8))


def views(folder: Path, *numbers: Sequence[object], name: str = "f{}.png") -> Path:
    """Write a row of views whose frames have these numbers."""
    for camera, counted in enumerate(numbers):
        (folder / f"cam_0_{camera}").mkdir(parents=True)
        for number in counted:
            (folder / f"cam_0_{camera}" / name.format(number, camera=camera)).write_bytes(IMAGE)
    return folder


def test_a_dropped_frame_is_named_with_its_folder(tmp_path: Path) -> None:
    folder = views(tmp_path, [0, 1, 2, 3, 4], [0, 1, 2, 4, 5], [0, 1, 2, 3, 4])
    with pytest.raises(InputError, match=rf"^{folder}/cam_0_1: has no frame 3, between f2\.png and f4\.png"):
        open_frames(folder)


def test_the_counter_need_not_be_the_last_number(tmp_path: Path) -> None:
    folder = views(tmp_path, [8, 10, 12], [8, 12, 14], name="shot{:05}_cam{camera}.png")
    with pytest.raises(InputError, match="cam_0_1: has no frame 10, between shot00008_cam1"):
        open_frames(folder)


@pytest.mark.parametrize(
    "numbers",
    [
        ([0, 1, 2], [0, 1, 2]),
        ([0, 1, 4], [0, 1, 4]),  # the same are missing everywhere
        ([0, 1, 2], [7, 8, 9]),  # each camera counts from its own beginning
        ([0, 2, 4], [1, 3, 5]),
        ([1033, 1067, 1100], [1034, 1066, 1101]),  # times
        ([0, 1, 2, 10, 11], [100, 101, 102, 110, 111]),  # paused together
    ],
)
def test_frames_that_may_belong_together(tmp_path: Path, numbers: tuple[list[int], ...]) -> None:
    assert len(open_frames(views(tmp_path, *numbers))) == len(numbers[0])


def times(camera: int, unit: float, frames: int = 300) -> list[float]:
    """Return the timestamps, in `unit` seconds, of frames at 30 Hz with a jitter of 4 ms."""
    off = np.random.default_rng(camera).normal(0, 0.004, frames)
    return list((1_700_000_000 + np.arange(frames) / 30 + off) / unit)


@pytest.mark.parametrize(
    ("form", "unit"),
    [("{:.0f}", 1e-3), ("{:.0f}", 1e-2), ("{:.0f}", 1e-6), ("{:.6f}", 1.0), ("{:.2f}", 1.0), ("t{:.3f}s", 1.0)],
)
def test_timestamps_are_not_taken_for_counters(form: str, unit: float) -> None:
    """Only the names matter: the files need not exist."""
    cameras = [[form.format(time) for time in times(camera, unit)] for camera in range(3)]
    refuse_dropped_frames(named("{}.png", *cameras))
    refuse_dropped_frames(named("{}.png", *(camera[:20] for camera in cameras)))  # all of one second


def named(name: str, *numbers: Sequence[object]) -> dict[Path, list[Path]]:
    return {Path(f"cam{k}"): [Path(name.format(number)) for number in view] for k, view in enumerate(numbers)}


@pytest.mark.parametrize("name", ["f{:03}_{}C.png", "cam7_{:03}_{}.png"])
def test_measurements_in_names_are_ignored(name: str) -> None:
    degrees = [[24, 24, 25, 27, 27], [24, 26, 25, 25, 24]]
    folders = {Path(f"c{k}"): [Path(name.format(*each)) for each in enumerate(row)] for k, row in enumerate(degrees)}
    refuse_dropped_frames(folders)
    rows = list(folders.values())
    rows[1][3:] = [Path(name.format(4, 25)), Path(name.format(5, 24))]
    with pytest.raises(InputError, match=r"^c1: has no frame 3, between"):
        refuse_dropped_frames(folders)


@pytest.mark.parametrize("name", ["img.{:04}.png", "shot02.{:04}.png", "{}.png", "a1_{:06}.left.png"])
def test_a_counter_may_follow_a_dot(name: str) -> None:
    with pytest.raises(InputError, match=r"^cam1: has no frame 2, "):
        refuse_dropped_frames(named(name, [0, 1, 2, 3], [0, 1, 3, 4]))


def test_a_dropped_frame_is_found_after_all_cameras_paused() -> None:
    with pytest.raises(InputError, match=r"^cam1: has no frame 110, between f102\.png and f111\.png"):
        refuse_dropped_frames(named("f{}.png", [0, 1, 2, 10, 11], [100, 101, 102, 111, 112], [7, 8, 9, 17, 18]))


def test_names_without_a_counter_are_taken_in_order(tmp_path: Path) -> None:
    folder = views(tmp_path, [0, 1, 2], [0, 1, 2])
    (folder / "cam_0_1" / "f1.png").rename(folder / "cam_0_1" / "g.png")
    assert len(open_frames(folder)) == 3
