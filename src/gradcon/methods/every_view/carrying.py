"""Bring the map of one view into another one: what is in front hides what is behind."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gradcon.arrays import on_device
from gradcon.methods.every_view.relations import Map, Relation


def carried(w: Map, relation: Relation) -> Map:
    """Return what a map shows in another view, NaN where it shows nothing; `relation` is that view's to the map's."""
    if on_device(w):
        from gradcon.engines.cuda import surfaces

        return surfaces.carried(w, surfaces.Place(*relation))
    height, width = w.shape
    y, x = np.indices(w.shape, dtype=np.float32)
    u, v, there, ahead = relation.seen(x, y, w)
    inside = ahead & (u > -0.5) & (u < width - 0.5) & (v > -0.5) & (v < height - 0.5)
    places = np.rint(v[inside]).astype(np.int64) * width + np.rint(u[inside]).astype(np.int64)
    front = np.full(height * width, -np.inf, np.float32)
    np.maximum.at(front, places, there[inside].astype(np.float32))
    return np.where(np.isfinite(front), front, np.float32(np.nan)).reshape(w.shape)


def filled(w: Map) -> Map:
    """Return the map with the farthest of the nearest values to the left, right, above and below in its holes.

    What no other view sees lies behind what hides it.  A map without any value becomes 0.
    """
    if on_device(w):
        from gradcon.engines.cuda import surfaces

        return surfaces.filled(w)
    least = np.full_like(w, np.inf)
    for turned, back in ((w, least), (w[:, ::-1], least[:, ::-1]), (w.T, least.T), (w.T[:, ::-1], least.T[:, ::-1])):
        before = _latest(turned)
        back[...] = np.where(np.isnan(before), back, np.minimum(back, before))
    least = np.where(np.isfinite(least), least, np.float32(0))
    return np.where(np.isnan(w), least, w).astype(np.float32)


def _latest(w: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the last known value at or before each pixel of a row; NaN if there is none."""
    columns = np.where(np.isnan(w), 0, np.arange(w.shape[1]))
    return np.take_along_axis(w, np.maximum.accumulate(columns, axis=1), axis=1)
