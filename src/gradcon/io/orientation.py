"""Which way up an image is stored: the tag Orientation of TIFF, and of the EXIF in JPEG and PNG, which is TIFF too.

Viewers turn such an image when they show it.  Baselines speak of the picture as it is seen, so one that is stored
turned would give disparities of the wrong sign or along the wrong axis, and nothing would look amiss.
"""

from __future__ import annotations

import struct

TURNED = range(2, 9)  # turned or mirrored; what is no number of the standard, viewers take for upright
_TAG = 0x0112
_NUMBERS = {1: "B", 3: "H", 4: "I"}  # the types that it is stored as


def orientation(tiff: bytes) -> int:
    """The tag of the first picture, 1 (upright) where there is none or the block is damaged; see TURNED."""
    order = {b"II": "<", b"MM": ">"}.get(tiff[:2])
    if order is None:
        return 1
    try:
        return _first_directory(tiff, order)
    except (struct.error, OverflowError):  # it leads beyond the end
        return 1


def _first_directory(tiff: bytes, order: str) -> int:
    big = struct.unpack_from(order + "H", tiff, 2)[0] == 43  # BigTIFF, whose numbers are wider
    (start,) = struct.unpack_from(order + ("Q" if big else "I"), tiff, 8 if big else 4)
    (count,) = struct.unpack_from(order + ("Q" if big else "H"), tiff, start)
    entries, size, value = (start + 8, 20, 12) if big else (start + 2, 12, 8)
    for at in range(entries, min(entries + count * size, len(tiff)), size):
        tag, kind = struct.unpack_from(order + "HH", tiff, at)
        if tag == _TAG and kind in _NUMBERS:
            return int(struct.unpack_from(order + _NUMBERS[kind], tiff, at + value)[0])
    return 1
