"""Folders of frames where a camera lost one: their numbers tell, though there are as many in every folder."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gradcon import open_frames
from gradcon.errors import InputError
from gradcon.io import png

IMAGE = png.encode(np.random.default_rng(0).integers(0, 256, (8, 12), dtype=np.uint8))


def views(folder: Path, *numbers: list[int], name: str = "f{}.png") -> Path:
    """A row of views with frames of these numbers."""
    for camera, counted in enumerate(numbers):
        (folder / f"cam_0_{camera}").mkdir(parents=True)
        for number in counted:
            (folder / f"cam_0_{camera}" / name.format(number, camera=camera)).write_bytes(IMAGE)
    return folder


def test_a_dropped_frame_is_named_with_its_folder(tmp_path: Path) -> None:
    folder = views(tmp_path, [0, 1, 2, 3, 4], [0, 1, 2, 4, 5], [0, 1, 2, 3, 4])
    with pytest.raises(InputError, match=rf"^{folder}/cam_0_1: has no frame 3, between f2\.png and f4\.png"):
        open_frames(folder)


def test_the_number_that_counts_need_not_be_the_last(tmp_path: Path) -> None:
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
    ],
)
def test_frames_that_may_belong_together(tmp_path: Path, numbers: tuple[list[int], ...]) -> None:
    assert len(open_frames(views(tmp_path, *numbers))) == 3


def test_names_that_do_not_count_are_taken_in_their_order(tmp_path: Path) -> None:
    folder = views(tmp_path, [0, 1, 2], [0, 1, 2])
    (folder / "cam_0_1" / "f1.png").rename(folder / "cam_0_1" / "g.png")
    assert len(open_frames(folder)) == 3
