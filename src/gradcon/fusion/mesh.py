"""A mesh of triangles between the points of a fused cloud.

The pixel grid of each view tells which points are neighbours.  The first view's grid is connected as a whole; each
later view adds the triangles with at least one point that is its own, and these end on points of earlier views, so that
the parts are welded.  Two neighbours are connected unless the surface between them would be steeper than 85 degrees to
the camera's ray: there the depth jumps, and the mesh is cut.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gradcon.errors import InputError
from gradcon.files import as_path, write_file
from gradcon.fusion.surface import NOISE
from gradcon.io import meshes
from gradcon.result.points import STEEPEST

if TYPE_CHECKING:
    from gradcon.fusion.cloud import FusedCloud, Numbers

Array = NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class Mesh:
    """Triangles in the frame of the first view's camera: x to the right, y down, z ahead.

    Attributes
    ----------
    positions : (n, 3) float32
        The corners, in `unit`.
    normals : (n, 3) float32
        The unit normals of the surface at the corners, towards the cameras.
    colours : (n, 3) uint8
        Red, green and blue.
    triangles : (k, 3) int32
        The numbers of the corners of each triangle, counterclockwise as the cameras see them.
    unit : {"m", "cm", "mm", ""}
        The unit of length; empty if the scale of the cameras is unknown.
    name : str
        The name of the scene.
    reference : str
        The name of the first view.
    """

    positions: NDArray[np.float32]
    normals: NDArray[np.float32]
    colours: NDArray[np.uint8]
    triangles: NDArray[np.int32]
    unit: str
    name: str
    reference: str

    def __repr__(self) -> str:
        return (
            f"<Mesh of {self.name!r}: {len(self.positions)} corners, {len(self)} triangles, "
            f"in {self.unit or 'unknown units'}>"
        )

    def __len__(self) -> int:
        return len(self.triangles)

    def save(self, path: str | Path) -> Path:
        """Write the mesh with its normals and colours, and return the path, whose suffix decides the format.

        A .ply has the frame of the first view's camera.  A .glb and a .obj have x to the right, y up and z towards the
        viewer, as these formats expect it, and a .glb is in metres if the unit is known.  Both need the library
        trimesh, the extra `mesh`.
        """
        target = as_path(path)
        write_file(target, meshes.encode(self, target))
        return target


def connect(cloud: FusedCloud, numbers: list[Numbers], centres: list[Array]) -> Mesh:
    """Connect the points that are neighbours in a view; `numbers` and `centres` are those of `FusedCloud`."""
    parts = []
    last = 0
    for number, centre in zip(numbers, centres, strict=True):
        first, last = last, max(last, int(number.max()) + 1)
        parts.append(_triangles(cloud, number, centre, first))
    triangles = _without_folds(np.concatenate(parts))
    if not len(triangles):
        problem = f"no two of its {len(cloud)} points are neighbours on a surface, so there is no mesh"
        raise InputError(cloud.name, problem, "write the points alone")
    corners, renumbered = np.unique(triangles, return_inverse=True)
    return Mesh(
        positions=cloud.positions[corners],
        normals=cloud.normals[corners],  # type: ignore[index]  # a fused cloud has normals
        colours=cloud.colours[corners],
        triangles=renumbered.reshape(-1, 3).astype(np.int32),
        unit=cloud.unit,
        name=cloud.name,
        reference=cloud.reference,
    )


def _without_folds(triangles: Array) -> Array:
    """Drop triangles that lie on earlier ones at the seams: each edge has one triangle on each of its sides."""
    edges = np.concatenate([triangles[:, (k, (k + 1) % 3)] for k in range(3)])
    _, first = np.unique(edges, axis=0, return_index=True)
    owner = np.zeros(len(edges), bool)
    owner[first] = True
    return triangles[owner.reshape(3, -1).all(axis=0)]


def _triangles(cloud: FusedCloud, number: Numbers, centre: Array, first: int) -> Array:
    """Return the triangles of a view's pixel grid, as numbers of points; each has one that is `first` or later."""
    squares = np.stack([number[:-1, :-1], number[:-1, 1:], number[1:, :-1], number[1:, 1:]], axis=-1).reshape(-1, 4)
    a, b, c, d = squares[(squares >= first).any(axis=-1)].T
    # The two ways to cut a square of four pixels, each into two triangles whose corners run the same way round.
    ways = [(np.stack([a, c, d], -1), np.stack([a, d, b], -1)), (np.stack([a, c, b], -1), np.stack([b, c, d], -1))]
    whole = [[_is_surface(cloud, triangle, centre) for triangle in way] for way in ways]
    many = [first.astype(int) + second for first, second in whole]
    lengths = [_length(cloud, a, d), _length(cloud, b, c)]
    falling = (many[0] > many[1]) | ((many[0] == many[1]) & (lengths[0] <= lengths[1]))
    triangles = np.concatenate(
        [
            triangle[there & chosen]
            for way, found, chosen in zip(ways, whole, (falling, ~falling), strict=True)
            for triangle, there in zip(way, found, strict=True)
        ]
    )
    return np.asarray(triangles[(triangles >= first).any(axis=-1)])


def _is_surface(cloud: FusedCloud, triangle: Array, centre: Array) -> Array:
    """Return which triangles have three corners, lie on one surface, and show their front to the camera."""
    there = (triangle >= 0).all(axis=-1)
    P, Q, R = (cloud.positions[triangle[..., k]].astype(np.float64) for k in range(3))
    front = np.sum(np.cross(Q - P, R - P) * (centre - P), axis=-1) > 0
    good = there & front
    noise = NOISE * np.sqrt(2) * float(np.median(cloud.deviation))
    for start, end in ((P, Q), (Q, R), (R, P)):
        step, ray = end - start, (start + end) / 2 - centre
        ray /= np.linalg.norm(ray, axis=-1, keepdims=True)
        along = np.abs(np.sum(step * ray, axis=-1))
        across = np.linalg.norm(step - np.sum(step * ray, axis=-1)[..., None] * ray, axis=-1)
        good &= along <= STEEPEST * across + noise
    return np.asarray(good)


def _length(cloud: FusedCloud, start: Array, end: Array) -> Array:
    return np.asarray(np.linalg.norm(cloud.positions[start] - cloud.positions[end], axis=-1))
