"""The disparity map as another camera sees it.

Every pixel of the map is a small patch of a surface, which is cut into samples that land in the other view; the nearest
one at each pixel counts.  Patches of one surface touch each other, so that a surface which appears stretched has no
cracks, while patches at a depth jump do not.  What no patch covers, the reference does not see: it is filled from the
farther of the surfaces on both sides, along the line on which disparity moves a pixel.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gradcon.arrays import module_of
from gradcon.rendering.sampling import inside
from gradcon.rendering.viewpoint import Viewpoint

SIDES = (-1 / 3, 0.0, 1 / 3)  # where the samples of a patch lie, in pixels
GAP = 1.0  # pixels that a jump opens in the other view; a smaller step is a slope


class Carried(NamedTuple):
    """A disparity map in another view."""

    disparity: Any  # (height, width), of the reference's unit
    nearness: Any  # the same as `Viewpoint.see` returns it
    known: Any  # bool: the reference sees it; all else is filled


def carry(w: Any, to: Viewpoint) -> Carried:
    """Return a disparity map as another camera sees it."""
    xp = module_of(w)
    height, width = w.shape
    y, x = xp.indices(w.shape, dtype=np.float64)
    move = to.moved_by(w.shape)
    limit = GAP / max(float(np.hypot(*move)), 1e-9)
    slopes = {(axis, side): _slope(w, axis, side, limit) for axis in (0, 1) for side in (-1, 1)}
    front = xp.full(height * width, -np.inf)
    for dy in SIDES:
        for dx in SIDES:
            fine = w + abs(dy) * slopes[0, int(np.sign(dy)) or 1] + abs(dx) * slopes[1, int(np.sign(dx)) or 1]
            u, v, near = to.see(x + dx, y + dy, fine)
            seen = inside(u, v, w.shape) & xp.isfinite(near)
            i = xp.clip(xp.rint(v[seen]), 0, height - 1).astype(np.int64)
            j = xp.clip(xp.rint(u[seen]), 0, width - 1).astype(np.int64)
            xp.maximum.at(front, i * width + j, near[seen])
    front = front.reshape(w.shape)
    known = xp.isfinite(front)
    front = fill(front, known, move)
    disparity = _settled(to.disparity(x, y, front), known, w, to, limit)
    return Carried(disparity, to.see(*to.back(x, y, disparity), disparity)[2], known)


def _slope(w: Any, axis: int, side: int, limit: float) -> Any:
    """Return the differences to the next pixel on one side, 0 across a jump and at the border."""
    xp = module_of(w)
    step = xp.diff(w, axis=axis)
    step = xp.where(xp.abs(step) < limit, step, 0.0)
    border = xp.zeros_like(w[:1] if axis == 0 else w[:, :1])
    return xp.concatenate([step, border] if side > 0 else [border, -step], axis=axis)


def fill(field: Any, known: Any, move: Any) -> Any:
    """Fill what is unknown with the farther of the nearest known pixels in the directions of +move and -move.

    What neither direction leads to a known pixel from takes the farthest of all.
    """
    xp = module_of(field)
    if bool(known.all()):
        return field
    if not bool(known.any()):  # the camera looks elsewhere
        return xp.zeros_like(field)
    height, width = field.shape
    length = float(np.hypot(*move))
    right, down = move / length if length > 0 else (1.0, 0.0)
    i, j = xp.nonzero(~known)
    found = []
    for sign in (-1, 1):
        value = xp.full(i.shape, np.inf)
        open_ = xp.arange(len(i))
        for k in range(1, height + width):
            row = xp.rint(i[open_] + sign * k * down).astype(np.int64)
            column = xp.rint(j[open_] + sign * k * right).astype(np.int64)
            within = (row >= 0) & (row < height) & (column >= 0) & (column < width)
            open_, row, column = open_[within], row[within], column[within]
            hit = known[row, column]
            value[open_[hit]] = field[row[hit], column[hit]]
            open_ = open_[~hit]
            if len(open_) == 0:
                break
        found.append(value)
    farther = xp.minimum(*found)
    filled = field.copy()
    filled[i, j] = xp.where(xp.isfinite(farther), farther, field[known].min())
    return filled


def _settled(disparity: Any, known: Any, w: Any, to: Viewpoint, limit: float) -> Any:
    """Read the map where a pixel of the view comes from: between its pixels, unless a jump is there."""
    xp = module_of(w)
    height, width = w.shape
    v, u = xp.indices(w.shape, dtype=np.float64)
    x, y = to.back(u, v, disparity)
    x, y = xp.clip(x, 0, width - 1), xp.clip(y, 0, height - 1)
    i = xp.minimum(y.astype(np.int64), max(height - 2, 0))
    j = xp.minimum(x.astype(np.int64), max(width - 2, 0))
    f, g = y - i, x - j
    below, beside = min(1, height - 1), min(1, width - 1)
    a, b, c, d = w[i, j], w[i, j + beside], w[i + below, j], w[i + below, j + beside]
    between = (1 - f) * ((1 - g) * a + g * b) + f * ((1 - g) * c + g * d)
    low, high = xp.minimum(xp.minimum(a, b), xp.minimum(c, d)), xp.maximum(xp.maximum(a, b), xp.maximum(c, d))
    smooth = (high - low < limit) & (xp.abs(between - disparity) < limit)
    return xp.where(known & smooth, between, disparity)
