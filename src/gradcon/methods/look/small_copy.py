"""A small copy of a scene's views, on which every disparity is tried.

It takes a fraction of the time of a run, and tells almost everything that can be known about a scene beforehand.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradcon import engines
from gradcon.arrays import beside, on_device
from gradcon.engines.sweep import Map, Views
from gradcon.methods.sweep import settings
from gradcon.methods.sweep.labels import Labels, whole_range
from gradcon.methods.sweep.noise import noise_level
from gradcon.methods.sweep.passes import Level, Swept

EVERY = 3  # of the copy's pixels along each axis, views are compared at one


class SmallCopy(NamedTuple):
    """What the first pass of a sweep finds on a small copy."""

    views: Views
    tried: Labels
    swept: Swept


def searched(views: Views, engine: str) -> SmallCopy:
    """Try every disparity within reach on small views."""
    sweep = engines.create_sweep(engine, views)
    tried = whole_range(sweep, settings.FIRST.step)
    return SmallCopy(views, tried, Level(sweep, noise_level(sweep, tried)).search(settings.FIRST, tried))


class Matched(NamedTuple):
    """Pixels of the reference, and what the targets show where they should see the same, in the views' memory."""

    reference: Any  # (C, N), from 0 to 1
    targets: Any  # (T, C, N), 0 where a target does not see the pixel
    seen: Any  # (T, N) bool: whether a target, and the reference's camera, see the pixel


def sampled(every: int = EVERY) -> slice:
    """Return which rows, or columns, are compared."""
    return slice(every // 2, None, every)


def places(shape: tuple[int, int], every: int = EVERY) -> tuple[Any, Any]:
    """Return the x and y of the pixels that are compared, (N,) float32."""
    rows, columns = (np.arange(n, dtype=np.float32)[sampled(every)] for n in shape)
    y, x = (axis.ravel() for axis in np.meshgrid(rows, columns, indexing="ij"))
    return x, y


def matched(views: Views, disparity: Map, every: int = EVERY) -> Matched:
    """Look up one of `every` pixels of the reference along each axis in all targets, by bilinear interpolation."""
    w = beside(disparity, views.colours)
    if on_device(w):
        from gradcon.engines.cuda import comparison

        return Matched(*comparison.matched(views, w, every))
    which = sampled(every)
    colours = views.colours[0, :, which, which]
    reference = colours.reshape(len(colours), -1).astype(np.float32) * np.float32(views.scale)
    at = w[which, which].ravel()
    targets = seen_at(views.colours[1:], *places(views.shape, every), at, views.epipoles) * np.float32(views.scale)
    seen = np.isfinite(targets[:, 0])
    if views.known is not None:
        seen &= views.known[which, which].ravel()
    return Matched(reference, np.where(seen[:, None], targets, np.float32(0)), seen)


def seen_at(images: Any, x: Any, y: Any, w: Any, epipoles: NDArray[np.float64]) -> Any:
    """Return what targets (T, C, height, width) show of the pixels (x, y) of disparity w, (T, C, N).

    It is NaN outside a target's frame.
    """
    e_x, e_y, e_z = epipoles.T[:, :, None].astype(np.float32)
    with np.errstate(divide="ignore", invalid="ignore"):
        z = 1 + e_z * w
        u, v = (np.where(z > 0, (a + e * w) / z, np.float32(-1)) for a, e in ((x, e_x), (y, e_y)))
    return np.moveaxis(interpolated(images, np.arange(len(images))[:, None], u, v), -1, 1)


def interpolated(images: Any, which: Any, u: Any, v: Any) -> Any:
    """Return the colours, along a last axis, that images (T, C, height, width) show at (u, v), bilinearly.

    `which` says for each place in which image it is.  Outside an image, colours are NaN.
    """
    height, width = images.shape[2:]
    inside = (u >= 0) & (u <= width - 1) & (v >= 0) & (v <= height - 1)
    u, v = np.where(inside, u, 0), np.where(inside, v, 0)
    left, top = np.minimum(u.astype(np.int64), max(width - 2, 0)), np.minimum(v.astype(np.int64), max(height - 2, 0))
    right, below = np.minimum(left + 1, width - 1), np.minimum(top + 1, height - 1)
    p, q = ((a - whole).astype(np.float32)[..., None] for a, whole in ((u, left), (v, top)))
    upper, lower = ((1 - p) * images[which, :, row, left] + p * images[which, :, row, right] for row in (top, below))
    return np.where(inside[..., None], (1 - q) * upper + q * lower, np.float32(np.nan))
