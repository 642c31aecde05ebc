"""Files of meshes: PLY in the frame of the camera, and GLB and OBJ, by trimesh, as other programs expect them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from gradcon.errors import InputError
from gradcon.extras import install_extra
from gradcon.io import ply
from gradcon.scene.calibration import MILLIMETRES

SUFFIXES = (".ply", ".glb", ".obj")
UPRIGHT = np.array([1.0, -1.0, -1.0])  # from x right, y down, z ahead to x right, y up, z towards the viewer


def check(path: Path) -> None:
    """Refuse a file that is not one of a mesh, or that needs a library that is missing."""
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(path, "is not the name of a mesh", f"give a name that ends in {', '.join(SUFFIXES)}")
    if path.suffix.lower() != ".ply":
        _library(path)


def encode(mesh: ply.Mesh, path: Path) -> bytes:
    """Return the content of the file `path`, whose suffix names the format."""
    check(path)
    suffix = path.suffix.lower()
    if suffix == ".ply":
        return ply.encode_mesh(mesh)
    metres = MILLIMETRES[mesh.unit] / 1000 if suffix == ".glb" and mesh.unit else 1.0
    made = _library(path).Trimesh(
        vertices=mesh.positions * UPRIGHT * metres,
        faces=mesh.triangles,
        vertex_normals=mesh.normals * UPRIGHT,
        vertex_colors=_linear(mesh.colours) if suffix == ".glb" else mesh.colours,
        process=False,
    )
    content = made.export(file_type=suffix[1:], include_normals=True)
    return content.encode() if isinstance(content, str) else bytes(content)


def _linear(colours: Any) -> Any:
    """Decode colours as a display does: glTF multiplies those of corners with the light."""
    encoded = colours / 255.0
    light = np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)
    return np.rint(255 * light).astype(np.uint8)


def _library(path: Path) -> Any:
    try:
        import trimesh
    except ImportError:
        format_ = path.suffix[1:].upper()
        problem = f"a {format_} is written by trimesh, which is not installed"
        raise InputError(path, problem, f"{install_extra('mesh')}, or write a .ply") from None
    return trimesh
