"""What the child process does with video files: count the frames, and decode any of them at its full bit depth."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray

from gradcon.errors import InputError

COPY = "copy or export it again"
# FFmpeg also takes lists of other files (concat, HLS, DASH), image patterns and devices for videos; these are not read.
CONTAINERS = "mov,matroska,avi,yuv4mpegpipe,mpeg,mpegvideo,mpegts,asf,flv,ogg,mxf"

_decoders: dict[int, Decoder] = {}


def count(path: Path) -> tuple[dict[str, Any], None]:
    """Count the frames rather than take their number from the header, and state the size of a frame."""
    with _as_input_errors("its frames cannot be counted"):
        container, stream = _open(path)
        with container:
            size = {"width": int(stream.codec_context.width), "height": int(stream.codec_context.height)}
            if _has_a_packet_a_frame(container, stream):
                packets = [not packet.is_discard for packet in container.demux(stream) if packet.size]
                frames, stated = sum(packets), stream.frames if "mp4" in container.format.name else 0
                if len(packets) < stated:
                    raise InputError("", f"is truncated: it holds {len(packets)} of {stated} frames", COPY)
            else:
                frames = sum(1 for _ in container.decode(stream))
    if frames == 0:
        raise InputError("", "holds no frames, so it is truncated or empty", COPY)
    return {"frames": frames, **size}, None


def read(path: Path, token: int, frame: int, frames: int, pixels: int) -> tuple[None, NDArray[Any]]:
    """Read a frame (counted from 0): (height, width) or (height, width, 3), uint8, or uint16 if deeper.

    The file is known by its `token`, and keeps its position until `close`.
    """
    if token not in _decoders:
        _decoders[token] = Decoder(path, frames, pixels)
    return None, _decoders[token].read(frame)


def close(path: Path, token: int) -> tuple[None, None]:
    """Close a file that is not read any more."""
    decoder = _decoders.pop(token, None)
    if decoder is not None:
        decoder.close()
    return None, None


class Decoder:
    """A video file that keeps its position.

    Reading the next frame decodes one frame, while reading an earlier one decodes the file from its beginning.  The
    file stays open from the first read until the last frame of the video has been read or `close` is called.
    """

    def __init__(self, path: Path, frames: int, pixels: int) -> None:
        self._path, self._frames, self._pixels = path, frames, pixels
        self._container: Any = None
        self._decoded: Iterator[Any] = iter(())
        self._next = 0

    def read(self, frame: int) -> NDArray[Any]:
        """Read a frame, counted from 0."""
        try:
            with _as_input_errors(f"frame {frame} cannot be decoded"):
                return self._read(frame)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the file; the next read opens it again."""
        self._decoded = iter(())
        if self._container is not None:
            self._container.close()
            self._container = None

    def _read(self, frame: int) -> NDArray[Any]:
        if self._container is None or frame < self._next:
            self.close()
            self._container, stream = _open(self._path)
            self._decoded, self._next = self._container.decode(stream), 0
        for decoded in self._decoded:
            self._next += 1
            if self._next > frame:
                values = _values(decoded, f"frame {frame}", self._pixels)
                if self._next == self._frames:
                    self.close()
                return values
        problem = f"ends after {self._next} of its {self._frames} frames, so it is truncated or corrupt"
        raise InputError("", problem, COPY)


def _has_a_packet_a_frame(container: Any, stream: Any) -> bool:
    """Return whether there is one packet per frame, since packets are quicker to count; VP8 has hidden packets."""
    return container.format.name.startswith(("mov,", "matroska", "yuv4mpeg")) and stream.codec_context.name != "vp8"


def _open(path: Path) -> tuple[Any, Any]:
    """Open the container and its video stream; only this file is opened, even if it refers to others."""
    options = {"protocol_whitelist": "file", "format_whitelist": CONTAINERS}
    container = av.open(os.fspath(path), options=options, metadata_errors="replace")
    try:
        for stream in container.streams.video:
            if not stream.disposition & av.stream.Disposition.attached_pic and stream.codec_context is not None:
                stream.thread_count = 1  # views are already decoded in parallel
                return container, stream
        problem = "has no video track: it is truncated, or holds only sound"
        raise InputError("", problem, "give a video of the view")
    except BaseException:
        container.close()
        raise


def _values(frame: Any, name: str, pixels: int) -> NDArray[Any]:
    if frame.is_corrupt:
        raise InputError(name, "is damaged", "copy or export the video again")
    if frame.width * frame.height > pixels:
        problem = f"is {frame.width} x {frame.height} pixels, which is more than the video states or than can be read"
        raise InputError(name, problem, "make the video smaller, and all its frames of one size")
    colours = [part for part in frame.format.components if not part.is_alpha]
    deep = max(part.bits for part in colours) > 8
    grey = len(colours) == 1 and not frame.format.has_palette
    kinds = ("gray16le", "gray") if grey else ("rgb48le", "rgb24")
    return np.ascontiguousarray(frame.to_ndarray(format=kinds[0] if deep else kinds[1]))


@contextmanager
def _as_input_errors(what: str) -> Iterator[None]:
    """Turn the many kinds of errors that PyAV raises for a damaged file into an InputError."""
    try:
        yield
    except (InputError, MemoryError):
        raise
    except (FileNotFoundError, PermissionError, IsADirectoryError) as error:
        raise InputError("", f"cannot be read ({error.strerror})", "check its name and permissions") from None
    except Exception:  # including other OSErrors: FFmpeg reports a file that ends too early as an input/output error
        problem = f"{what}: the file is truncated, corrupt or not a video of a supported kind"
        raise InputError("", problem, COPY) from None
