"""Bring the map of one view into another one: what is in front hides what is behind."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcon.arrays import module_of, on_device
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
    xp = module_of(w)
    least = xp.full_like(w, np.inf)
    for turned, back in ((w, least), (w[:, ::-1], least[:, ::-1]), (w.T, least.T), (w.T[:, ::-1], least.T[:, ::-1])):
        before = _latest(turned)
        back[...] = xp.where(xp.isnan(before), back, xp.minimum(back, before))
    least = xp.where(xp.isfinite(least), least, np.float32(0))
    return xp.where(xp.isnan(w), least, w).astype(np.float32)


def _latest(w: Any) -> Any:
    """Return the last known value at or before each pixel of a row; NaN if there is none."""
    xp = module_of(w)
    columns = xp.where(xp.isnan(w), 0, xp.arange(w.shape[1]))
    if xp is np:
        latest = np.maximum.accumulate(columns, axis=1)
    else:  # CuPy's ufuncs do not accumulate
        latest, step = columns, 1
        while step < w.shape[1]:
            latest[:, step:] = xp.maximum(latest[:, step:], latest[:, :-step].copy())
            step *= 2
    return xp.take_along_axis(w, latest, axis=1)
