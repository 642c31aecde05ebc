"""Choose and order views by their baselines."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradcon.errors import InputError
from gradcon.scene.geometry import Floats
from gradcon.scene.numbers import shortly, whole_number

Views = str | int  # "all", "cross", "star" or the number of views


def choose_views(baselines: ArrayLike, which: Views) -> list[int]:
    """Choose targets by their baselines.

    Parameters
    ----------
    baselines : (T, 2) array
        The baselines of the targets.
    which : "all", "cross", "star" or int
        All targets; those in the reference's row and column; these and the diagonals; or the N nearest views.  N
        counts the reference too, as in "17 views".

    Returns
    -------
    list of int
        The indices of the chosen targets, in ascending order.
    """
    B = np.asarray(baselines, dtype=np.float64).reshape(-1, 2)
    on_axis = np.abs(B).min(axis=1) <= 1e-9 * np.abs(B).max(axis=1)
    on_diagonal = np.abs(np.abs(B[:, 0]) - np.abs(B[:, 1])) <= 1e-9 * np.abs(B).max(axis=1)
    which = checked_views(which)
    if which == "all":
        chosen = np.arange(len(B))
    elif which == "cross":
        chosen = np.flatnonzero(on_axis)
    elif which == "star":
        chosen = np.flatnonzero(on_axis | on_diagonal)
    else:
        assert isinstance(which, int)
        if which > len(B) + 1:
            raise InputError("views", f"{which} were asked for, but there are only {len(B) + 1}", "ask for fewer")
        chosen = np.sort(np.lexsort((_angle(B), _length(B)))[: which - 1])
    if len(chosen) == 0:
        raise InputError("views", f"none of the {len(B)} other views belongs to {which!r}", "try all")
    return [int(k) for k in chosen]


def checked_views(which: Views) -> Views:
    """Return a choice of views, a number as an integer; refuse what is none."""
    if isinstance(which, str) and which.isdecimal():
        which = int(which[:20])
    if isinstance(which, str) and which in ("all", "cross", "star"):
        return which
    number = whole_number(which)
    if number is not None and number >= 2:
        return number
    raise InputError(
        "views", f"{shortly(which)} is not a choice of views", "use cross, star, all or a number from 2 up"
    )


def spread(baselines: Floats, most: int) -> list[int]:
    """Choose at most `most` targets that are spread over the rig; return their indices in ascending order.

    Each is the one farthest from the reference and from those chosen before it.
    """
    if len(baselines) <= most:
        return list(range(len(baselines)))
    distance = np.hypot(*baselines.T)
    chosen: list[int] = []
    while len(chosen) < most:
        k = int(np.argmax(np.round(distance, 9)))
        chosen.append(k)
        distance = np.minimum(distance, np.hypot(*(baselines - baselines[k]).T))
    return sorted(chosen)


def canonical_order(M: Floats, m: Floats, B: Floats) -> NDArray[np.intp]:
    """Order views by the length of their baselines, then by their direction, nearest first."""
    ties = np.concatenate([M.reshape(len(M), 9), m], axis=1).T  # two rotated views may share a baseline
    return np.lexsort((*ties, _angle(B), _length(B)))


def _length(B: Floats) -> Floats:
    """Return lengths relative to the longest, so that equal ones compare equal in any unit."""
    lengths = np.hypot(*B.T)
    finite = lengths[np.isfinite(lengths)]  # a camera that looks elsewhere has no length, and sorts last
    return np.round(lengths / (finite.max(initial=0) or 1), 9)


def _angle(B: Floats) -> Floats:
    return np.round(np.arctan2(B[:, 1], B[:, 0]) % (2 * np.pi), 9)
