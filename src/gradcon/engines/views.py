"""What the compiled engines know about views: how each moves a pixel, and in which order they are trusted."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradcon.engines import model
from gradcon.scene import geometry

ROW, COLUMN, PLANAR, GENERAL = 0, 1, 2, 3  # kinds of view, by what moves a pixel: B_x w, B_y w, B w, (M, m)


def kind_of(M: geometry.Floats, m: geometry.Floats) -> int:
    """Return the kind of a view."""
    if not geometry.is_planar(M, m):
        return GENERAL
    return ROW if m[1] == 0 else COLUMN if m[0] == 0 else PLANAR


class Order(NamedTuple):
    """In which order views, sorted by distance, are trusted: what `model.floors` says, in few operations.

    A view raises the top of every direction that it belongs to, and is raised by it.  The views behind it that stand
    hardly farther out raise it one by one.
    """

    memberships: NDArray[np.float32]  # (direction, view)
    only: NDArray[np.intp]  # (view,): the direction that a view belongs to fully, if it belongs to no other; or -1
    ends: NDArray[np.intp]  # (view,): the first view that stands clearly farther out
    starts: NDArray[np.intp]  # (view,): where its shares begin
    shares: NDArray[np.float32]  # of N^2 of the next views, up to the end, that its own N^2 may not fall below


def order_of(baselines: NDArray[np.float64]) -> Order:
    """Return the order of trust in views at these baselines."""
    floors = model.floors(baselines).astype(np.float32)
    ends = (model.nearness(baselines) > 0).sum(axis=1)
    shares = [floors[k, k + 1 : end] for k, end in enumerate(ends)]
    starts = np.cumsum([0, *map(len, shares)])[:-1]
    memberships = np.ascontiguousarray(model.memberships(baselines), np.float32)
    alone = ((memberships > 0).sum(axis=0) == 1) & (memberships.max(axis=0) == 1)
    return Order(
        memberships,
        np.where(alone, memberships.argmax(axis=0), -1),
        ends.astype(np.intp),
        starts.astype(np.intp),
        np.concatenate([*shares, np.zeros(1, np.float32)]),  # never empty
    )
