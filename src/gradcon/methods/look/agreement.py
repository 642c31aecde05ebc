"""Which views disagree with the others, and by how much views are out of place."""

from __future__ import annotations

from functools import cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradcon.arrays import to_host
from gradcon.engines.sweep import Views
from gradcon.methods.look.gains import FLAT, Compared, best_fitting, fitted
from gradcon.methods.look.small_copy import Matched, matched, sampled_rows_and_columns

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
    reference = compared.pixels.reference
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
    odd = np.flatnonzero((residuals > limit) | _blank(compared.pixels)).tolist()
    return Odd([t for t in odd if not any(t in pair for pair in exchanged)], exchanged)


def _blank(pixels: Matched) -> NDArray[np.bool_]:
    """Return which views show nothing, although the reference does."""
    seen = (target[:, np.isfinite(target[0])] for target in pixels.targets)
    flat = np.array([part.size > 0 and part.std(axis=1).max() < FLAT for part in seen])
    reference = pixels.reference  # without any pixel if the views are too small to be sampled
    return flat & bool(reference.size and reference.std(axis=1).max() >= FLAT)


def _fit_exchanged(views: Views, compared: Compared, pair: tuple[int, int]) -> bool:
    """Return whether two views agree clearly better with the reference if each stands in the place of the other."""
    if np.allclose(*views.epipoles[list(pair)]):
        return False
    colours = views.colours[[0, *(1 + t for t in pair)]]
    two = views._replace(colours=colours, epipoles=views.epipoles[list(reversed(pair))])
    exchanged = fitted(matched(two, to_host(compared.copy.swept.w)))[1]
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
    pixels, gains = compared.pixels, compared.gains
    height, width = views.shape
    J = _slopes(views, pixels)
    scale = np.array([1, 1, np.hypot(height, width) / 4, np.hypot(height, width) / 4])  # so that all are pixels
    found, remaining = np.zeros((len(pixels.targets), 4)), np.ones(len(pixels.targets))
    for t, target in enumerate(pixels.targets):
        seen = kept = np.flatnonzero(np.isfinite(target[0]))
        if len(seen) < FEWEST:
            continue
        difference = (target - gains.offset[t][:, None]) / gains.gain[t][:, None] - pixels.reference
        for _ in range(FITS):
            A = J.take(kept, axis=2).reshape(4, -1) / scale[:, None]
            found[t] = -np.linalg.solve(A @ A.T + RIDGE * np.eye(4), A @ difference.take(kept, axis=1).ravel()) / scale
            rest = np.abs(difference + np.tensordot(found[t], J, axes=1)).mean(axis=0)
            kept = seen[best_fitting(rest[seen], KEPT)]
        before = float(np.abs(difference.take(kept, axis=1)).mean(axis=0).sum())
        remaining[t] = rest[kept].sum() / max(before, RIDGE)
    return Motion(found[:, :2], found[:, 2], found[:, 3], remaining)


def _slopes(views: Views, pixels: Matched) -> NDArray[np.float64]:
    """Return how a shift along x and y, a turn and a zoom change the reference, (4, C, N)."""
    rows, columns = sampled_rows_and_columns(views.shape)
    reference = to_host(views.colours[0]).astype(np.float64) * views.scale
    down, across = (_slope(reference, axis)[:, rows][:, :, columns] for axis in (1, 2))
    down, across = (part.reshape(len(part), -1) for part in (down, across))
    height, width = views.shape
    x, y = pixels.x - (width - 1) / 2, pixels.y - (height - 1) / 2
    return np.stack([across, down, x * down - y * across, x * across + y * down])


def _slope(image: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    """Return the derivative along an axis; 0 if there is only one pixel."""
    return np.gradient(image, axis=axis) if image.shape[axis] > 1 else np.zeros_like(image)
