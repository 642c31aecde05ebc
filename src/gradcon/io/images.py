"""One function that reads any supported image, whatever its name says: PNG, PGM/PPM, TIFF or JPEG."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.errors import InputError
from gradcon.files import read_bytes
from gradcon.io import jpeg, png, pnm, tiff
from gradcon.io.orientation import TURNED, orientation

MAX_PIXELS = 2**28
_TIFF_MAGIC = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")


def read_image(path: str | Path) -> NDArray[Any]:
    """Read an image at its full depth.

    Parameters
    ----------
    path : str or Path
        A PNG (8 or 16 bits), binary PGM or PPM (8 or 16 bits), TIFF (integer or float) or JPEG; the kind is
        told by what the file holds, not by its name.

    Returns
    -------
    array, (height, width) or (height, width, 3)
        Integers span their type's range, floats are as stored.  Alpha is dropped, palettes are resolved.

    Raises
    ------
    InputError
        The file is missing, empty, truncated, corrupt, absurdly large, stored turned or not such an image.
    """
    pixels, white = _read(Path(path))
    if white is None or pixels.dtype.kind != "u":
        return pixels
    times, rest = divmod(int(np.iinfo(pixels.dtype).max), white)
    if rest == 0:
        return pixels * pixels.dtype.type(times) if times > 1 else pixels
    return pixels.astype(np.float32) / np.float32(white)


def read_grey_values(path: str | Path) -> NDArray[Any]:
    """The integers of a one-channel image exactly as stored: for maps whose grey values are data."""
    pixels, _ = _read(Path(path))
    if pixels.ndim != 2 or pixels.dtype.kind != "u":
        raise InputError(f"{path}: is not a grey image of integers, so its values cannot be read as a map.")
    return pixels


def _read(path: Path) -> tuple[NDArray[Any], int | None]:
    """Pixels, and the value of white where the format states one of its own."""
    data = read_bytes(path)
    try:
        pixels, white, way_up = _decoded(data)
    except InputError as reason:
        raise InputError(f"{path}: {reason}; copy or export the image again.") from None
    except Exception:  # the decoders' libraries raise whatever they meet in a damaged file
        raise InputError(
            f"{path}: cannot be decoded: it is truncated, corrupt or of a rare kind; export the image again."
        ) from None
    if way_up in TURNED:
        raise InputError(
            f"{path}: is stored turned (orientation {way_up}), so its rows and columns are not as they are seen; "
            "store it upright, for example with `mogrify -auto-orient` (ImageMagick)."
        )
    if pixels is None:
        raise InputError(f"{path}: is not an image that can be read; use PNG, PGM, PPM, TIFF or JPEG.")
    return pixels, white


def _decoded(data: bytes) -> tuple[NDArray[Any] | None, int | None, int]:
    """Pixels, None of what is no image; the value of white, where it is stated; the tag Orientation."""
    if data.startswith(png.SIGNATURE):
        return png.decode(data, MAX_PIXELS), png.white(data), png.orientation(data)
    if data.startswith(b"\xff\xd8\xff"):
        return jpeg.decode(data, MAX_PIXELS), None, jpeg.orientation(data)
    if data.startswith(_TIFF_MAGIC):
        return tiff.decode(data, MAX_PIXELS), None, orientation(data)
    if data[:1] == b"P" and data[1:2] in b"123456" and len(data) > 2:
        return *pnm.decode(data), 1
    return None, None, 1
