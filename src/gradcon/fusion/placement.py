"""Where a pixel of known disparity lies in space and in other views, for any two views of a rig.

A pixel (u, v) of disparity w is written as the homogeneous vector (u, v, 1, w).  The formula of `scene.geometry`,
(u, v, 1) ~ M_t s + m_t w, and the disparity of the same point in view t, which is w divided by that vector's third
component, are then one linear map from the first view to view t:

    (u, v, 1, w)_t  ~  H_t (x, y, 1, w),        H_t = [M_t  m_t; 0  1],

and so is the calibration of the first view: the point in space is ~ A (x, y, 1, w), A = [product K^-1  0; 0 offset 1].
A plane in space is a plane w = a u + b v + c in every view.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.fusion.maps import ViewMap
from gradcon.scene.calibration import Calibration

Floats = NDArray[np.float64]


def from_first(view: ViewMap) -> Floats:
    """Return H_t, which takes pixels of the first view to this one."""
    H = np.eye(4)
    H[:3, :3], H[:3, 3] = view.M, view.m
    return H


def between(view: ViewMap, other: ViewMap) -> Floats:
    """Return the map that takes pixels of `view` to `other`."""
    return from_first(other) @ np.linalg.inv(from_first(view))


def to_space(view: ViewMap, calibration: Calibration) -> Floats:
    """Return the map that takes pixels of this view to points in the frame of the first view's camera."""
    A = np.eye(4)
    A[:3, :3] = calibration.product * np.linalg.inv(calibration.K)
    A[3, 2] = calibration.offset
    return A @ np.linalg.inv(from_first(view))


def moved(T: Floats, u: Any, v: Any, w: Any) -> tuple[Floats, Floats, Floats, Floats]:
    """Apply a map to pixels; return u, v and w, and the scale, which is positive for what lies ahead."""
    p, q, z, d = (row[0] * u + row[1] * v + row[2] + row[3] * w for row in T)
    with np.errstate(divide="ignore", invalid="ignore"):
        return p / z, q / z, d / z, z


def rate(T: Floats, w: Floats, scale: Floats) -> Floats:
    """Return how fast the disparity in the other view, w, changes with that in the view; `scale` is of `moved`."""
    return (T[3, 3] - w * T[2, 3]) / scale


def points(space: Floats, u: Any, v: Any, w: Any) -> tuple[Floats, Floats]:
    """Return points in space, (..., 3), and their scale, which is positive where there is a point at all."""
    x, y, z, s = (row[0] * u + row[1] * v + row[2] + row[3] * w for row in space)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.stack([x / s, y / s, z / s], axis=-1), s


def point_rate(space: Floats, X: Floats, scale: Floats) -> Floats:
    """Return how far points move in space as the disparity grows by one, as a length."""
    return np.asarray(np.linalg.norm(space[:3, 3] - X * space[3, 3], axis=-1) / scale)


def camera_centre(space: Floats) -> Floats:
    """Return the place of the view's camera, where the disparity is infinite."""
    return np.asarray(space[:3, 3] / space[3, 3])
