"""Refuse a distortion that no undistorted view can be made of."""

from __future__ import annotations

import numpy as np

from gradcon.errors import InputError
from gradcon.lens.distortion import Distortion
from gradcon.scene.geometry import Floats

STEP = 1e-5  # of the differences that stand for derivatives, in normalised coordinates
ANGLES = 64


def refuse_folds(distortion: Distortion, x: Floats, y: Floats, pixels: Floats, where: str) -> None:
    """Refuse a distortion that shows two directions at one place.

    Parameters
    ----------
    distortion : Distortion
    x, y : arrays
        Normalised coordinates of pixels of the undistorted view.
    pixels : (2, ...) array
        Where these pixels are, for the message.
    where : str
        The camera, for the message.
    """
    determinant = jacobian(distortion, x, y)
    good = determinant > 0  # NaN is not good
    if good.all():
        return
    place = np.unravel_index(np.argmin(np.where(np.isfinite(determinant), determinant, -np.inf)), determinant.shape)
    at = x[place], y[place]
    better = {name: jacobian(distortion.without(name), *at) for name, value in distortion.named.items() if value}
    name = max(better, key=lambda name: np.nan_to_num(better[name], nan=-np.inf))
    column, row = (values[place] for values in pixels)
    raise InputError(
        where,
        f"its lens distortion folds the image over: with {name} = {distortion.named[name]:g}, two directions share a "
        f"place near the pixel ({column:.0f}, {row:.0f}) of the undistorted view",
        "check the signs and the order of the parameters, or undistort to a camera with a longer focal length",
    )


def jacobian(distortion: Distortion, x: Floats, y: Floats) -> Floats:
    """Return the determinant of the distortion's derivative; what is not above 0 is folded over."""
    with np.errstate(all="ignore"):
        (right, left), (below, above) = (
            [np.stack(distortion.distorted(x + sign * dx, y + sign * dy)) for sign in (1, -1)]
            for dx, dy in ((STEP, 0.0), (0.0, STEP))
        )
        (a, b), (c, d) = (right - left) / (2 * STEP), (below - above) / (2 * STEP)
        return np.asarray(a * d - b * c, np.float64)


def refuse_half_space(distortion: Distortion, K: Floats, shape: tuple[int, int], where: str) -> None:
    """Refuse a view that shows more than 180 degrees from its left to its right, or from its top to its bottom."""
    if not distortion.has_angles:
        return
    straight_ahead_to_aside = np.tan(np.linspace(0, np.pi / 2, ANGLES, endpoint=False))
    path = distortion.bent(distortion.bend(straight_ahead_to_aside), np.zeros(ANGLES))[0]
    with np.errstate(invalid="ignore"):
        reaches_aside = (np.diff(path) > 0).all()
    if not reaches_aside:
        return
    aside, none = distortion.bend(np.array([np.inf, -np.inf])), np.zeros(2)
    (height, width), (fx, fy), (cx, cy) = shape, np.diag(K)[:2], K[:2, 2]
    left_right = fx * distortion.bent(aside, none)[0] + cx
    top_bottom = fy * distortion.bent(none, aside)[1] + cy
    for ends, size in ((left_right, width), (top_bottom, height)):
        if (ends > 0).all() and (ends < size - 1).all():
            raise InputError(
                where,
                "its fisheye lens sees more than 180 degrees, which no undistorted view can show",
                "cut the images and change cx and cy by as much",
            )
