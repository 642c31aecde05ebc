"""The images and videos in a folder whose names do not say where the cameras stand, in natural order."""

from __future__ import annotations

import os
from pathlib import Path

from gradcon.files import files_in
from gradcon.io.formats.frames import IMAGE_SUFFIXES, natural
from gradcon.io.formats.video import SUFFIXES as VIDEO_SUFFIXES
from gradcon.io.outputs import RESULT_FILES, SUMMARY, is_output


def images_in(folder: Path, suffixes: tuple[str, ...] = IMAGE_SUFFIXES) -> list[Path]:
    """Return the images of a folder in natural order (2 before 10), without hidden files and outputs of gradcon."""
    written = RESULT_FILES if os.path.isfile(folder / SUMMARY) else ()
    found = [
        path
        for path in files_in(folder)
        if path.suffix.lower() in suffixes
        and not (path.name.startswith(".") or path.name in written or is_output(path))
        and os.path.isfile(path)
    ]
    return sorted(found, key=natural)


def images_or_videos_in(folder: Path) -> list[Path]:
    """Return the images and videos of a folder, as `images_in` does."""
    return images_in(folder, (*IMAGE_SUFFIXES, *VIDEO_SUFFIXES))
