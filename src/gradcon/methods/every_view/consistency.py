"""Decide between what a view's map says about a pixel and what the maps of other views say in its place.

A plain vote would lose edges, because all maps have them a little too wide.  Two kinds of contradiction are told
apart instead.  A disparity that other views look through is refuted, and each such view counts twice.  One that a
nearer surface hides from a view is merely not seen there, and loses nothing.  So a foreground that is too wide gives
way to the background beside it, and a background that is hidden in most views stays.

Maps of other views can also share an error, such as a reflection on a floor.  So a correction may only move an edge: to
a disparity that the map itself shows a few pixels away, and that most of the other maps confirm.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gradcon.arrays import filters_of, module_of
from gradcon.methods.every_view.evidence import LEAST, Evidence, Witness, evidence, evidence_of_map
from gradcon.methods.every_view.relations import Map
from gradcon.methods.sweep.known_map import moved_edges

CONTESTED = 0.25  # of the witnesses: pixels whose balance is not above that are decided anew
REFUTED = 2.0  # views that confirm a disparity, which one view that looks through it outweighs
MOST = 0.7  # of the witnesses, which must confirm what a pixel is corrected to
CANDIDATE = 0.2  # pixels of the farthest view: the largest deviation that a contested disparity is judged with
NEIGHBOURS = 1.0  # pixels: the Gaussian that the expected squared errors are averaged with
BESIDE = 5  # pixels within which the map itself must show a disparity that it is corrected to


class Decided(NamedTuple):
    """A map that has been compared with others."""

    w: Map
    changed: Any  # which pixels have another surface now


def settled(w: Map, deviation: Map, claims: Sequence[Map], witnesses: Sequence[Witness], pixel: float) -> Decided:
    """Average each pixel with the maps that confirm it, and decide anew where most of them do not.

    Parameters
    ----------
    w, deviation : Map
        The map, with its predicted deviation.
    claims : sequence of Map
        Other maps, carried into this view.
    witnesses : sequence of Witness
    pixel : float
        The disparity that moves a surface by one pixel in the farthest view.
    """
    xp = module_of(w)
    seen = evidence_of_map(w, deviation, witnesses, pixel)
    new = seen.mean
    rows, columns = xp.nonzero(seen.balance <= xp.float32(CONTESTED) * seen.witnesses)
    changed = xp.zeros(w.shape, bool)
    least, _, most = (end[rows, columns] for end in moved_edges(w, BESIDE))
    candidates = xp.stack([part[rows, columns] for part in (w, *claims)])
    beside = (candidates >= least - LEAST * pixel) & (candidates <= most + LEAST * pixel)
    candidates = xp.where(beside, candidates, np.float32(np.nan))
    spread = xp.minimum(deviation[rows, columns], np.float32(CANDIDATE * pixel))
    best, value = _best(rows, columns, candidates, spread, witnesses, pixel, most=MOST)
    other = best > 0
    new[rows[other], columns[other]] = value[other]
    changed[rows[other], columns[other]] = True
    return Decided(new, changed)


def merged(claims: Sequence[Map], witnesses: Sequence[Witness], pixel: float) -> Map:
    """Merge maps that were carried into a view without a map of its own; NaN where none of them shows anything."""
    xp = module_of(claims[0])
    stack = xp.stack(list(claims))
    known = ~xp.isnan(stack)
    low, high = xp.where(known, stack, np.inf).min(axis=0), xp.where(known, stack, -np.inf).max(axis=0)
    count = known.sum(axis=0)
    mean = xp.where(known, stack, 0).sum(axis=0) / xp.maximum(count, 1)
    new = xp.where(count > 0, mean, np.nan).astype(np.float32)
    rows, columns = xp.nonzero((count > 1) & (high - low > LEAST * pixel))
    candidates = stack[:, rows, columns]
    spread = xp.full(rows.shape, CANDIDATE / 4 * pixel, np.float32)
    _, value = _best(rows, columns, candidates, spread, witnesses, pixel)
    new[rows, columns] = value
    return new


def _best(
    rows: Any, columns: Any, candidates: Any, spread: Any, witnesses: Sequence[Witness], pixel: float, most: float = 0.0
) -> tuple[Any, Any]:
    """Return the index of the best of several disparities for each pixel, and its mean with those that confirm it.

    Those that are NaN have no chance, nor have those but the first that less than a share of `most` confirms.
    """
    xp = module_of(candidates)
    known = ~xp.isnan(candidates)
    y, x = rows.astype(np.float32)[None], columns.astype(np.float32)[None]
    seen = evidence(x, y, xp.where(known, candidates, 0), spread[None], witnesses, pixel)
    score = seen.confirming - np.float32(REFUTED) * seen.contradicting
    known[1:] &= seen.confirming[1:] >= np.float32(most) * seen.witnesses[1:]
    best = xp.where(known, score, -np.inf).argmax(axis=0)
    return best, xp.take_along_axis(seen.mean, best[None], axis=0)[0]


def unknown(seen: Evidence) -> Any:
    """Return which pixels nobody can vouch for: more views contradict them than confirm them, or none has them."""
    return (seen.balance < 0) | (seen.witnesses == 0)


def surer(deviation: Map, seen: Evidence) -> Map:
    """Return the deviation after the other views have been heard.

    The share of the views that confirm a pixel tells more than any of them alone.  A view that a nearer surface hides
    the pixel from counts half: such pixels stand beside depth jumps, where most errors are.  A wrong pixel may look
    sure of itself, but then its neighbours do not, so the expected squared errors are averaged over them.
    """
    share = (1 + seen.confirming) / (1 + seen.confirming + seen.contradicting + seen.hidden / 2)
    own = deviation / (share * share)
    around = filters_of(own).gaussian_filter(own * own, NEIGHBOURS, mode="nearest")
    return module_of(own).sqrt(around).astype(np.float32)
