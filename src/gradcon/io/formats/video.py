"""Video files, read with PyAV: the number of frames, and any frame at its full bit depth."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.errors import InputError
from gradcon.extras import install_extra
from gradcon.files import file_size

SUFFIXES = (
    ".mp4", ".m4v", ".mov", ".mkv", ".webm", ".avi", ".y4m", ".mpg", ".mpeg", ".ts", ".mts", ".m2ts", ".wmv", ".flv",
    ".ogv", ".mxf", ".3gp",
)  # fmt: skip
MAX_PIXELS = 2**28
COPY = "copy or export it again"
_MAX_BYTES = 2**44
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
        self.path = path
        self._lock = threading.Lock()
        self._container: Any = None
        self._decoded: Iterator[Any] = iter(())
        self._next = 0
        self.frames = _count(path)

    def read(self, frame: int) -> NDArray[Any]:
        """Read a frame (counted from 0): (height, width) or (height, width, 3), uint8, or float32 if deeper."""
        with self._lock:
            try:
                with _as_input_errors(self.path, f"frame {frame} cannot be decoded"):
                    return self._read(frame)
            except BaseException:
                self._close()
                raise

    def _read(self, frame: int) -> NDArray[Any]:
        if self._container is None or frame < self._next:
            self._close()
            self._container, stream = _open(self.path)
            self._decoded, self._next = self._container.decode(stream), 0
        for decoded in self._decoded:
            self._next += 1
            if self._next > frame:
                pixels = _pixels(decoded, f"{self.path}, frame {frame}")
                if self._next == self.frames:
                    self._close()
                return pixels
        problem = f"ends after {self._next} of its {self.frames} frames, so it is truncated or corrupt"
        raise InputError(self.path, problem, COPY)

    def _close(self) -> None:
        self._decoded = iter(())
        if self._container is not None:
            self._container.close()
            self._container = None


def _count(path: Path) -> int:
    file_size(path, _MAX_BYTES)
    with _as_input_errors(path, "its frames cannot be counted"):
        container, stream = _open(path)
        with container:
            if _has_a_packet_a_frame(container, stream):
                packets = [not packet.is_discard for packet in container.demux(stream) if packet.size]
                count, stated = sum(packets), stream.frames if "mp4" in container.format.name else 0
                if len(packets) < stated:
                    raise InputError(path, f"is truncated: it holds {len(packets)} of {stated} frames", COPY)
            else:
                count = sum(1 for _ in container.decode(stream))
    if count == 0:
        raise InputError(path, "holds no frames, so it is truncated or empty", COPY)
    return count


def _has_a_packet_a_frame(container: Any, stream: Any) -> bool:
    """Return whether there is one packet per frame, since packets are quicker to count; VP8 has hidden packets."""
    return container.format.name.startswith(("mov,", "matroska", "yuv4mpeg")) and stream.codec_context.name != "vp8"


def _open(path: Path) -> tuple[Any, Any]:
    """Open the container and its video stream; only local files are opened, even if the file refers to others."""
    try:
        import av
    except ImportError:
        raise InputError(path, "is a video, which needs PyAV", install_extra("video")) from None
    container = av.open(
        os.path.abspath(path), options={"protocol_whitelist": "file"}, metadata_errors="replace"
    )  # fmt: skip
    try:
        for stream in container.streams.video:
            if not stream.disposition & av.stream.Disposition.attached_pic and stream.codec_context is not None:
                stream.thread_count = 1  # views are already decoded in parallel
                return container, stream
        problem = "has no video track: it is truncated, or holds only sound"
        raise InputError(path, problem, "give a video of the view")
    except BaseException:
        container.close()
        raise


def _pixels(frame: Any, name: str) -> NDArray[Any]:
    if frame.is_corrupt:
        raise InputError(name, "is damaged", "copy or export the video again")
    if frame.width * frame.height > MAX_PIXELS:
        raise InputError(name, f"has more than {MAX_PIXELS:,} pixels", "make the video smaller")
    colours = [part for part in frame.format.components if not part.is_alpha]
    deep = max(part.bits for part in colours) > 8
    if len(colours) == 1 and not frame.format.has_palette:
        array = frame.to_ndarray(format="gray16le" if deep else "gray")
    else:
        array = frame.to_ndarray(format="rgb48le" if deep else "rgb24")
    if deep:  # FFmpeg scales any depth to 16 bits, so white is 65535
        return array.astype(np.float32) / np.float32(65535)
    return np.ascontiguousarray(array)


@contextmanager
def _as_input_errors(path: Path, what: str) -> Iterator[None]:
    """Turn the many kinds of errors that PyAV raises for a damaged file into an InputError."""
    try:
        yield
    except (InputError, MemoryError):
        raise
    except (FileNotFoundError, PermissionError, IsADirectoryError) as error:
        raise InputError(path, f"cannot be read ({error.strerror})", "check its name and permissions") from None
    except Exception:  # including other OSErrors: FFmpeg reports a file that ends too early as an input/output error
        problem = f"{what}: the file is truncated, corrupt or not a video of a supported kind"
        raise InputError(path, problem, COPY) from None
