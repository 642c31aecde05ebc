"""What the engines know about views: how each moves a pixel, which of its pixels count, and how far it is trusted."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradcon.engines import model
from gradcon.engines.choices import Choices
from gradcon.scene import Scene, geometry

ROW, COLUMN, PLANAR, GENERAL = 0, 1, 2, 3  # kinds of view, by what moves a pixel: B_x w, B_y w, B w, (M, m)
EVERYWHERE = np.array([-(2**30), 2**30, -(2**30), 2**30], np.int64)  # a rectangle without an end


def kind_of(M: geometry.Floats, m: geometry.Floats) -> int:
    """Return the kind of a view."""
    if not geometry.is_planar(M, m):
        return GENERAL
    return ROW if m[1] == 0 else COLUMN if m[0] == 0 else PLANAR


def frames_of(scene: Scene) -> NDArray[np.int64]:
    """Return the rectangle of each target that counts: its first and last column, and its first and last row.

    It is the whole frame, unless the camera did not see all of it.
    """
    height, width = scene.shape
    frames = np.tile(np.array([0, width - 1, 0, height - 1], np.int64), (len(scene.baselines), 1))
    for t, seen in enumerate(scene.seen[1:] if scene.seen is not None else ()):
        frames[t] = seen_rectangle(seen)
    return frames


def coupled_frames(frames: NDArray[np.int64], choices: Choices) -> NDArray[np.int64]:
    """Return the rectangle of each target in which the disparity moves its pixels; `frames` are those that count."""
    return np.tile(EVERYWHERE, (len(frames), 1)) if choices.unseen == "coupled" else frames


def reference_seen(scene: Scene) -> NDArray[np.float32] | None:
    """Return 1 where the reference's camera saw something and 0 elsewhere; None if it saw everything."""
    if scene.seen is None or scene.seen[0].all():
        return None
    return scene.seen[0].astype(np.float32)


def seen_rectangle(seen: NDArray[np.bool_]) -> tuple[int, int, int, int]:
    """Return a large rectangle that was seen entirely: the first and last column, and the first and last row.

    As long as something in it was not seen, the side is moved in along which most was not.
    """
    sums = np.zeros((seen.shape[0] + 1, seen.shape[1] + 1), np.int64)  # of what was not seen, above and to the left
    np.cumsum(np.cumsum(~seen, axis=0, dtype=np.int64), axis=1, out=sums[1:, 1:])

    def unseen(left: int, right: int, top: int, bottom: int) -> float:
        there = sums[bottom, right] - sums[top, right] - sums[bottom, left] + sums[top, left]
        return float(there / max((right - left) * (bottom - top), 1))

    left, right, top, bottom = 0, seen.shape[1], 0, seen.shape[0]
    while left < right and top < bottom and unseen(left, right, top, bottom):
        sides = {
            (left + 1, right, top, bottom): unseen(left, left + 1, top, bottom),
            (left, right - 1, top, bottom): unseen(right - 1, right, top, bottom),
            (left, right, top + 1, bottom): unseen(left, right, top, top + 1),
            (left, right, top, bottom - 1): unseen(left, right, bottom - 1, bottom),
        }
        left, right, top, bottom = max(sides, key=lambda side: sides[side])
    return left, right - 1, top, bottom - 1


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


def order_of(baselines: NDArray[np.float64], closed: bool = False) -> Order:
    """Return the order of trust in views at these baselines; `closed` as in `model.floors`."""
    floors = model.floors(baselines, closed).astype(np.float32)
    ends = (model.nearness(baselines, closed) > 0).sum(axis=1)
    shares = [floors[k, k + 1 : end] for k, end in enumerate(ends)]
    starts = np.cumsum([0, *map(len, shares)])[:-1]
    memberships = np.ascontiguousarray(model.memberships(baselines, closed), np.float32)
    alone = ((memberships > 0).sum(axis=0) == 1) & (memberships.max(axis=0) == 1)
    return Order(
        memberships,
        np.where(alone, memberships.argmax(axis=0), -1),
        ends.astype(np.intp),
        starts.astype(np.intp),
        np.concatenate([*shares, np.zeros(1, np.float32)]),  # never empty
    )
