"""Open the views of a scene: image files, folders of frames, or video files.

Videos are read frame by frame, each frame when it is accessed.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from gradcon.errors import InputError
from gradcon.files import file_size, files_in
from gradcon.io.formats.dropped_frames import refuse_dropped_frames
from gradcon.io.formats.video import VideoFile, is_video
from gradcon.io.images import read_image
from gradcon.io.listing import ImageFile, Read
from gradcon.scene.reading import READERS

IMAGE_SUFFIXES = (".png", ".ppm", ".pgm", ".tif", ".tiff", ".jpg", ".jpeg")


def open_views(paths: Sequence[Path]) -> tuple[list[Read], int | None]:
    """Return the functions that read the views, and their common number of frames; None if they are stills.

    Frames are counted here, and views that cannot belong to one video are rejected.  Stills are not opened until they
    are read, so that those that are not used are never opened.
    """
    with ThreadPoolExecutor(min(READERS, os.cpu_count() or 1)) as pool:
        opened = list(pool.map(_open, paths))
    lengths = [frames for _, frames in opened]
    if any(frames is not None for frames in lengths):
        _refuse_different_lengths(paths, lengths)
        refuse_dropped_frames({path: frame_files(path) for path in paths if os.path.isdir(path)})
    return [read for read, _ in opened], lengths[0] if lengths else None


def frame_files(folder: Path) -> list[Path]:
    """Return the images of a folder of frames, ordered by the numbers in their names."""
    files = [path for path in files_in(folder) if not path.name.startswith(".")]
    for path in files:
        if path.suffix.lower() not in IMAGE_SUFFIXES:
            raise InputError(path, "lies among a video's frames, but is not an image", "move it elsewhere")
    if not files:
        raise InputError(folder, "is an empty folder where a view's frames should be", "put its images there")
    return sorted(files, key=natural)


def _open(path: Path) -> tuple[Read, int | None]:
    if os.path.isdir(path):
        files = frame_files(path)
        return _of_one_size(lambda frame: read_image(files[frame]), lambda frame: str(files[frame])), len(files)
    if path.suffix.lower() in IMAGE_SUFFIXES or not is_video(path):
        return ImageFile(path), None
    video = VideoFile(path)
    return _of_one_size(video.read, lambda frame: f"{path}, frame {frame}"), video.frames


def _of_one_size(read: Read, called: Callable[[int], str]) -> Read:
    """Wrap `read` to reject a frame whose size differs from that of the first one read."""
    first: dict[str, tuple[int, tuple[int, ...]]] = {}

    def checked(frame: int) -> NDArray[Any]:
        pixels = read(frame)
        number, size = first.setdefault("first", (frame, pixels.shape[:2]))
        if pixels.shape[:2] != size:
            (height, width), (h, w) = size, pixels.shape[:2]
            raise InputError(
                called(frame),
                f"is {w} x {h} pixels but frame {number} of this view is {width} x {height}",
                "give all frames the same size",
            )
        return pixels

    return checked


def _refuse_different_lengths(paths: Sequence[Path], lengths: Sequence[int | None]) -> None:
    """Reject views of different lengths; the error names the odd one out and one with the usual length."""
    usual = Counter(frames for frames in lengths if frames is not None).most_common(1)[0][0]
    example = paths[lengths.index(usual)].name
    for path, frames in zip(paths, lengths, strict=True):
        if frames is None:
            file_size(path)  # a missing file is reported as such
            raise InputError(path, f"is a still image but {example} is a video", "give views of one kind")
        if frames != usual:
            raise InputError(path, f"has {frames} frames but {example} has {usual}", "cut all videos to one length")


def natural(path: Path) -> tuple[list[str | int], str]:
    """Return a key that sorts frame2 before frame10."""
    parts = re.split(r"([0-9]+)", path.name)
    return [int(part) if k % 2 else part for k, part in enumerate(parts)], path.name
