"""From disparity to metric depth, and from pixels to points: the calibration of the reference camera.

For every rig, disparity is reciprocal depth up to a factor and a shift:

    depth = product / (disparity + offset).

Here -offset is the disparity at infinity (0 for parallel cameras), and `product` is the focal length times the unit
baseline.  A pixel (x, y) at that depth is the point depth * K^-1 (x, y, 1) in the frame of the reference camera, whose
x axis points to the right, y down and z ahead.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradcon.errors import InputError
from gradcon.scene.geometry import Camera, is_planar
from gradcon.scene.layout import Layout
from gradcon.scene.numbers import LARGEST, SMALLEST, checked_numbers, finite_number, in_measure, is_invertible, shortly

MILLIMETRES = {"m": 1000.0, "cm": 10.0, "mm": 1.0}  # per unit of length


@dataclass(frozen=True, eq=False)
class Calibration:
    """How the disparities of the reference become depths: depth = product / (disparity + offset).

    Attributes
    ----------
    product : float
        Depth times (disparity + offset), in `unit` times pixels per unit baseline.
    K : (3, 3) array
        The intrinsic matrix of the reference camera, in pixels.  Pixel centres are at integers.
    offset : float
        Minus the disparity at infinity, in pixels per unit baseline.
    unit : {"m", "cm", "mm", ""}
        The unit of the depth.  It is empty if the scale of the cameras is unknown, as in a reconstruction from images
        alone.
    steps : (right, down)
        How far `moved` has moved the camera from the one that K was given for, in unit baselines.

    Examples
    --------
    >>> import gradcon
    >>> calibration = gradcon.Calibration(product=90.0, K=[[900, 0, 320], [0, 900, 240], [0, 0, 1]], unit="m")
    >>> float(calibration.depth(45.0))
    2.0
    """

    product: float
    K: NDArray[np.float64]
    offset: float = 0.0
    unit: str = ""
    steps: tuple[float, float] = (0.0, 0.0)

    @classmethod
    def of_converged_array(cls, values: Mapping[str, Any], shape: tuple[int, int]) -> Calibration:
        """Calibrate the middle camera of an array whose sensors are shifted so that the focus plane has disparity 0.

        Parameters
        ----------
        values : mapping
            focal_length_mm, sensor_size_mm, baseline_mm and focus_distance_m.
        shape : (height, width)
            The size of the views in pixels.

        Notes
        -----
        The depth is in millimetres.  The 4D Light Field Benchmark states depth_mm = beta F / (d F s + beta), where
        beta = baseline_mm focal_mm max(width, height), F is the focus distance and s the sensor's size in mm.  That is
        product / (d + offset) with the values below.
        """
        height, width = shape
        focal = float(values["focal_length_mm"]) / float(values["sensor_size_mm"]) * max(width, height)  # pixels
        product = float(values["baseline_mm"]) * focal
        offset = product / (1e3 * float(values["focus_distance_m"]))
        K = np.array([[focal, 0, (width - 1) / 2], [0, focal, (height - 1) / 2], [0, 0, 1]])
        return cls(product, K, offset, "mm")

    def __post_init__(self) -> None:
        K = checked_numbers("calibration", "the values of K", self.K, "correct them")
        product, offset = finite_number(self.product), finite_number(self.offset)
        if product is None or product <= 0 or offset is None:
            problem = f"product {shortly(self.product)} and offset {shortly(self.offset)} give no depth"
            raise InputError("calibration", problem, "give a positive product and a finite offset")
        if not SMALLEST * SMALLEST <= product <= LARGEST * LARGEST or abs(offset) > LARGEST:
            problem = f"product {product:g} and offset {offset:g} are too small or too large to compute with"
            raise InputError("calibration", problem, "give lengths in another unit")
        if K.shape != (3, 3) or not in_measure(K) or not is_invertible(K):
            raise InputError("calibration", "K must be an invertible matrix of 3 x 3 finite numbers", "correct it")
        check_unit(self.unit, "calibration")
        for name, value in (("K", K.copy()), ("product", product), ("offset", offset)):
            object.__setattr__(self, name, value)

    def depth(self, disparity: ArrayLike) -> NDArray[np.float32]:
        """Return the depth along the optical axis, in `unit`; NaN at or beyond the disparity of infinity."""
        w = np.asarray(disparity, dtype=np.float64) + self.offset
        return np.divide(self.product, w, out=np.full(w.shape, np.nan), where=w > 0).astype(np.float32)

    def disparity(self, depth: ArrayLike) -> NDArray[np.float32]:
        """Return the disparity of a depth; NaN where the depth is not positive."""
        z = np.asarray(depth, dtype=np.float64)
        w = np.divide(self.product, z, out=np.full(z.shape, np.nan), where=z > 0)
        with np.errstate(over="ignore"):  # next to the camera it is infinite, and counts as unknown
            return (w - self.offset).astype(np.float32)

    def depth_deviation(self, disparity: ArrayLike, deviation: ArrayLike) -> NDArray[np.float32]:
        """Return the standard deviation of the depth, in `unit`, to first order in that of the disparity."""
        z = self.depth(disparity).astype(np.float64)
        return (z * z / self.product * np.asarray(deviation, dtype=np.float64)).astype(np.float32)

    def points(self, depth: ArrayLike) -> NDArray[np.float32]:
        """Return a (height, width, 3) array of points in the reference camera's frame, in `unit`."""
        z = np.asarray(depth, dtype=np.float64)
        y, x = np.indices(z.shape, dtype=np.float64)
        rays = np.stack([x, y, np.ones_like(x)], axis=-1) @ np.linalg.inv(self.K).T
        return (rays * z[..., None]).astype(np.float32)

    def moved(self, steps: tuple[float, float]) -> Calibration:
        """Return the calibration of the camera `steps` unit baselines to the right and down.

        Its principal point is shifted by `offset` for each step.
        """
        K = self.K.copy()
        K[:2, 2] += np.array(steps) * self.offset
        return replace(self, K=K, steps=(self.steps[0] + steps[0], self.steps[1] + steps[1]))

    def of_view(self, M: NDArray[np.float64], m: NDArray[np.float64]) -> Calibration:
        """Return the calibration of the target at (M, m), for disparities in the same unit."""
        if is_planar(M, m):
            return self.moved((-float(m[0]), -float(m[1])))
        return replace(self, K=self.camera_of_view(M, m).K)

    def camera_of_view(self, M: NDArray[np.float64], m: NDArray[np.float64]) -> Camera:
        """Return the camera of the target at (M, m), with the reference camera's frame as the world, in `unit`."""
        KR = (M - self.offset * np.outer(m, (0, 0, 1))) @ self.K
        rotation, root = np.linalg.qr(KR[::-1].T)  # the QR decomposition, back to front, is K R with K upper triangular
        K, R = root.T[::-1, ::-1], rotation.T[::-1]
        signs = np.sign(np.diagonal(K)) * np.sign(np.diagonal(self.K))
        K, R = K * signs, signs[:, None] * R
        scale = 1 / K[2, 2]  # 1 already, unless (M, m) was given in another scale
        K = K * scale
        return Camera(K, R, np.linalg.solve(K, m) * (scale * self.product))

    def laid_out(self, layout: Layout) -> Calibration:
        """Return the calibration for cameras that are laid out differently."""
        right, down = layout.of(np.array([self.steps]))[0]
        return self.moved((right - self.steps[0], down - self.steps[1]))

    def summary(self) -> dict[str, Any]:
        """Return the calibration in plain types, as in result.json."""
        return {
            "formula": "depth = product / (disparity + offset)",
            "product": self.product,
            "offset": self.offset,
            "unit": self.unit,
            "K": self.K.tolist(),
        }


def check_unit(unit: str, where: str) -> str:
    """Refuse an unsupported unit of length; an empty one stands for an unknown scale."""
    if unit not in ("", *MILLIMETRES):
        raise InputError(where, f"{unit!r} is not a unit of length", f"use one of {', '.join(MILLIMETRES)}")
    return unit
