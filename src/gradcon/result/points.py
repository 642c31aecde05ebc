"""The point cloud of a result: its surest pixels as coloured points in the reference camera's frame.

Everything is computed from q = disparity + offset, which is proportional to reciprocal depth.  On a plane in space q is
linear in x and y, so that differences of adjacent pixels give the plane's normal exactly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gradcon.arrays import to_host
from gradcon.errors import InputError
from gradcon.files import write_file
from gradcon.io import ply
from gradcon.result.depth import calibration_of
from gradcon.scene.colours import to_rgb

if TYPE_CHECKING:
    from gradcon.result.result import Result
    from gradcon.scene.calibration import Calibration

Array = NDArray[Any]

KEEP = 0.8
STEEPEST = math.tan(math.radians(85))  # a steeper slope is taken for the gap between two surfaces


@dataclass(frozen=True, eq=False, repr=False)
class PointCloud:
    """Points in the frame of the reference camera, which is at the origin: x to the right, y down, z ahead.

    Attributes
    ----------
    positions : (n, 3) float32
        The positions in `unit`, in the order of the pixels.
    colours : (n, 3) uint8
        Red, green and blue.
    deviation : (n,) float32
        The predicted standard deviation of the depth z, in `unit`.
    normals : (n, 3) float32 or None
        The unit normals of the surface, on the camera's side.
    unit : {"m", "cm", "mm", ""}
        The unit of length; empty if the scale of the cameras is unknown.
    name : str
        The name of the scene.
    reference : str
        The name of its reference view.
    """

    deviation_of: ClassVar[str] = "z"

    positions: NDArray[np.float32]
    colours: NDArray[np.uint8]
    deviation: NDArray[np.float32]
    normals: NDArray[np.float32] | None
    unit: str
    name: str
    reference: str

    def __repr__(self) -> str:
        normals = " with normals" if self.normals is not None else ""
        return (
            f"<PointCloud of {self.name!r}: {len(self.positions)} points{normals}, in {self.unit or 'unknown units'}>"
        )

    def __len__(self) -> int:
        return len(self.positions)

    def save(self, path: str | Path) -> Path:
        """Write a binary PLY, which point-cloud viewers open, and return its path."""
        if Path(path).suffix.lower() != ".ply":
            raise InputError(path, "is not the name of a PLY file", "give a name that ends in .ply")
        write_file(Path(path), ply.encode(self))
        return Path(path)

    @staticmethod
    def of(result: Result, keep: float = KEEP, normals: bool = False) -> PointCloud:
        """Compute the points of a result; see `Result.points`."""
        check_keep(keep)
        calibration, scene = calibration_of(result.scene), result.scene
        disparity, uncertainty = to_host(result.disparity), to_host(result.uncertainty)
        depth = calibration.depth(disparity)
        q = relative_inverse_depth(disparity, calibration)
        chosen = solid(q, calibration.K) & surest(uncertainty, keep)
        if scene.seen is not None:
            chosen &= scene.seen[0]
        if normals:
            directions = surface_normals(q, calibration.K)
            chosen &= np.isfinite(directions).all(axis=-1)  # a pixel without neighbours has no normal
        return PointCloud(
            positions=calibration.points(depth)[chosen],
            colours=to_rgb(scene.colour)[chosen],
            deviation=calibration.depth_deviation(disparity, uncertainty)[chosen],
            normals=directions[chosen] if normals else None,
            unit=calibration.unit,
            name=scene.name,
            reference=scene.reference_name,
        )


def check_keep(keep: float) -> float:
    """Refuse a share outside (0, 1]."""
    if not 0 < keep <= 1:  # also refuses NaN
        raise InputError("keep", f"{keep} is not a share of the pixels", "give a number above 0 and at most 1")
    return keep


def relative_inverse_depth(disparity: Array, calibration: Calibration) -> Array:
    """Return the disparity minus that of infinity; NaN where there is no depth."""
    return np.where(
        np.isfinite(calibration.depth(disparity)), disparity.astype(np.float64) + calibration.offset, np.nan
    )


def solid(q: Array, K: Array) -> NDArray[np.bool_]:
    """Return the mask of pixels that have a depth and do not lie in the gap between two surfaces."""
    return np.isfinite(q) & ~gaps(q, K)


def surest(uncertainty: Array, keep: float) -> NDArray[np.bool_]:
    """Return the mask of the share `keep` of the pixels with the smallest uncertainty, including ties."""
    values = np.where(np.isnan(uncertainty), np.inf, uncertainty)
    last = math.ceil(keep * values.size) - 1
    return np.asarray(values <= np.partition(values, last, axis=None)[last])


def gaps(q: Array, K: Array) -> NDArray[np.bool_]:
    """Return the mask of pixels whose depth falls away to one of their four neighbours too steeply for a surface.

    An estimate does not jump from one surface to the next.  It has a few pixels in between, whose points would float in
    the air.
    """
    steep = np.zeros(q.shape, bool)
    for axis, focal in ((1, K[0, 0]), (0, K[1, 1])):
        for step in _steps(q, axis):
            steep |= abs(focal) * np.abs(step) > STEEPEST * q  # NaN, at the border, is not steep
    return steep


def surface_normals(q: Array, K: Array) -> NDArray[np.float32]:
    """Return unit normals, (height, width, 3), towards the camera; NaN where a pixel lacks neighbours.

    Of the steps to the two neighbours in a row or a column, the smaller one counts, because it does not lead across a
    jump to another surface.
    """
    gx, gy = (_smaller(*_steps(q, axis)) for axis in (1, 0))
    y, x = np.indices(q.shape)
    # The plane n . P = 1 has n . K^-1 (x, y, 1) = 1 / z: n is K^T times the coefficients of 1 / z in x, y and 1.
    n = -np.stack([gx, gy, q - x * gx - y * gy], axis=-1) @ K
    return np.asarray(n / np.linalg.norm(n, axis=-1, keepdims=True), np.float32)


def _steps(q: Array, axis: int) -> tuple[Array, Array]:
    """Return the change from the previous pixel along an axis, and to the next one; NaN at the border."""
    step = np.diff(q, axis=axis)
    border = np.full_like(q.take([0], axis=axis), np.nan)
    return np.concatenate([border, step], axis=axis), np.concatenate([step, border], axis=axis)


def _smaller(a: Array, b: Array) -> Array:
    return np.where(np.isnan(b) | (np.abs(a) <= np.abs(b)), a, b)
