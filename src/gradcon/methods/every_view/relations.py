"""Where a view sees the pixels of another one, and which disparity they have in its map."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gradcon.scene import Scene, geometry
from gradcon.scene.geometry import Floats

Map = Any  # one float32 per pixel, in the host's memory or a GPU's


class Seen(NamedTuple):
    """Where a view sees some pixels of another one, and the disparities that they have in its map."""

    u: Any
    v: Any
    w: Any
    ahead: Any  # whether they lie in front of the camera


class Relation(NamedTuple):
    """The geometry (M, m) of a view, relative to another one whose pixels are looked for in it."""

    M: Floats
    m: Floats
    offset: float  # of the calibration

    def seen(self, x: Any, y: Any, w: Any) -> Seen:
        """Return where the view sees the pixels (x, y) of disparity w."""
        if geometry.is_planar(self.M, self.m):
            return Seen(x + np.float32(self.m[0]) * w, y + np.float32(self.m[1]) * w, w, True)
        M, m = self.M.astype(np.float32), self.m.astype(np.float32)
        with np.errstate(all="ignore"):
            u, v, z = geometry.project(M, m, x, y, w)
            return Seen(u, v, geometry.disparity_in(z, w, np.float32(self.offset)), z > 0)


def relation(scene: Scene, view: str) -> Relation | None:
    """Return the relation of a target to the scene's reference; None if it is left out of the scene."""
    if view not in scene.target_names:
        return None
    t = scene.target_names.index(view)
    offset = scene.calibration.offset if scene.calibration is not None else 0.0
    return Relation(scene.M[t], scene.m[t], offset)
