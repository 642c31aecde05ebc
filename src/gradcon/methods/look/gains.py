"""How bright each view is, compared with the reference.

The cameras of an array differ in exposure and white balance.  A target shows gain * I + offset of what the reference
shows as I, channel by channel.  Both follow from pixels that a small copy matched: the gain is the ratio of the
standard deviations, which wrong matches change alike in both views, where a regression would underestimate it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradcon.arrays import module_of, on_device, to_host
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


class Brightness(NamedTuple):
    """The mean and the standard deviation of each channel of some views, (T, C)."""

    mean: Any
    spread: Any


class Fitted(NamedTuple):
    """How the targets differ from the reference, by target."""

    gains: Gains
    residuals: NDArray[np.float64]  # the mean difference that remains, of the pixels that fit best; NaN if few are seen
    contrast: NDArray[np.float64]  # the largest standard deviation of a channel; 0 if no pixel is seen


class Compared(NamedTuple):
    """The small copy, how its views differ in brightness, and how well they agree apart from that."""

    copy: SmallCopy
    pixels: Matched  # of the views as they are given
    fitted: Fitted
    noticeable: bool  # whether the gains are worth compensating

    @property
    def gains(self) -> Gains:
        return self.fitted.gains

    @property
    def residuals(self) -> NDArray[np.float64]:
        return self.fitted.residuals


def compare(views: Views, engine: str) -> Compared:
    """Match the views of a small copy, and find their gains."""
    brightness, gains = _striking(views)
    for _ in range(ROUNDS):
        colours, scale = compensated_colours(views.colours, views.scale, *gains) if gains else views[:2]
        copy = searched(views._replace(colours=colours, scale=scale), engine)
        pixels = matched(views, copy.swept.w)
        found = fitted(pixels)
        change = found.gains.effect(brightness) - (gains.effect(brightness) if gains else 0)
        if np.abs(change).max() < SETTLED:
            break
        gains = found.gains
    noticeable = bool(np.abs(found.gains.effect(brightness)).max() > NOTICEABLE)
    return Compared(copy, pixels, found, noticeable)


def fitted(pixels: Matched) -> Fitted:
    """Find the gains of the targets, and the mean difference that remains at the pixels that fit best."""
    if on_device(pixels.targets):
        from gradcon.engines.cuda import comparison

        numbers = comparison.fit_gains(comparison.Sample(*pixels), FITS, KEPT, FLAT, LARGEST)
    else:
        numbers = _fitted_on_host(pixels)
    channels = len(pixels.reference)
    gain, offset = numbers[:, :channels], numbers[:, channels : 2 * channels]
    residuals, seen, contrast = numbers[:, 2 * channels :].T
    enough = seen >= FEWEST
    found = (np.where(enough[:, None], *pair) for pair in zip((gain, offset), Gains.none(gain.shape), strict=True))
    return Fitted(Gains(*found), np.where(enough, residuals, np.nan), contrast)


def _fitted_on_host(pixels: Matched) -> NDArray[np.float64]:
    """Return for each target the gain and offset of each channel, what remains, the pixels seen, and the contrast."""
    reference, targets = pixels.reference[None], pixels.targets
    kept, contrast = pixels.seen, mean_and_spread(targets, pixels.seen).spread.max(axis=1)
    for _ in range(FITS):
        gain, offset = _equalising(mean_and_spread(reference, kept), mean_and_spread(targets, kept))
        difference = np.abs((targets - offset[:, :, None]) / gain[:, :, None] - reference).mean(axis=1)
        kept = best_fitting(difference, pixels.seen, KEPT)
    residuals = (difference * kept).sum(axis=1) / np.maximum(kept.sum(axis=1), 1)
    seen = pixels.seen.sum(axis=1)
    return np.column_stack([gain, offset, residuals, seen, contrast]).astype(np.float64)


def _equalising(reference: Brightness, target: Brightness) -> tuple[Any, Any]:
    """Return gain and offset that take the reference's mean and spread to the targets'; a blank view has none."""
    xp, flattest = module_of(target.spread), np.float32(FLAT)
    gain = target.spread / xp.maximum(reference.spread, flattest)
    gain = xp.where(xp.minimum(target.spread, reference.spread) > flattest, gain, np.float32(1))
    gain = xp.clip(gain, np.float32(1 / LARGEST), np.float32(LARGEST))
    return gain, target.mean - gain * reference.mean


def mean_and_spread(images: Any, kept: Any) -> Brightness:
    """Return the mean and the standard deviation of each channel of (T, C, N) over the pixels that are kept, (T, N)."""
    xp = module_of(images)
    share = (kept / xp.maximum(kept.sum(axis=1, keepdims=True), 1)).astype(np.float32)[:, :, None]
    mean = images @ share
    spread = xp.sqrt(xp.square(images - mean) @ share)
    return Brightness(mean[:, :, 0], spread[:, :, 0])


def best_fitting(difference: NDArray[np.float32], seen: NDArray[np.bool_], share: float) -> NDArray[np.bool_]:
    """Return which of the differences (T, N) that are seen stay below the quantile that cuts off the given share."""
    if not difference.size:  # the views are too small to be sampled
        return seen
    ordered = np.sort(np.where(seen, difference, np.float32(np.inf)), axis=1)
    last = (share * np.maximum(seen.sum(axis=1) - 1, 0)).astype(np.intp)
    kept: NDArray[np.bool_] = seen & (difference <= np.take_along_axis(ordered, last[:, None], axis=1))
    return kept


def _striking(views: Views) -> tuple[NDArray[np.float64], Gains | None]:
    """Return the reference's brightness, and the gains by all pixels if they are too large to match the views."""
    xp = module_of(views.colours)
    images = views.colours.reshape(*views.colours.shape[:2], -1).astype(np.float32) * np.float32(views.scale)
    seen = xp.isfinite(images[:, 0])
    found = mean_and_spread(xp.where(seen[:, None], images, np.float32(0)), seen)
    reference, targets = (Brightness(*(part[which] for part in found)) for which in (slice(1), slice(1, None)))
    gains = Gains(*(to_host(part).astype(np.float64) for part in _equalising(reference, targets)))
    brightness = to_host(reference.mean[0]).astype(np.float64)
    return brightness, gains if np.abs(gains.effect(brightness)).max() > STRIKING else None
