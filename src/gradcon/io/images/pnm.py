"""Binary PGM and PPM (P5, P6), 8 and 16 bits, with comments."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.damage import refuse_large
from gradcon.errors import InputError

_GAP = rb"(?:\s|#[^\r\n]*[\r\n])+"
_HEADER = re.compile(rb"P([56])" + _GAP + rb"(\d{1,9})" + _GAP + rb"(\d{1,9})" + _GAP + rb"(\d{1,5})(?:#[^\r\n]*)?\s")


def decode(data: bytes) -> tuple[NDArray[Any], int]:
    """Decode the pixels as stored, uint8 or uint16, (h, w) or (h, w, 3), and the value of white.

    An InputError has no `where`: the caller adds the name of the file.
    """
    if data[:2] in (b"P1", b"P2", b"P3", b"P4"):
        raise InputError("", "is a bitmap or plain-text PNM, not a binary PGM or PPM", "export it as a binary one")
    header = _HEADER.match(data[:65536])
    if header is None:
        raise InputError("", "is corrupt or truncated (no PGM or PPM header)")
    width, height, white = (int(header[k]) for k in (2, 3, 4))
    if width == 0 or height == 0 or not 0 < white < 65536:
        raise InputError("", "is corrupt (its header makes no sense)")
    shape = (height, width) if header[1] == b"5" else (height, width, 3)
    dtype = np.dtype(np.uint8 if white < 256 else ">u2")
    count = int(np.prod(shape, dtype=object))
    if count * dtype.itemsize > len(data) - header.end():
        problem = f"claims to be {width} x {height} pixels but holds fewer, so it is truncated or corrupt"
        raise InputError("", problem)
    floats = 0 if np.iinfo(dtype).max % white == 0 else 4  # pixels of another white become floats
    refuse_large("", len(data) + count * (dtype.itemsize + floats))
    pixels = np.frombuffer(data, dtype, count, header.end()).reshape(shape).astype(dtype.newbyteorder("="))
    if pixels.max() > white:
        raise InputError("", "is corrupt (a pixel is brighter than the white of its header)")
    return pixels, white
