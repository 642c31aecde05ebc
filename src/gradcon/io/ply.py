"""PLY, the format of point clouds and meshes: a text header that names the properties, then little-endian records."""

from __future__ import annotations

from collections.abc import Sequence
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
    def deviation_of(self) -> str: ...
    @property
    def normals(self) -> NDArray[np.float32] | None: ...
    @property
    def unit(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def reference(self) -> str: ...


class Mesh(Protocol):
    """The triangles to be written, such as those that `FusedCloud.mesh` returns."""

    @property
    def positions(self) -> NDArray[np.float32]: ...
    @property
    def normals(self) -> NDArray[np.float32]: ...
    @property
    def colours(self) -> NDArray[np.uint8]: ...
    @property
    def triangles(self) -> NDArray[np.int32]: ...
    @property
    def unit(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def reference(self) -> str: ...


_TYPES = {"<f4": "float", "|u1": "uchar"}  # as PLY calls them


def encode(cloud: Cloud) -> bytes:
    """Encode points as a binary PLY: x, y, z, normals if there are any, red, green, blue, and uncertainty."""
    said = f"the predicted standard deviation of {cloud.deviation_of} in the same unit: small is good"
    return _encode(cloud, {"uncertainty": cloud.deviation}, [f"comment uncertainty is {said}"])


def encode_mesh(mesh: Mesh) -> bytes:
    """Encode a mesh as a binary PLY: corners with normals and colours, then triangles."""
    faces = np.empty(len(mesh.triangles), [("count", "|u1"), ("corners", "<i4", 3)])
    faces["count"], faces["corners"] = 3, mesh.triangles
    header = [f"element face {len(faces)}", "property list uchar int vertex_indices"]
    return _encode(mesh, {}, [], header, faces.tobytes())


def _encode(
    shape: Cloud | Mesh,
    more: dict[str, NDArray[Any]],
    comments: list[str],
    elements: Sequence[str] = (),
    content: bytes = b"",
) -> bytes:
    """Encode vertices with `more` properties, and then other elements, which the header describes."""
    columns: dict[str, NDArray[Any]] = {name: shape.positions[:, k] for k, name in enumerate(("x", "y", "z"))}
    if shape.normals is not None:
        columns |= {name: shape.normals[:, k] for k, name in enumerate(("nx", "ny", "nz"))}
    colours = {name: shape.colours[:, k] for k, name in enumerate(("red", "green", "blue"))}
    dtype = [(name, "<f4") for name in columns] + [(name, "|u1") for name in colours] + [(name, "<f4") for name in more]
    records = np.empty(len(shape.positions), dtype)
    for name, values in {**columns, **colours, **more}.items():
        records[name] = values
    lines = [
        "ply",
        "format binary_little_endian 1.0",
        f"comment scene {_one_line(shape.name)}",
        f"comment reference {_one_line(shape.reference)}",
        f"comment unit {shape.unit or 'unknown'}",
        "comment axes x right, y down, z ahead; the reference camera is at the origin",
        *comments,
        f"element vertex {len(shape.positions)}",
        *(f"property {_TYPES[kind]} {name}" for name, kind in dtype),
        *elements,
        "end_header",
    ]
    return "\n".join([*lines, ""]).encode("ascii") + records.tobytes() + content


def _one_line(text: str) -> str:
    """Reduce a text to one line of ASCII, as a header requires; other letters become escapes such as \\u6f22."""
    shown = "".join(letter if letter.isprintable() else " " for letter in text)
    return " ".join(shown.encode("ascii", "backslashreplace").decode("ascii").split())
