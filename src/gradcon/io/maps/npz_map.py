"""Maps in NumPy's .npz: all of a result, or one; each an array, and its description as JSON in a string.

`disparity` is described by `disparity_about`, and so on; a map of an unknown quantity is called `map`.  Arrays of
objects, which are pickles, are never read.
"""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.errors import InputError
from gradcon.files import read_bytes
from gradcon.io.claims import claims_too_much
from gradcon.io.maps.map import MAX_PIXELS, QUANTITIES, Map, described, parse_description, reading

NAMES = (*QUANTITIES, "map")
ABOUT = "_about"
MAX_TEXT = 2**20


def read(path: Path) -> list[Map]:
    """The maps in an .npz, the disparity first."""
    data = read_bytes(path)
    with reading(path, ".npz"), zipfile.ZipFile(io.BytesIO(data)) as file:
        members = {info.filename.removesuffix(".npy"): info for info in file.infolist()}
        for name in members:
            if name.removesuffix(ABOUT) not in NAMES:
                raise InputError(f"holds {name!r}, which is none of the maps {', '.join(NAMES)}")
        names = [name for name in NAMES if name in members]
        if not names:
            raise InputError(f"holds none of the maps {', '.join(NAMES)}")
        return [_read_one(file, members, name) for name in names]


def encode(maps: Sequence[Map]) -> bytes:
    names = [map_.name for map_ in maps]
    if len(set(names)) != len(names):
        raise InputError(f"an .npz holds one map of a kind, not {', '.join(names)}.")
    arrays: dict[str, Any] = {}
    for map_ in maps:
        arrays |= {map_.name: map_.values, map_.name + ABOUT: np.array(map_.description())}
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def _read_one(file: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo], name: str) -> Map:
    values = _array(file, members[name], name)
    if values.dtype != np.float32 or values.ndim != 2 or values.size == 0:
        raise InputError(f"its {name} is {values.dtype} {values.shape}, not the (height, width) float32 of a map")
    fields: dict[str, Any] = {}
    if name + ABOUT in members:
        text = _array(file, members[name + ABOUT], name + ABOUT)
        if text.dtype.kind != "U" or text.ndim != 0 or not (fields := parse_description(str(text))):
            raise InputError(f"its {name + ABOUT} is not the description of a map")
    quantity = name if name in QUANTITIES else None
    if fields.setdefault("quantity", quantity) != quantity:
        raise InputError(f"its {name} is described as {fields['quantity']!r}")
    return described(values.astype(np.float32), fields)


def _array(file: zipfile.ZipFile, info: zipfile.ZipInfo, name: str) -> NDArray[Any]:
    """An array, after its header was checked against the size of what follows it."""
    limit = 4 * MAX_PIXELS if name in NAMES else MAX_TEXT
    if info.file_size > limit + 10000 or claims_too_much(info.file_size, info.compress_size):
        raise InputError(f"its {name} says it is {info.file_size:,} bytes, more than can be meant")
    content = io.BytesIO(file.read(info))
    version = np.lib.format.read_magic(content)
    read_header = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}[version]
    shape, fortran, dtype = read_header(content)
    if dtype.hasobject:
        raise InputError(f"its {name} is a pickle, which is never opened")
    left = info.file_size - content.tell()
    if math.prod(shape) * dtype.itemsize != left or left == 0:
        raise InputError(f"its {name} says it is {shape} of {dtype}, which is not what it holds")
    values = np.frombuffer(content.read(), dtype)
    return values.reshape(shape, order="F" if fortran else "C").astype(dtype.newbyteorder("="))
