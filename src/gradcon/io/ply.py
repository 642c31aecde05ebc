"""PLY, the format of point clouds: a text header that names the properties, then little-endian records."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


class Cloud(Protocol):
    """The points to be written, such as those that `Result.points` returns."""

    @property
    def positions(self) -> NDArray[np.float32]: ...
    @property
    def colours(self) -> NDArray[np.uint8]: ...
    @property
    def deviation(self) -> NDArray[np.float32]: ...
    @property
    def normals(self) -> NDArray[np.float32] | None: ...
    @property
    def unit(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def reference(self) -> str: ...


_TYPES = {"<f4": "float", "|u1": "uchar"}  # as PLY calls them


def encode(cloud: Cloud) -> bytes:
    """Encode points as a binary PLY: x, y, z, normals if there are any, red, green, blue, and uncertainty."""
    columns: dict[str, NDArray[Any]] = {name: cloud.positions[:, k] for k, name in enumerate(("x", "y", "z"))}
    if cloud.normals is not None:
        columns |= {name: cloud.normals[:, k] for k, name in enumerate(("nx", "ny", "nz"))}
    colours = {name: cloud.colours[:, k] for k, name in enumerate(("red", "green", "blue"))}
    dtype = [(name, "<f4") for name in columns] + [(name, "|u1") for name in colours] + [("uncertainty", "<f4")]
    records = np.empty(len(cloud.positions), dtype)
    for name, values in {**columns, **colours, "uncertainty": cloud.deviation}.items():
        records[name] = values
    lines = [
        "ply",
        "format binary_little_endian 1.0",
        f"comment scene {_one_line(cloud.name)}",
        f"comment reference {_one_line(cloud.reference)}",
        f"comment unit {cloud.unit or 'unknown'}",
        "comment axes x right, y down, z ahead; the reference camera is at the origin",
        "comment uncertainty is the predicted standard deviation of z in the same unit: small is good",
        f"element vertex {len(cloud.positions)}",
        *(f"property {_TYPES[kind]} {name}" for name, kind in dtype),
        "end_header",
    ]
    return "\n".join([*lines, ""]).encode("ascii") + records.tobytes()


def _one_line(text: str) -> str:
    """Reduce a text to one line of ASCII, as a header requires; other letters become escapes such as \\u6f22."""
    shown = "".join(letter if letter.isprintable() else " " for letter in text)
    return " ".join(shown.encode("ascii", "backslashreplace").decode("ascii").split())
