"""Which views disagree with the others, and by how much views are out of place."""

from __future__ import annotations

from functools import cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradcon.arrays import on_device, to_host
from gradcon.engines.sweep import Views
from gradcon.methods.look.gains import FLAT, Compared, best_fitting, fitted
from gradcon.methods.look.small_copy import EVERY, matched, places, sampled

ODD = 3.0  # times the usual residual makes a view odd
USUAL = 0.004  # the least that counts as usual
SUSPECT, SUSPECTS = 1.2, 5  # times the median, and how many such views: an exchanged pair is looked for among them
CLEARLY = 1.4  # by this factor both of them must agree better in the place of the other
KEPT, FITS = 0.8, 3  # the share of pixels that fit best is fitted again
FEWEST = 64  # pixels that tell where a view lies
RIDGE = 1e-6
UNRELATED = 0.55  # of the difference between any two pixels; related views, however noisy, have stayed below 0.49


def identical(views: Views) -> bool:
    """Return whether all views show the same image."""
    return bool((views.colours[1:] == views.colours[:1]).all())


def unrelated(compared: Compared) -> bool:
    """Return whether the views agree at no disparity: hardly better than any two pixels of the reference do."""
    reference = to_host(compared.pixels.reference)
    others = np.random.default_rng(0).permutation(reference.shape[1])
    known = compared.residuals[np.isfinite(compared.residuals)]
    if not known.size:
        return False
    contrast = float(np.abs(reference - reference[:, others]).mean())
    return float(np.median(known)) > UNRELATED * max(contrast, USUAL)


class Odd(NamedTuple):
    """Views that disagree with all others, and pairs that were exchanged, as indices of targets."""

    views: list[int]
    exchanged: list[tuple[int, int]]


def odd_views(views: Views, compared: Compared) -> Odd:
    """Find the views that differ from the reference much more than others do, and why if two were exchanged."""
    residuals = np.nan_to_num(compared.residuals)
    known = compared.residuals[np.isfinite(compared.residuals)]
    median = float(np.median(known)) if known.size else np.inf
    worst = [t for t in np.argsort(-residuals, kind="stable")[:SUSPECTS].tolist() if residuals[t] > SUSPECT * median]
    exchanged = [pair for pair in combinations(sorted(worst), 2) if _fit_exchanged(views, compared, pair)]
    limit = ODD * max(USUAL, median)
    odd = np.flatnonzero((residuals > limit) | _blank(compared)).tolist()
    return Odd([t for t in odd if not any(t in pair for pair in exchanged)], exchanged)


def _blank(compared: Compared) -> NDArray[np.bool_]:
    """Return which views show nothing, although the reference does."""
    flat = to_host(compared.pixels.seen.any(axis=1)) & (compared.fitted.contrast < FLAT)
    return flat & bool(flat.any() and compared.pixels.reference.std(axis=1).max() >= FLAT)


def _fit_exchanged(views: Views, compared: Compared, pair: tuple[int, int]) -> bool:
    """Return whether two views agree clearly better with the reference if each stands in the place of the other."""
    if np.allclose(*views.epipoles[list(pair)]):
        return False
    colours = views.colours[[0, *(1 + t for t in pair)]]
    two = views._replace(colours=colours, epipoles=views.epipoles[list(reversed(pair))])
    exchanged = fitted(matched(two, compared.copy.swept.w)).residuals
    return bool((exchanged * CLEARLY < compared.residuals[list(pair)]).all())


class Motion(NamedTuple):
    """By how much targets lie beside the place where they should: a shift, a turn and a zoom around the middle."""

    shift: NDArray[np.float64]  # (T, 2), pixels
    turn: NDArray[np.float64]  # (T,), radians
    zoom: NDArray[np.float64]  # (T,)
    remaining: NDArray[np.float64]  # (T,): the share of the difference to the reference that remains without it

    def matrices(self, shape: tuple[int, int]) -> NDArray[np.float64]:
        """Return the matrices (T, 3, 3) that take the place where a pixel should be seen to where it is seen."""
        A = np.tile(np.eye(3), (len(self.turn), 1, 1))
        A[:, 0, 0] = A[:, 1, 1] = 1 + self.zoom
        A[:, 1, 0], A[:, 0, 1] = self.turn, -self.turn
        middle = np.array([(shape[1] - 1) / 2, (shape[0] - 1) / 2])
        A[:, :2, 2] = self.shift + middle - A[:, :2, :2] @ middle
        return A


class Agreement:
    """How well the views of a small copy agree, each found out when it is first asked for, and only once."""

    def __init__(self, compared: Compared) -> None:
        self.views, self.compared = compared.copy.views, compared

    @cached_property
    def odd(self) -> Odd:
        return odd_views(self.views, self.compared)

    @cached_property
    def motion(self) -> Motion:
        return displacements(self.views, self.compared)


def displacements(views: Views, compared: Compared) -> Motion:
    """Find by least squares how each target must be moved to agree with the reference."""
    length = float(np.hypot(*views.shape)) / 4  # a turn or a zoom by 1 / length moves pixels there by 1
    pixels = compared.pixels
    if on_device(pixels.targets):
        from gradcon.engines.cuda import comparison

        sample = comparison.Sample(*pixels)
        found = comparison.fit_motion(sample, views, EVERY, compared.gains, FITS, KEPT, RIDGE, length)
        moves, before, after, seen = found
    else:
        moves, before, after, seen = _moved_on_host(views, compared, length)
    enough, scale = seen >= FEWEST, np.array([1, 1, length, length])
    moves = np.where(enough[:, None], moves / scale, 0)
    remaining = np.where(enough, after / np.maximum(before, RIDGE), 1)
    return Motion(moves[:, :2], moves[:, 2], moves[:, 3], remaining)


def _moved_on_host(views: Views, compared: Compared, length: float) -> tuple[NDArray[np.float64], ...]:
    """Return the moves of each target (T, 4), the differences without and with them, and the number of pixels seen."""
    pixels = compared.pixels
    gain, offset = (part[:, :, None].astype(np.float32) for part in compared.gains)
    difference = (pixels.targets - offset) / gain - pixels.reference
    A = _slopes(views, length)
    squares, kept = (A[:, None] * A).sum(axis=2).reshape(16, -1).T, pixels.seen
    for _ in range(FITS):
        share = kept.astype(np.float32)
        normal = (share @ squares).astype(np.float64).reshape(-1, 4, 4) + RIDGE * np.eye(4)
        right = (difference * share[:, None]).reshape(len(difference), -1) @ A.reshape(4, -1).T
        found = -np.linalg.solve(normal, right.astype(np.float64)[:, :, None])[:, :, 0]
        moved = (found.astype(np.float32) @ A.reshape(4, -1)).reshape(difference.shape)
        rest = np.abs(difference + moved).mean(axis=1)
        kept = best_fitting(rest, pixels.seen, KEPT)
    before = (np.abs(difference).mean(axis=1) * kept).sum(axis=1)
    return found, before, (rest * kept).sum(axis=1), pixels.seen.sum(axis=1)


def _slopes(views: Views, length: float) -> NDArray[np.float32]:
    """Return how a shift along x and y, a turn and a zoom change the reference, (4, C, N)."""
    reference = views.colours[0].astype(np.float32) * np.float32(views.scale)
    down, across = (_slope(reference, axis)[:, sampled(), sampled()].reshape(len(reference), -1) for axis in (1, 2))
    (height, width), (x, y) = views.shape, places(views.shape)
    x, y = (x - np.float32((width - 1) / 2)) / length, (y - np.float32((height - 1) / 2)) / length
    return np.stack([across, down, x * down - y * across, x * across + y * down]).astype(np.float32)


def _slope(image: NDArray[np.float32], axis: int) -> NDArray[np.float32]:
    """Return the derivative along an axis; 0 if there is only one pixel."""
    return np.gradient(image, axis=axis) if image.shape[axis] > 1 else np.zeros_like(image)
