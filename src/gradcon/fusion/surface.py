"""The surface around each pixel of a disparity map: where it breaks off, and the plane that fits it.

Two neighbouring pixels belong to one surface unless it would be steeper than 85 degrees to the ray between them, by
more than the noise explains.  The noise is that of a typical pixel: beside a jump the predicted deviations are so large
that they would explain the jump.
"""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradcon.fusion.placement import Floats, point_rate, points
from gradcon.result.points import STEEPEST

WINDOW = 2  # pixels to each side that a plane is fitted to
NOISE = 2.0  # standard deviations that a step along a surface may have on top


class Planes(NamedTuple):
    """The disparity around a pixel is w + x du + y dv."""

    x: Floats
    y: Floats


def steepest_step(space: Floats, disparity: Floats, deviation: Floats) -> Floats:
    """Return the step to a neighbouring pixel, in disparity, beyond which the surface breaks off."""
    v, u = np.indices(disparity.shape)
    here, scale = points(space, u, v, disparity)
    beside, _ = points(space, u + 1, v, disparity)
    footprint = np.linalg.norm(beside - here, axis=-1)
    noise = NOISE * np.sqrt(2) * float(np.median(deviation)) if deviation.size else 0.0
    return np.asarray(STEEPEST * footprint / point_rate(space, here, scale) + noise)


def floating(disparity: Floats, steepest: Floats) -> NDArray[np.bool_]:
    """Return the pixels in the gap between two surfaces: the map falls too steeply to them, and on from them.

    An estimate does not jump from one surface to the next.  The pixels in between would float in the air.
    """
    found = np.zeros(disparity.shape, bool)
    for axis in (0, 1):
        step = np.diff(disparity, axis=axis)
        before, after = (slice(None, -1), slice(1, None))
        first, second = (step[before], step[after]) if axis == 0 else (step[:, before], step[:, after])
        inner = (slice(1, -1), slice(None)) if axis == 0 else (slice(None), slice(1, -1))
        steep = np.minimum(np.abs(first), np.abs(second)) > steepest[inner]
        found[inner] |= steep & (first * second > 0)
    return found


def fit_planes(disparity: Floats, steepest: Floats, v: Any, u: Any) -> Planes:
    """Fit planes to the surroundings of the pixels in rows v and columns u.

    Only pixels of the same surface count; where there are too few of them, the plane is level.
    """
    padded = np.pad(disparity, WINDOW, constant_values=np.nan)
    here, limit = disparity[v, u], steepest[v, u]
    n, sx, sy, sxx, sxy, syy, sd, sdx, sdy = np.zeros((9, len(here)))
    for dy, dx in product(range(-WINDOW, WINDOW + 1), repeat=2):
        step = padded[v + (WINDOW + dy), u + (WINDOW + dx)] - here
        same = np.abs(step) <= limit * max(abs(dx), abs(dy))  # NaN is not
        step = np.where(same, step, 0.0)
        n, sx, sy = n + same, sx + dx * same, sy + dy * same
        sxx, sxy, syy = sxx + dx * dx * same, sxy + dx * dy * same, syy + dy * dy * same
        sd, sdx, sdy = sd + step, sdx + dx * step, sdy + dy * step
    with np.errstate(divide="ignore", invalid="ignore"):
        cxx, cxy, cyy = sxx - sx * sx / n, sxy - sx * sy / n, syy - sy * sy / n
        cx, cy = sdx - sx * sd / n, sdy - sy * sd / n
        determinant = cxx * cyy - cxy * cxy
        x, y = (cyy * cx - cxy * cy) / determinant, (cxx * cy - cxy * cx) / determinant
    level = ~(determinant > 1e-9)
    return Planes(np.where(level, 0.0, x), np.where(level, 0.0, y))


def normals(to_view: Floats, u: Any, v: Any, w: Floats, slopes: Planes) -> Floats:
    """Return the unit normals in space of these planes through these pixels, on the side of the view's camera.

    `to_view` takes points in space to pixels.  The plane x u + y v + c - w = 0 of the view is the same plane in space,
    with the coefficients `to_view`^T (x, y, c, -1).
    """
    plane = np.stack([slopes.x, slopes.y, w - slopes.x * u - slopes.y * v, -np.ones_like(w)], axis=-1)
    n = (plane @ to_view)[..., :3]
    # Disparity grows towards the camera, and the value of the plane falls with it.
    return np.asarray(-n / np.linalg.norm(n, axis=-1, keepdims=True))
