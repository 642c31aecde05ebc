"""Video files, read with PyAV: the number of frames, and any frame at its full bit depth."""

from __future__ import annotations

import importlib.util
import os
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.damage import refuse_large
from gradcon.errors import InputError
from gradcon.extras import install_extra
from gradcon.files import file_size
from gradcon.isolated import LibraryError, Limits, call, next_number, tell
from gradcon.isolated.limits import RATE, SECONDS

SUFFIXES = (
    ".mp4", ".m4v", ".mov", ".mkv", ".webm", ".avi", ".y4m", ".mpg", ".mpeg", ".ts", ".mts", ".m2ts", ".wmv", ".flv",
    ".ogv", ".mxf", ".3gp",
)  # fmt: skip
MAX_PIXELS = 2**28
COPY = "copy or export it again"
_MAX_BYTES = 2**44
_SECONDS_A_BYTE = 1 / 20_000  # a still picture packs so well that decoding 20 kB of it may take a second
_MEMORY = 2**30  # bytes, besides the decoded frames
_BYTES_A_PIXEL = 6  # of three colours of 16 bits
_DECODED = 128  # bytes a pixel of all the frames that a decoder keeps, which may be 16 of the deepest kind
_MATROSKA, _AVI, _Y4M = b"\x1a\x45\xdf\xa3", b"AVI ", b"YUV4MPEG2"
_STILLS = (b"avif", b"avis", b"heic", b"heix", b"mif1", b"jp2 ")  # brands of still images that share the MP4 container


def is_video(path: Path) -> bool:
    """Return whether a file is a video, by its first bytes or its suffix."""
    if not os.path.isfile(path):
        return False
    try:
        with open(path, "rb") as file:
            head = file.read(12)
    except OSError:
        head = b""
    if head[4:8] == b"ftyp":
        return head[8:12] not in _STILLS
    return head.startswith((_MATROSKA, _Y4M)) or head[8:12] == _AVI or path.suffix.lower() in SUFFIXES


class VideoFile:
    """A video file that is read frame by frame.

    Attributes
    ----------
    frames : int
        The number of frames, which is counted and not taken from the file's own header.

    Notes
    -----
    The file keeps its position: reading the next frame decodes one frame, while reading an earlier one decodes the file
    from its beginning.  The file stays open from the first read until the last frame of the video has been read or this
    object is deleted.  Threads may share it.
    """

    def __init__(self, path: Path) -> None:
        if importlib.util.find_spec("av") is None:
            raise InputError(path, "is a video, which needs PyAV", install_extra("video"))
        self.path = path
        self._number = next_number()
        self._seconds = SECONDS + file_size(path, _MAX_BYTES) * _SECONDS_A_BYTE
        with _as_input_errors(path, "its frames cannot be counted"):
            facts = call("video_file.count", path, Limits(self._seconds, _MEMORY), number=self._number).facts
        self.frames, self._pixels = int(facts["frames"]), int(facts["width"]) * int(facts["height"])
        if self._pixels > MAX_PIXELS:
            raise InputError(path, f"has frames of more than {MAX_PIXELS:,} pixels", "make the video smaller")
        refuse_large(path, _BYTES_A_PIXEL * self._pixels, file_size(path, _MAX_BYTES))
        order = partial(tell, "video_file.close", path, self._number, token=self._number)
        weakref.finalize(self, order).atexit = False

    def read(self, frame: int) -> NDArray[Any]:
        """Read a frame (counted from 0): (height, width) or (height, width, 3), uint8, or float32 if deeper."""
        limits = Limits(self._seconds + self._pixels / RATE, _MEMORY + _DECODED * self._pixels)
        asked = {"token": self._number, "frame": frame, "frames": self.frames, "pixels": self._pixels}
        with _as_input_errors(self.path, f"frame {frame} cannot be decoded"):
            most = _BYTES_A_PIXEL * self._pixels
            array = call("video_file.read", self.path, limits, most, self._number, **asked).values
        if array.dtype.itemsize > 1:  # FFmpeg scales any depth to 16 bits, so white is 65535
            return array.astype(np.float32) / np.float32(65535)
        return array


@contextmanager
def _as_input_errors(path: Path, what: str) -> Iterator[None]:
    try:
        yield
    except LibraryError:
        problem = f"{what}: the file is truncated, corrupt or not a video of a supported kind"
        raise InputError(path, problem, COPY) from None
