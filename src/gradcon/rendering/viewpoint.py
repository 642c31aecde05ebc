"""A camera from which a scene is seen: one of its views, or one that was never there."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gradcon.scene import Scene, geometry
from gradcon.scene.geometry import Floats


@dataclass(frozen=True, eq=False)
class Viewpoint:
    """The geometry (M, m) of a view, see `gradcon.scene.geometry`; arrays may be NumPy's or CuPy's.

    Disparities w are those of the reference, wherever they are stored.
    """

    M: Floats
    m: Floats

    @cached_property
    def _inverse(self) -> Floats:
        return np.asarray(np.linalg.inv(self.M), np.float64)

    @cached_property
    def _epipole(self) -> Floats:
        return self._inverse @ self.m

    @property
    def place(self) -> Floats:
        """Where the camera stands, to the right, down and ahead of the reference, in unit baselines and its pixels."""
        return -self._epipole

    def see(self, x: Any, y: Any, w: Any) -> tuple[Any, Any, Any]:
        """Return where the reference pixel (x, y) of disparity w is seen, and its nearness there.

        What has the larger nearness hides the other.  It is not finite behind the camera.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            u, v, z = geometry.project(self.M, self.m, x, y, w)
            return u, v, w / (z * (z > 0))

    def disparity(self, u: Any, v: Any, nearness: Any) -> Any:
        """Return the disparity w of what is seen at (u, v) with a nearness."""
        q = self._inverse[2, 0] * u + self._inverse[2, 1] * v + self._inverse[2, 2]
        return nearness / (q - self._epipole[2] * nearness)

    def back(self, u: Any, v: Any, w: Any) -> tuple[Any, Any]:
        """Return the reference pixel that is seen at (u, v) if its disparity is w."""
        A, e = self._inverse, self._epipole
        q = [A[k, 0] * u + A[k, 1] * v + A[k, 2] for k in range(3)]
        z = (1 + e[2] * w) / q[2]
        return q[0] * z - e[0] * w, q[1] * z - e[1] * w

    def moved_by(self, shape: tuple[int, int]) -> Floats:
        """Return the (B_x, B_y) that stands for the view: how its pixels move with disparity, in the mean."""
        return geometry.baseline(self.M, self.m, shape)


REFERENCE = Viewpoint(np.eye(3), np.zeros(3))


def virtual(right: float, down: float) -> Viewpoint:
    """Return a camera like the reference, moved by so many unit baselines to the right and down."""
    return Viewpoint(np.eye(3), np.array([-right, -down, 0.0]))


def viewpoints(scene: Scene) -> list[Viewpoint]:
    """Return the viewpoints of all views of a scene, the reference first."""
    return [REFERENCE, *(Viewpoint(M, m) for M, m in zip(scene.M, scene.m, strict=True))]
