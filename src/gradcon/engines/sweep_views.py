"""The views of a scene as a sweep wants them: in arms, and turned so that only their places differ."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.arrays import module_of, to_device, to_host
from gradcon.engines.sweep import Views
from gradcon.scene import Scene, geometry
from gradcon.scene.shrink import blocks

DIRECTIONS = 8  # a full grid has an arm in each
REACH = 2  # pixels: of the interpolation beyond its place
HALF_WAY = 0.5  # from one direction to the next
CLOSE = 0.25  # of the widest gap: a narrower one is no place for a border
PIXELS_AT_ONCE, PIXELS_IN_CACHE = 2**20, 2**14  # that are averaged on a GPU, and on the host
LARGEST_EXACT = 256  # pixels of 8 bits, whose sum fits into 16


def views_of(scene: Scene, colour: bool = True, k: int = 1) -> Views:
    """Return the views of a scene, or small copies of them whose pixels are blocks of k x k; without `colour`, luma."""
    B = scene.baselines
    direction = directions_of(B)
    order = np.lexsort((np.hypot(*B.T), direction))
    arms = np.searchsorted(direction[order], [*np.unique(direction), DIRECTIONS])
    if colour:
        colours, scale = _averaged(scene.colours, k)[np.concatenate([[0], 1 + order])], scene.colour_scale
    else:
        luma = module_of(scene.colours).stack([scene.reference, *scene.targets[order]])
        colours, scale = _averaged(luma[:, None], k), 1.0
    S = _smaller(k)
    M = (S @ scene.M @ np.linalg.inv(S))[order]
    m = scene.m[order] @ S.T
    epipoles = np.asarray(np.linalg.solve(M, m[..., None])[..., 0], np.float64)
    known = None
    if scene.seen is not None:
        seen = _all_seen(scene.seen, k)[np.concatenate([[0], 1 + order])]
        colours, known = _with_gaps(colours, seen), seen[0]
    if not scene.is_planar:
        colours = _turned(colours, M)
    return Views(_grown(colours), scale, epipoles, arms.astype(np.int32), order, known)


def directions_of(baselines: geometry.Floats) -> NDArray[np.intp]:
    """Return the direction of each view, a number from 0 to 7: the views of one direction form an arm.

    The borders between directions lie half-way between axes and diagonals.  If there are views close to a border, which
    inexact baselines would push to either side, all borders move into the widest gap between the views.
    """
    angle = np.arctan2(baselines[:, 1], baselines[:, 0]) * DIRECTIONS / (2 * np.pi)
    places = np.unique(np.round(angle % 1, 9) % 1)  # of the views between two borders, which are 1 apart
    gaps = np.diff(places, append=places[0] + 1)
    usual = gaps[np.searchsorted(places, HALF_WAY) - 1]  # the gap that holds the usual border
    border = HALF_WAY
    if HALF_WAY in places or usual < CLOSE * gaps.max():
        widest = int(np.argmax(np.round(gaps, 6)))
        border = places[widest] + gaps[widest] / 2
    found: NDArray[np.intp] = np.floor(angle - border + 1).astype(np.intp) % DIRECTIONS
    return found


def _with_gaps(colours: Any, seen: NDArray[np.bool_]) -> Any:
    """Return the views as floats, where what the cameras of the targets did not see is NaN.

    The reference keeps its colours, which are compared with those of its neighbours.
    """
    xp = module_of(colours)
    gaps = colours.astype(np.float32)
    for view in np.flatnonzero(~seen.all(axis=(1, 2))):
        if view > 0:
            gaps[view] = xp.where(xp.asarray(seen[view]), gaps[view], np.float32(np.nan))
    return gaps


def _turned(colours: Any, M: geometry.Floats) -> Any:
    """Resample the targets so that what is infinitely far away lies where the reference sees it; NaN elsewhere."""
    from gradcon.engines.reference import sample_cubic  # it imports SciPy, which scenes of planar arrays need not

    images = to_host(colours)
    _, _, height, width = images.shape
    y, x = np.indices((height, width), dtype=np.float64)
    turned = np.empty(images.shape, np.float32)
    turned[0] = images[0]
    for t, matrix in enumerate(M, start=1):
        u, v, z = np.tensordot(matrix, np.stack([x, y, np.ones_like(x)]), axes=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            u, v = u / z, v / z
            seen = (z > 0) & (u >= 0) & (u <= width - 1) & (v >= 0) & (v <= height - 1)
        image = sample_cubic(images[t].astype(np.float64), np.where(seen, u, 0.0), np.where(seen, v, 0.0))
        turned[t] = np.where(seen, image, np.nan)
    return turned if module_of(colours) is np else to_device(turned)


def shrunk(views: Views, k: int) -> Views:
    """Return the views with blocks of k x k pixels averaged; disparities keep their unit."""
    known = _all_seen(views.known, k) if views.known is not None else None
    colours = _grown(_averaged(views.colours, k))
    return views._replace(colours=colours, epipoles=views.epipoles @ _smaller(k).T, known=known)


def _smaller(k: int) -> geometry.Floats:
    """Return the matrix that takes a pixel to the pixel of a small copy; its centre is the centre of a block."""
    return np.array([[1 / k, 0, (1 / k - 1) / 2], [0, 1 / k, (1 / k - 1) / 2], [0, 0, 1]])


def _grown(colours: Any) -> Any:
    """Return the views with the pixels next to a gap continued into it, as far as interpolation reaches.

    Otherwise, a view would not count within two pixels of its gaps, which often run along the whole frame.
    """
    xp = module_of(colours)
    if colours.dtype.kind == "f":
        for view in range(len(colours)):
            gap = xp.isnan(colours[view, :1])
            if gap.any():
                for _ in range(REACH):
                    colours[view] = xp.where(gap, _means_around(colours[view]), colours[view])
                    gap = xp.isnan(colours[view, :1])
    return colours


def _means_around(image: Any) -> Any:
    """Return the mean of the known pixels in the 3 x 3 pixels around each one; NaN where there are none."""
    xp, (_, height, width) = module_of(image), image.shape
    around = xp.pad(image, ((0, 0), (1, 1), (1, 1)), constant_values=np.nan)
    known = ~xp.isnan(around)
    total, count = xp.zeros_like(image), xp.zeros_like(image)
    for y, x in product(range(3), range(3)):
        near = np.s_[:, y : y + height, x : x + width]
        total += xp.where(known[near], around[near], np.float32(0))
        count += known[near]
    return xp.where(count > 0, total / xp.maximum(count, 1), np.float32(np.nan))


def _all_seen(seen: NDArray[np.bool_], k: int) -> NDArray[np.bool_]:
    """Return the blocks of k x k pixels that were seen entirely."""
    return np.asarray(blocks(seen, k).all(axis=(-3, -1)))


def _averaged(colours: Any, k: int) -> Any:
    """Return the views with blocks of k x k pixels averaged."""
    if k == 1:
        return colours
    xp, dtype = module_of(colours), colours.dtype
    count, channels, height, width = (n // d for n, d in zip(colours.shape, (1, 1, k, k), strict=True))
    small = xp.empty((count, channels, height, width), dtype)
    group = max(1, (PIXELS_IN_CACHE if xp is np else PIXELS_AT_ONCE) // (height * width))
    for first in range(0, count, group):  # not all at once, because the sums take more memory
        views = colours[first : first + group, ..., : k * height, : k * width]
        sums = xp.zeros((len(views), channels, height, width), np.float32)
        if dtype == np.uint8 and k <= LARGEST_EXACT:  # then the order does not matter, and whole rows are faster
            rows = views[..., ::k, :].astype(np.uint16)
            for y in range(1, k):
                rows += views[..., y::k, :]
            for x in range(k):
                sums += rows[..., x::k]
        else:
            for y, x in product(range(k), range(k)):
                sums += views[..., y::k, x::k]
        sums /= k * k
        small[first : first + group] = sums if dtype.kind == "f" else xp.rint(sums)
    return small
