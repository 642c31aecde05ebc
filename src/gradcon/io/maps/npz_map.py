"""Maps in NumPy's .npz, which holds one map or all maps of a result.

Each map is an array with its description beside it, as JSON in a string: `disparity` and `disparity_about`, and so on.
A map of an unknown quantity is called `map`.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gradcon.errors import InputError
from gradcon.io.maps.map import (
    QUANTITIES,
    WRITE_AGAIN,
    Map,
    current_name,
    described,
    parse_description,
    reading,
)
from gradcon.npz import StoredArray, open_npz

NAMES = (*QUANTITIES, "map")
ABOUT = "_about"
MAX_TEXT = 2**20  # bytes of a description


def read(path: Path) -> list[Map]:
    """Read the maps in an .npz, the disparity first."""
    arrays: dict[str, StoredArray] = {}
    for given, array in open_npz(path).items():
        name = _current(given)
        if name in arrays:
            raise InputError(path, f"holds the {name} twice, under an old and a new name", "remove one of them")
        arrays[name] = array
    for name in arrays:
        if name.removesuffix(ABOUT) not in NAMES:
            raise InputError(path, f"holds {name!r}, which is not one of {', '.join(NAMES)}", WRITE_AGAIN)
    names = [name for name in NAMES if name in arrays]
    if not names:
        raise InputError(path, f"holds none of the maps {', '.join(NAMES)}", WRITE_AGAIN)
    return [_read_one(path, arrays, name) for name in names]


def encode(maps: Sequence[Map]) -> bytes:
    names = [map_.name for map_ in maps]
    if len(set(names)) != len(names):
        problem = f"an .npz cannot hold two maps of the same quantity ({', '.join(names)})"
        raise InputError("maps", problem, "give one of each")
    arrays: dict[str, Any] = {}
    for map_ in maps:
        arrays |= {map_.name: map_.values, map_.name + ABOUT: np.array(map_.description())}
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def _current(name: str) -> str:
    """Return the present name of an array, which version 0.1 may have written under another one."""
    quantity = name.removesuffix(ABOUT)
    return current_name(quantity) + name[len(quantity) :]


def _read_one(path: Path, arrays: dict[str, StoredArray], name: str) -> Map:
    values = arrays[name].read()
    text = arrays[name + ABOUT].read(MAX_TEXT) if name + ABOUT in arrays else None
    with reading(path, ".npz"):
        if values.dtype.newbyteorder("=") != np.float32:
            raise InputError(name, f"holds {values.dtype} values, not the 32-bit floats of a map")
        fields: dict[str, Any] = {}
        if text is not None and not (fields := parse_description(str(text))):
            raise InputError(name + ABOUT, "is not the description of a map")
        map_ = described(values.astype(np.float32, copy=False), {"quantity": None if name == "map" else name} | fields)
        if map_.name != name:
            raise InputError(name, f"is described as {map_.name!r}")
        return map_
