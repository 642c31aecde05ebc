"""How bright each view is, compared with the reference.

The cameras of an array differ in exposure and white balance.  A target shows gain * I + offset of what the reference
shows as I, channel by channel.  Both follow from pixels that a small copy matched: the gain is the ratio of the
standard deviations, which wrong matches change alike in both views, where a regression would underestimate it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradcon.arrays import to_host
from gradcon.engines.sweep import Views
from gradcon.methods.look.small_copy import Matched, SmallCopy, matched, searched
from gradcon.scene.compensation import compensated_colours

FITS, KEPT = 4, 0.8  # the share of pixels that fit best is fitted again
FLAT = 1e-3  # a view that varies less than this shows nothing
LARGEST = 8.0  # gain that is compensated
STRIKING = 0.04  # difference of mean brightness that is compensated before views are matched
SETTLED = 0.004  # change of brightness between two rounds that no longer matters
ROUNDS = 3
FEWEST = 64  # matched pixels that tell a gain
NOTICEABLE = 0.006  # difference of brightness that is worth compensating; interpolation alone makes 0.005


Pixels = NDArray[np.float32]  # (N, C)


class Gains(NamedTuple):
    """The gain and offset of each target and channel, (T, C)."""

    gain: NDArray[np.float64]
    offset: NDArray[np.float64]

    @classmethod
    def none(cls, shape: tuple[int, int]) -> Gains:
        return cls(np.ones(shape), np.zeros(shape))

    def effect(self, brightness: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return by how much each target is brighter than the reference, at the reference's brightness (C,)."""
        return (self.gain - 1) * brightness + self.offset


class Compared(NamedTuple):
    """The small copy, how its views differ in brightness, and how well they agree apart from that."""

    copy: SmallCopy
    pixels: Matched  # of the views as they are given
    gains: Gains
    noticeable: bool  # whether the gains are worth compensating
    residuals: NDArray[np.float64]  # (T,): the mean difference to the reference, of the pixels that fit best


def compare(views: Views, engine: str) -> Compared:
    """Match the views of a small copy, and find their gains."""
    brightness, gains = _striking(views)
    for _ in range(ROUNDS):
        colours, scale = compensated_colours(views.colours, views.scale, *gains) if gains else views[:2]
        copy = searched(views._replace(colours=colours, scale=scale), engine)
        pixels = matched(views, to_host(copy.swept.w))
        found, residuals = fitted(pixels)
        change = found.effect(brightness) - (gains.effect(brightness) if gains else 0)
        if np.abs(change).max() < SETTLED:
            break
        gains = found
    noticeable = bool(np.abs(found.effect(brightness)).max() > NOTICEABLE)
    return Compared(copy, pixels, found, noticeable, residuals)


def fitted(pixels: Matched) -> tuple[Gains, NDArray[np.float64]]:
    """Return the gains of the targets, and the mean difference that remains at the pixels that fit best."""
    gains, reference = Gains.none(pixels.targets.shape[:2]), pixels.reference.T
    residuals = np.full(len(pixels.targets), np.nan)
    for t, target in enumerate(pixels.targets):
        seen = np.flatnonzero(np.isfinite(target[0]))
        if len(seen) >= FEWEST:
            both = reference.take(seen, axis=0), target.T.take(seen, axis=0)
            gains.gain[t], gains.offset[t], residuals[t] = _fit(*both)
    return gains, residuals


def _fit(reference: Pixels, target: Pixels) -> tuple[Any, Any, float]:
    """Return the gain and offset of each channel, and the mean difference of the pixels that fit best."""
    kept_reference, kept_target = reference, target
    for _ in range(FITS):
        mean, spread = zip(*(_mean_and_spread(kept) for kept in (kept_reference, kept_target)), strict=True)
        # A blank view has no gain: it is odd.
        gain = np.where(np.minimum(*spread) > FLAT, spread[1] / np.maximum(spread[0], FLAT), 1.0)
        gain = np.clip(gain, 1 / LARGEST, LARGEST)
        offset = mean[1] - gain * mean[0]
        difference = np.abs((target - offset) / gain - reference).mean(axis=1)
        best = best_fitting(difference, KEPT)
        kept_reference, kept_target = reference.take(best, axis=0), target.take(best, axis=0)
    return gain, offset, float(difference[best].mean())


def _mean_and_spread(pixels: Pixels) -> tuple[Any, Any]:
    """Return the mean and the standard deviation of each channel; NumPy's `std` would compute the mean again."""
    mean = pixels.mean(axis=0)
    return mean, np.sqrt(np.square(pixels - mean).mean(axis=0))


def best_fitting(difference: NDArray[Any], share: float) -> NDArray[np.intp]:
    """Return which differences are not above the quantile that cuts off the given share of them."""
    last = int(share * (len(difference) - 1))
    return np.flatnonzero(difference <= np.partition(difference, last)[last])


def _striking(views: Views) -> tuple[NDArray[np.float64], Gains | None]:
    """Return the reference's brightness, and the gains by all pixels if they are too large to match the views."""
    images = to_host(views.colours).astype(np.float32) * np.float32(views.scale)
    mean = np.asarray(np.nan_to_num(np.nanmean(images, axis=(2, 3), dtype=np.float64)))
    spread = np.asarray(np.nan_to_num(np.nanstd(images, axis=(2, 3), dtype=np.float64)))
    gain = np.where(np.minimum(spread[1:], spread[0]) > FLAT, spread[1:] / np.maximum(spread[0], FLAT), 1.0)
    gains = Gains(np.clip(gain, 1 / LARGEST, LARGEST), mean[1:] - gain * mean[0])
    return mean[0], gains if np.abs(gains.effect(mean[0])).max() > STRIKING else None
