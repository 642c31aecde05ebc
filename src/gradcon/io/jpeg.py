"""JPEG, through Pillow; metadata (EXIF, thumbnails, comments) is taken out before Pillow sees it."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.errors import InputError

_KEPT_APPS = (0xE0, 0xEE)  # JFIF and Adobe: they say how colours are stored
_COMMENT, _SCAN = 0xFE, 0xDA
_BARE = {0x01, *range(0xD0, 0xD9)}  # markers without a length


def decode(data: bytes, max_pixels: int) -> NDArray[Any]:
    """Pixels of a JPEG, uint8, (h, w) or (h, w, 3), as stored: an EXIF rotation is not applied.

    Raises InputError with the reason alone ("is truncated"): the caller knows the file's name.
    """
    from PIL import JpegImagePlugin

    image: Any = JpegImagePlugin.JpegImageFile(io.BytesIO(_bare(data)))
    if image.width * image.height > max_pixels:
        raise InputError(f"says it is {image.width} x {image.height} pixels, more than can be meant")
    image.load()
    return np.array(image if image.mode in ("L", "RGB") else image.convert("RGB"))


def _bare(data: bytes) -> bytes:
    """The same picture with nothing but what decoding needs."""
    kept, position = [data[:2]], 2
    while True:
        while data[position : position + 2] == b"\xff\xff":  # padding
            position += 1
        if position + 4 > len(data):
            raise InputError("is truncated")
        if data[position] != 0xFF:
            raise InputError("is corrupt (a marker is missing)")
        marker = data[position + 1]
        length = 0 if marker in _BARE else int.from_bytes(data[position + 2 : position + 4])
        if marker == _SCAN:
            if data.rfind(b"\xff\xd9") < position:
                raise InputError("is truncated")
            return b"".join([*kept, data[position:]])
        if marker != _COMMENT and (not 0xE0 <= marker <= 0xEF or marker in _KEPT_APPS):
            kept.append(data[position : position + 2 + length])
        position += 2 + length
