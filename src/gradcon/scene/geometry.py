"""Where a reference pixel lands in another view, and how it moves there with the disparity.

One formula describes every calibrated pinhole rig.  View t sees a reference pixel s = (x, y, 1) of disparity w at

    dehomogenise(M_t s + m_t w),        M_t = K_t R_t K_r^-1,    m_t = K_t T_t.

A planar array of cameras with equal orientations is the special case M = I, m = (B_x, B_y, 0): the paper's B_t w.
`project` and `coupling` work on scalars and arrays alike; the compiled engines inline them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradcon.errors import InputError
from gradcon.scene.numbers import in_measure, is_invertible

Floats = NDArray[np.float64]

ROUNDED = 0.002  # by how much R R^T may differ from the identity: three rounded decimals make it up to 0.0017


def project(M, m, x, y, w):  # type: ignore[no-untyped-def]
    """Return where the view sees the reference pixel (x, y) of disparity w, and its homogeneous depth (seen if > 0)."""
    p = M[0, 0] * x + M[0, 1] * y + M[0, 2] + m[0] * w
    q = M[1, 0] * x + M[1, 1] * y + M[1, 2] + m[1] * w
    z = M[2, 0] * x + M[2, 1] * y + M[2, 2] + m[2] * w
    return p / z, q / z, z


def coupling(M, m, u, v):  # type: ignore[no-untyped-def]
    """Return the paper's c_t: how the warped image moves with w, at the position (u, v) in the view.

    c = (d(u,v)/d(x,y) at fixed w)^-1 d(u,v)/dw; the homogeneous depth cancels.  For a planar array c = B_t.
    """
    a, b = M[0, 0] - u * M[2, 0], M[0, 1] - u * M[2, 1]
    c, d = M[1, 0] - v * M[2, 0], M[1, 1] - v * M[2, 1]
    e, f = m[0] - u * m[2], m[1] - v * m[2]
    determinant = a * d - b * c
    return (d * e - b * f) / determinant, (a * f - c * e) / determinant


@dataclass(frozen=True, eq=False)
class Camera:
    """A pinhole camera, which sees the world point X at the pixel x ~ K (R X + t).

    Cameras with equal numbers are equal, and a camera can be a key of a dictionary.

    Attributes
    ----------
    K : (3, 3) array
        The intrinsic matrix, in pixels.  Pixel centres are at integers; x points to the right and y down.
    R : (3, 3) array
        The rotation from the world's frame to the camera's.  No element of R R^T may differ from the identity by more
        than 0.002, which rotations that are rounded to three decimals keep to; the determinant is positive.
    t : (3,) array
        The translation.  The camera stands at -R^T t.

    Raises
    ------
    InputError
        An array has another shape or no finite numbers, R is no rotation, or K no intrinsic matrix.
    """

    K: Floats
    R: Floats
    t: Floats

    def __post_init__(self) -> None:
        for field, shape in (("K", (3, 3)), ("R", (3, 3)), ("t", (3,))):
            try:
                array = np.array(getattr(self, field), dtype=np.float64)
            except (TypeError, ValueError, OverflowError):  # an integer of hundreds of digits overflows
                raise InputError("camera", f"{field} is not an array of numbers", f"give {shape} numbers") from None
            if array.shape != shape or not np.isfinite(array).all():
                raise InputError("camera", f"{field} must be {shape} finite numbers, not {array.shape}", "correct it")
            if not in_measure(array):
                problem = f"{field} holds a number that is too large to compute with"
                raise InputError("camera", problem, "correct it, or give all cameras in another unit of length")
            array.flags.writeable = False  # because cameras are compared by their numbers
            object.__setattr__(self, field, array)
        if np.abs(self.R @ self.R.T - np.eye(3)).max() > ROUNDED or np.linalg.det(self.R) < 0:
            remedy = f"make R R^T the identity within {ROUNDED:g}, and the determinant 1"
            raise InputError("camera", "R is not a rotation", remedy)
        if not np.allclose(self.K[2], (0, 0, 1)) or not is_invertible(self.K):
            problem = "K is not an invertible intrinsic matrix whose last row is 0, 0, 1"
            raise InputError("camera", problem, "correct it")

    @staticmethod
    def of(K: ArrayLike, R: ArrayLike, t: ArrayLike, name: str = "camera") -> Camera:
        """Make a camera that is called `name` in errors."""
        try:
            return Camera(K, R, t)  # type: ignore[arg-type]
        except InputError as error:
            raise InputError(name, error.problem, error.remedy) from None

    def __eq__(self, other: object) -> bool:
        return self._numbers() == other._numbers() if isinstance(other, Camera) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._numbers())

    def _numbers(self) -> tuple[float, ...]:
        return tuple(np.concatenate([self.K.ravel(), self.R.ravel(), self.t]).tolist())

    def relative_to(self, reference: Camera) -> tuple[Floats, Floats]:
        """Return (M, m) of this view; w is then the reciprocal of the depth along the reference's axis."""
        rotation = self.R @ reference.R.T
        translation = self.t - rotation @ reference.t
        return self.K @ rotation @ np.linalg.inv(reference.K), self.K @ translation


def planar(baselines: ArrayLike) -> tuple[Floats, Floats]:
    """Return (M, m) of a planar array of cameras with equal orientations, from its (T, 2) baselines."""
    B = np.asarray(baselines, dtype=np.float64)
    m = np.zeros((len(B), 3))
    m[:, :2] = B
    return np.tile(np.eye(3), (len(B), 1, 1)), m


def seen_from(M: Floats, m: Floats, t: int, offset: float = 0.0) -> tuple[Floats, Floats]:
    """Return (M, m) of a rig relative to its target t: of the reference first, and then of the other targets.

    A disparity w is product / depth - `offset` in every view, with the same product.  A point has the homogeneous depth
    z in view t where the reference's is 1, so w + offset there is (w + offset) / z (see `disparity_in`).
    """
    if all(is_planar(*pair) for pair in zip(M, m, strict=True)):
        return planar(np.concatenate([-m[t : t + 1, :2], np.delete(m, t, axis=0)[:, :2] - m[t, :2]]))
    last = np.array([0.0, 0.0, 1.0])
    parallel = M - offset * m[:, :, None] * last  # what (M, m) are if disparities are 0 at infinity
    others = np.concatenate([np.eye(3)[None], np.delete(parallel, t, axis=0)])
    turned = others @ np.linalg.inv(parallel[t])
    moved = np.concatenate([np.zeros((1, 3)), np.delete(m, t, axis=0)]) - turned @ m[t]
    return turned + offset * moved[:, :, None] * last, moved


def disparity_in(z, w, offset):  # type: ignore[no-untyped-def]
    """Return the disparity, in the other view's map, of a pixel of disparity w that has the homogeneous depth z there.

    `offset` is the calibration's, 0 if there is none; in a planar array z is 1, and both disparities are the same.
    """
    return (w + offset) / z - offset


def is_planar(M: Floats, m: Floats) -> bool:
    """Return whether the view moves every pixel by the same B w."""
    return bool(np.array_equal(M, np.eye(3)) and m[2] == 0)


def baseline(M: Floats, m: Floats, shape: tuple[int, int]) -> Floats:
    """Return the (B_x, B_y) that stands for a view: the mean direction and the RMS length of c_t at w = 0.

    For a planar array this is exactly B_t.  The lengths order the views and limit the step of a solve; the directions
    tell their directions.
    """
    if is_planar(M, m):
        return m[:2].copy()
    height, width = shape
    y, x = np.meshgrid(np.linspace(0, height - 1, 9), np.linspace(0, width - 1, 9), indexing="ij")
    with np.errstate(all="ignore"):
        u, v, z = project(M, m, x, y, 0.0)
        cx, cy = coupling(M, m, u, v)
    seen = (z > 0) & np.isfinite(cx) & np.isfinite(cy)
    if not seen.any():
        return np.full(2, np.nan)
    with np.errstate(over="ignore", invalid="ignore"):  # a scene refuses baselines that are not finite
        mean = np.array([cx[seen].mean(), cy[seen].mean()])
        length = np.sqrt((cx[seen] ** 2 + cy[seen] ** 2).mean())
        norm = np.linalg.norm(mean)
    if not np.isfinite([length, norm]).all():
        return np.full(2, np.nan)
    return mean * (length / norm) if norm > 1e-9 * length else np.array([length, 0.0])


def shortest(baselines: Sequence[ArrayLike]) -> float:
    """Return the length of the shortest baseline that is not 0, which is the unit of a rig's disparities."""
    lengths = [float(np.linalg.norm(np.asarray(B))) for B in baselines]
    return min((length for length in lengths if length > 0), default=1.0)
