"""From disparity to metric depth, and from pixels to points: what is known of the reference's camera.

Disparity and reciprocal depth are the same up to a factor and a shift, whatever the rig:

    depth = product / (disparity + offset),

where -offset is the disparity of what is infinitely far (0 for parallel cameras), and `product` is focal length times
unit baseline.  A pixel (x, y) of that depth is the point depth * K^-1 (x, y, 1) before the reference camera, whose x
axis points to the right, y down and z ahead.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradcon.errors import InputError

MILLIMETRES = {"m": 1000.0, "cm": 10.0, "mm": 1.0}  # in a unit of length


@dataclass(frozen=True, eq=False)
class Calibration:
    """How the reference's disparities become depths.

    Attributes
    ----------
    product : float
        Depth times (disparity + offset): `unit` times pixels per unit baseline.
    K : (3, 3) array
        The reference's intrinsic matrix, in pixels; pixel centres are at integers.
    offset : float
        Minus the disparity of what is infinitely far, in pixels per unit baseline.
    unit : {"m", "cm", "mm", ""}
        Of the depth; empty where the cameras' scale is not known (a reconstruction from images alone).
    steps : (right, down)
        How many unit baselines the reference stands from the camera that K was known of, by which `moved` has shifted
        the principal point.
    """

    product: float
    K: NDArray[np.float64]
    offset: float = 0.0
    unit: str = ""
    steps: tuple[float, float] = (0.0, 0.0)

    @classmethod
    def of_converged_array(cls, values: Mapping[str, Any], shape: tuple[int, int]) -> Calibration:
        """Depth in mm from the middle of an array whose sensors are shifted so that the focus distance has disparity 0.

        `values` holds focal_length_mm, sensor_size_mm, baseline_mm and focus_distance_m.  The 4D Light Field
        Benchmark's depth_mm = beta F / (d F s + beta), with beta = baseline_mm focal_mm max(width, height), F the focus
        distance and s the sensor's size in mm, is product / (d + offset) with the two below.
        """
        height, width = shape
        focal = float(values["focal_length_mm"]) / float(values["sensor_size_mm"]) * max(width, height)  # pixels
        product = float(values["baseline_mm"]) * focal
        offset = product / (1e3 * float(values["focus_distance_m"]))
        K = np.array([[focal, 0, (width - 1) / 2], [0, focal, (height - 1) / 2], [0, 0, 1]])
        return cls(product, K, offset, "mm")

    def __post_init__(self) -> None:
        try:
            K = np.array(self.K, dtype=np.float64)
            product, offset = float(self.product), float(self.offset)
        except (TypeError, ValueError, OverflowError):  # the last of an integer of hundreds of digits
            raise InputError("calibration: product, K and offset must be numbers.") from None
        if not (np.isfinite(product) and product > 0 and np.isfinite(offset)):
            raise InputError(f"calibration: product {product} and offset {offset} make no depth.")
        if K.shape != (3, 3) or not np.isfinite(K).all() or abs(np.linalg.det(K)) < 1e-12:
            raise InputError("calibration: K must be an invertible matrix of 3 x 3 finite numbers.")
        check_unit(self.unit, "calibration")
        for name, value in (("K", K), ("product", product), ("offset", offset)):
            object.__setattr__(self, name, value)

    def depth(self, disparity: ArrayLike) -> NDArray[np.float32]:
        """Depth along the reference's axis, in `unit`; NaN where the disparity is that of infinity or beyond."""
        w = np.asarray(disparity, dtype=np.float64) + self.offset
        return np.divide(self.product, w, out=np.full(w.shape, np.nan), where=w > 0).astype(np.float32)

    def disparity(self, depth: ArrayLike) -> NDArray[np.float32]:
        """The inverse of `depth`; NaN where the depth is not positive."""
        z = np.asarray(depth, dtype=np.float64)
        w = np.divide(self.product, z, out=np.full(z.shape, np.nan), where=z > 0)
        with np.errstate(over="ignore"):  # of what is next to the camera: infinite, and so unknown
            return (w - self.offset).astype(np.float32)

    def depth_deviation(self, disparity: ArrayLike, deviation: ArrayLike) -> NDArray[np.float32]:
        """Standard deviation of the depth that a deviation of the disparity makes, to first order, in `unit`."""
        z = self.depth(disparity).astype(np.float64)
        return (z * z / self.product * np.asarray(deviation, dtype=np.float64)).astype(np.float32)

    def points(self, depth: ArrayLike) -> NDArray[np.float32]:
        """(height, width, 3) points before the reference camera, in `unit`: x to the right, y down, z ahead."""
        z = np.asarray(depth, dtype=np.float64)
        y, x = np.indices(z.shape, dtype=np.float64)
        rays = np.stack([x, y, np.ones_like(x)], axis=-1) @ np.linalg.inv(self.K).T
        return (rays * z[..., None]).astype(np.float32)

    def moved(self, steps: tuple[float, float]) -> Calibration:
        """Of the camera so many unit baselines to the right and down: its sensor is shifted by as many offsets."""
        K = self.K.copy()
        K[:2, 2] += np.array(steps) * self.offset
        return replace(self, K=K, steps=(self.steps[0] + steps[0], self.steps[1] + steps[1]))

    def flipped(self, x: bool = False, y: bool = False) -> Calibration:
        """For cameras that are counted from the other end: it was moved as far, but the other way."""
        right, down = self.steps
        return self.moved((-2 * right if x else 0.0, -2 * down if y else 0.0))

    def summary(self) -> dict[str, Any]:
        """Plain types, as result.json holds them."""
        return {
            "formula": "depth = product / (disparity + offset)",
            "product": self.product,
            "offset": self.offset,
            "unit": self.unit,
            "K": self.K.tolist(),
        }


def check_unit(unit: str, where: str) -> str:
    """Refuse a unit of length that is not known; empty stands for an unknown one."""
    if unit not in ("", *MILLIMETRES):
        raise InputError(f"{where}: the unit {unit!r} is not one of {', '.join(MILLIMETRES)}.")
    return unit
