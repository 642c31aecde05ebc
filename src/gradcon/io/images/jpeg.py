"""JPEG, decoded with Pillow; metadata (EXIF, thumbnails, comments) is removed before Pillow sees it."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.damage import refuse_large
from gradcon.errors import InputError
from gradcon.io.images import orientation as tag

_KEPT_APPS = (0xE0, 0xEE)  # JFIF and Adobe, which define how colours are stored
_EXIF_APP, _EXIF = 0xE1, b"Exif\0\0"
_PEAK = {"L": 4, "RGB": 11, "CMYK": 15}  # bytes a pixel: Pillow's, and copies of them or the coefficients of all scans
_COMMENT, _SCAN = 0xFE, 0xDA
_WITHOUT_LENGTH = {0x01, *range(0xD0, 0xD9)}


def decode(data: bytes) -> NDArray[Any]:
    """Decode a JPEG to uint8, (h, w) or (h, w, 3), without applying its `orientation`.

    An InputError has no `where`: the caller adds the name of the file.
    """
    image = open_checked(data)
    image.load()
    return np.array(image if image.mode in ("L", "RGB") else image.convert("RGB"))


def open_checked(data: bytes) -> Any:
    """Open a JPEG with Pillow, without decoding it; refuse one whose pixels would take too much memory."""
    from PIL import JpegImagePlugin

    image: Any = JpegImagePlugin.JpegImageFile(io.BytesIO(_without_metadata(data)))
    refuse_large("", 3 * len(data) + image.width * image.height * _PEAK.get(image.mode, max(_PEAK.values())), len(data))
    return image


def orientation(data: bytes) -> int:
    """Return the Orientation tag of the EXIF block; 1 is upright."""
    for marker, start, end in _segments(data):
        if marker == _EXIF_APP and data.startswith(_EXIF, start + 4):
            return tag.orientation(data[start + 4 + len(_EXIF) : end])
    return 1


def _without_metadata(data: bytes) -> bytes:
    """Keep only the segments that decoding needs."""
    kept = [data[:2]]
    for marker, start, end in _segments(data):
        if marker == _SCAN and data.rfind(b"\xff\xd9") < start:
            raise InputError("", "is truncated")
        if marker != _COMMENT and (not 0xE0 <= marker <= 0xEF or marker in _KEPT_APPS):
            kept.append(data[start:end])
    return b"".join(kept)


def _segments(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield the marker, start and end of every segment; the last is the first scan with everything after it."""
    position, marker = 2, 0
    while marker != _SCAN:
        while data[position : position + 2] == b"\xff\xff":  # padding
            position += 1
        if position + 4 > len(data):
            raise InputError("", "is truncated")
        if data[position] != 0xFF:
            raise InputError("", "is corrupt (a marker is missing)")
        marker = data[position + 1]
        length = 0 if marker in _WITHOUT_LENGTH else int.from_bytes(data[position + 2 : position + 4])
        end = len(data) if marker == _SCAN else position + 2 + length
        yield marker, position, end
        position = end
