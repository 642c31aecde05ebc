"""The Orientation tag of TIFF images, and of the EXIF block in JPEG and PNG, which is a TIFF structure too.

Viewers rotate an image by this tag when they display it.  Baselines describe the image as it is displayed, so an image
that is stored rotated would silently give disparities of the wrong sign or along the wrong axis.
"""

from __future__ import annotations

import struct

TURNED = range(2, 9)  # rotated or mirrored; viewers treat values outside the standard as upright
_TAG = 0x0112
_NUMBERS = {1: "B", 3: "H", 4: "I"}  # the types in which it may be stored


def orientation(tiff: bytes) -> int:
    """Return the tag of the first image, or 1 (upright) if it is missing or the block is damaged; see TURNED."""
    order = {b"II": "<", b"MM": ">"}.get(tiff[:2])
    if order is None:
        return 1
    try:
        return _first_directory(tiff, order)
    except (struct.error, OverflowError):  # an offset points past the end
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
