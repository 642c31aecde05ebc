"""A small copy of a scene's views, on which every disparity is tried.

It takes a fraction of the time of a run, and tells almost everything that can be known about a scene beforehand.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradcon import engines
from gradcon.arrays import to_host
from gradcon.engines.sweep import Views
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
    """Pixels of the reference, and what the targets show where they should see the same."""

    x: NDArray[np.float32]  # (N,)
    y: NDArray[np.float32]
    reference: NDArray[np.float32]  # (C, N), from 0 to 1
    targets: NDArray[np.float32]  # (T, C, N), NaN where a target or the reference's camera does not see the pixel


def sampled_rows_and_columns(shape: tuple[int, int], every: int = EVERY) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows and columns whose pixels are compared."""
    rows, columns = (np.arange(every // 2, n, every) for n in shape)
    return rows, columns


def matched(views: Views, disparity: NDArray[np.float32], every: int = EVERY) -> Matched:
    """Look up one of `every` pixels of the reference along each axis in all targets, by bilinear interpolation."""
    rows, columns = sampled_rows_and_columns(views.shape, every)
    y, x = (a.ravel().astype(np.float32) for a in np.meshgrid(rows, columns, indexing="ij"))
    w = disparity[np.ix_(rows, columns)].ravel()
    colours = to_host(views.colours).astype(np.float32) * np.float32(views.scale)
    reference = colours[0][:, rows][:, :, columns].reshape(colours.shape[1], -1)
    targets = np.stack([seen_at(image, x, y, w, e) for image, e in zip(colours[1:], views.epipoles, strict=True)])
    if views.known is not None:
        targets[..., ~views.known[np.ix_(rows, columns)].ravel()] = np.nan
    return Matched(x, y, reference, targets)


def seen_at(
    image: NDArray[np.float32], x: NDArray[Any], y: NDArray[Any], w: NDArray[np.float32], epipole: ArrayLike
) -> NDArray[np.float32]:
    """Return the colours (C, N) that a target shows of the pixels (x, y) of disparity w; NaN outside its frame."""
    height, width = image.shape[1:]
    e_x, e_y, e_z = (np.float32(e) for e in np.asarray(epipole))
    with np.errstate(divide="ignore", invalid="ignore"):
        z = 1 + e_z * w
        u, v = (x + e_x * w) / z, (y + e_y * w) / z
        inside = (z > 0) & (u >= 0) & (u <= width - 1) & (v >= 0) & (v <= height - 1)
    u, v = np.where(inside, u, 0), np.where(inside, v, 0)
    left, top = np.minimum(u.astype(np.int64), max(width - 2, 0)), np.minimum(v.astype(np.int64), max(height - 2, 0))
    right, below = np.minimum(left + 1, width - 1), np.minimum(top + 1, height - 1)
    p, q = (u - left).astype(np.float32), (v - top).astype(np.float32)
    upper = (1 - p) * image[:, top, left] + p * image[:, top, right]
    lower = (1 - p) * image[:, below, left] + p * image[:, below, right]
    return np.where(inside, (1 - q) * upper + q * lower, np.float32(np.nan))
