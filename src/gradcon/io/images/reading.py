"""Read an image of any supported kind: PNG, PGM/PPM, TIFF or JPEG, whatever its name says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.damage import short_of_memory
from gradcon.errors import InputError
from gradcon.files import read_bytes
from gradcon.io.images import jpeg, png, pnm, tiff
from gradcon.io.images.orientation import TURNED, orientation

_TIFF_MAGIC = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")


def read_image(path: str | Path) -> NDArray[Any]:
    """Read an image at its full bit depth.

    Parameters
    ----------
    path : str or Path
        A PNG (8 or 16 bits), binary PGM or PPM (8 or 16 bits), TIFF (integer or float) or JPEG; the kind is recognised
        by the file's content, not by its name.

    Returns
    -------
    array, (height, width) or (height, width, 3)
        Integers span the range of their type; floats are as stored.  Alpha is dropped, and palettes are resolved.

    Raises
    ------
    InputError
        The file is missing, empty, truncated, corrupt, absurdly large, stored rotated or not such an image.
    """
    pixels, white = _read(Path(path))
    if white is None or pixels.dtype.kind != "u":
        return pixels
    times, rest = divmod(int(np.iinfo(pixels.dtype).max), white)
    if rest == 0:
        return pixels * pixels.dtype.type(times) if times > 1 else pixels
    floats = pixels.astype(np.float32)
    floats /= np.float32(white)
    return floats


def read_grey_values(path: str | Path) -> NDArray[Any]:
    """Read the integers of a one-channel image exactly as stored, for maps whose grey values are data."""
    pixels, _ = _read(Path(path))
    if pixels.ndim != 2 or pixels.dtype.kind != "u":
        problem = "is not a grey image of integers, so its values cannot be read as a map"
        raise InputError(path, problem, "save it as an 8- or 16-bit grey image")
    return pixels


def _read(path: Path) -> tuple[NDArray[Any], int | None]:
    """Return the pixels, and the value of white if the format states one."""
    data = read_bytes(path)
    try:
        pixels, white, way_up = _decoded(data)
    except InputError as reason:
        raise InputError(path, reason.problem, reason.remedy or "copy or export the image again") from None
    except MemoryError:
        raise short_of_memory(path) from None
    except Exception:  # the decoders' libraries raise many kinds of errors for a damaged file
        problem = "cannot be decoded: it is truncated, corrupt or of a rare kind"
        raise InputError(path, problem, "export the image again") from None
    if way_up in TURNED:
        raise InputError(
            path,
            f"is stored rotated (orientation {way_up}), so its rows and columns differ from the displayed ones",
            "store it upright, for example with `mogrify -auto-orient` (ImageMagick)",
        )
    if pixels is None:
        raise InputError(path, "is not an image of a supported kind", "use PNG, PGM, PPM, TIFF or JPEG")
    return pixels, white


def _decoded(data: bytes) -> tuple[NDArray[Any] | None, int | None, int]:
    """Return the pixels (None if the data is not an image), the stated value of white, and the Orientation tag."""
    if data.startswith(png.SIGNATURE):
        return png.decode(data), png.white(data), png.orientation(data)
    if data.startswith(b"\xff\xd8\xff"):
        return jpeg.decode(data), None, jpeg.orientation(data)
    if data.startswith(_TIFF_MAGIC):
        return tiff.decode(data), None, orientation(data)
    if data[:1] == b"P" and data[1:2] in b"123456" and len(data) > 2:
        return *pnm.decode(data), 1
    return None, None, 1
