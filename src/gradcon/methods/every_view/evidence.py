"""Look pixels up in the maps of other views, which confirm them, contradict them, or cannot see them.

A pixel of disparity w is a point in space.  Another view sees that point at some place, and its own map says which
surface it sees there:

    the same one        the view confirms the pixel
    a nearer one        that surface hides the point from the view, which is no contradiction
    a farther one       the view looks through the point, so it contradicts: nothing can be there

"The same" allows for the predicted deviations of both maps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gradcon.arrays import module_of, on_device
from gradcon.methods.every_view.relations import Map, Relation

DEVIATIONS = 3.0  # by so many predicted deviations two maps may differ and still agree,
MOST = 0.4  # but beside edges, where deviations are large, by no more pixels of the farthest view than that,
LEAST = 0.08  # and everywhere by so many
ROWS = 32  # that are looked up at a time, so that they stay in the cache


class Witness(NamedTuple):
    """Another view: where it sees the pixels of this one, and its map."""

    relation: Relation
    w: Map
    deviation: Map


class Evidence(NamedTuple):
    """What the other views say about some pixels."""

    confirming: Any  # numbers of views
    contradicting: Any
    hidden: Any  # how many views a nearer surface hides the pixel from
    mean: Any  # of the disparity and those of the views that confirm it

    @property
    def balance(self) -> Any:
        """By how many views more the pixel is confirmed than contradicted."""
        return self.confirming - self.contradicting

    @property
    def witnesses(self) -> Any:
        """How many views have the pixel inside their frame."""
        return self.confirming + self.contradicting + self.hidden


def evidence(x: Any, y: Any, w: Any, deviation: Any, witnesses: Sequence[Witness], pixel: float) -> Evidence:
    """Look up the pixels (x, y) of disparity w; `pixel` is the disparity of one pixel of the farthest view."""
    if on_device(w):
        return _on_device(x, y, w, deviation, witnesses, pixel)
    confirming, contradicting, hidden = (np.zeros(w.shape, np.float32) for _ in range(3))
    total = w.astype(np.float32)
    variance = deviation * deviation
    for witness in witnesses:
        height, width = witness.w.shape
        u, v, expected, ahead = witness.relation.seen(x, y, w)
        inside = ahead & (u > -0.5) & (u < width - 0.5) & (v > -0.5) & (v < height - 0.5)
        row, column = (np.rint(np.where(inside, at, 0)).astype(np.int32) for at in (v, u))
        places = row * width + column
        found, spread = witness.w.ravel()[places], witness.deviation.ravel()[places]
        reach = np.float32(DEVIATIONS) * np.sqrt(variance + spread * spread)
        reach = np.minimum(reach, np.float32(MOST * pixel)) + np.float32(LEAST * pixel)
        ahead_of = found - expected
        confirms = inside & (np.abs(ahead_of) <= reach)
        confirming += confirms
        contradicting += inside & (ahead_of < -reach)
        hidden += inside & (ahead_of > reach)
        total += np.where(confirms, w + ahead_of, 0)
    return Evidence(confirming, contradicting, hidden, total / (1 + confirming))


def _on_device(x: Any, y: Any, w: Any, deviation: Any, witnesses: Sequence[Witness], pixel: float) -> Evidence:
    from gradcon.engines.cuda import surfaces

    xp = module_of(w)
    pixels = [xp.ascontiguousarray(xp.broadcast_to(part, w.shape), np.float32) for part in (x, y, w, deviation)]
    others = [(surfaces.Place(*witness.relation), witness.w, witness.deviation) for witness in witnesses]
    return Evidence(*surfaces.evidence(pixels, others, DEVIATIONS, MOST * pixel, LEAST * pixel))


def evidence_of_map(w: Map, deviation: Map, witnesses: Sequence[Witness], pixel: float) -> Evidence:
    """Look up all pixels of a map."""
    xp = module_of(w)
    height, width = w.shape
    rows = ROWS if xp is np else height
    x = xp.arange(width, dtype=np.float32)[None]
    parts = [
        evidence(
            x,
            xp.arange(top, min(top + rows, height), dtype=np.float32)[:, None],
            w[top : top + rows],
            deviation[top : top + rows],
            witnesses,
            pixel,
        )
        for top in range(0, height, rows)
    ]
    return Evidence(*(xp.concatenate(part) for part in zip(*parts, strict=True)))
