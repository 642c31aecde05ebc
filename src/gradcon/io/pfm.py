"""PFM, the portable float map, in which disparities are stored: one float32 channel, rows from the bottom up."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradcon.damage import refuse_large
from gradcon.errors import InputError
from gradcon.files import as_path, file_size, read_bytes, write_file

_HEADER = re.compile(
    rb"(?P<kind>Pf|PF)\s+(?P<width>\d{1,9})\s+(?P<height>\d{1,9})\s+(?P<scale>[-+]?[\d.]+(?:[eE][-+]?\d+)?)(?:\r\n|\s)"
)
_HEADER_BYTES = 128


def read_pfm(path: str | Path) -> NDArray[np.float32]:
    """Read a grey PFM, top row first; NaN and infinities stay as they are.

    The sign of the header's scale gives the byte order.  Its magnitude is ignored, as is usual for disparities.
    """
    path = as_path(path)
    size = file_size(path)
    try:
        with path.open("rb") as file:
            head = file.read(_HEADER_BYTES)
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror})", "check its permissions") from None
    header = _HEADER.match(head)
    if header is None:
        raise InputError(path, "has no PFM header ('Pf', width, height, scale)", "give a grey PFM file")
    if header["kind"] == b"PF":
        raise InputError(path, "is a colour PFM, but a disparity has one channel", "give a grey one ('Pf')")
    width, height, scale = int(header["width"]), int(header["height"]), _scale(header["scale"])
    if width == 0 or height == 0 or scale == 0 or not math.isfinite(scale):
        problem = f"its PFM header makes no sense ({width} x {height}, scale {scale})"
        raise InputError(path, problem, "write it again")
    expected = header.end() + 4 * width * height
    if size != expected:
        state = "truncated" if size < expected else "followed by bytes that do not belong to it"
        problem = f"is {state}: {width} x {height} pixels make {expected:,} bytes, but the file has {size:,}"
        raise InputError(path, problem, "write it again")
    refuse_large(path, 2 * size, size)
    data = read_bytes(path)
    if len(data) != expected:
        raise InputError(path, "changed while it was read", "try again")
    values = np.frombuffer(data, "<f4" if scale < 0 else ">f4", width * height, header.end())
    return np.ascontiguousarray(values.reshape(height, width)[::-1], dtype=np.float32)


def write_pfm(path: str | Path, array: ArrayLike) -> None:
    """Write a (height, width) map as a little-endian grey PFM, atomically."""
    write_file(as_path(path), encode(array))


def encode(array: ArrayLike) -> bytes:
    """Encode a map as a little-endian grey PFM; float32 values are kept bit for bit."""
    values = np.asarray(array, dtype=np.float32)
    if values.ndim != 2 or values.size == 0:
        raise InputError(
            "array", f"has the shape {values.shape}, but a PFM holds one map", "give (height, width) values"
        )
    height, width = values.shape
    return f"Pf\n{width} {height}\n-1.0\n".encode() + values[::-1].astype("<f4").tobytes()


def _scale(text: bytes) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
