"""Bring all views to the brightness of the reference."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.arrays import module_of
from gradcon.scene.luma import Planes, full_scale

WIDE = np.dtype(np.uint16)  # integers become these, so that rounding adds no noise


def compensated_colours(
    colours: Planes, scale: float, gain: NDArray[np.float64], offset: NDArray[np.float64]
) -> tuple[Planes, float]:
    """Return (colours * scale - offset) / gain of the targets, and the reference, with their scale.

    Parameters
    ----------
    colours : (1 + T, C, height, width) array
        The reference, then the targets.
    scale : float
        colours * scale is from 0 to 1.
    gain, offset : (T, C) array
        A target shows gain * I + offset of what the reference shows as I.
    """
    xp, integers = module_of(colours), colours.dtype.kind == "u"
    new: Any = xp.empty(colours.shape, WIDE if integers else np.float32)
    full = float(full_scale(new.dtype) or 1)
    factors = np.concatenate([np.ones((1, gain.shape[1])), 1 / gain])
    shifts = np.concatenate([np.zeros((1, gain.shape[1])), -offset / gain])
    for view, (factor, shift) in enumerate(zip(factors, shifts, strict=True)):  # one by one, because floats are large
        a, b = (xp.asarray(each * full, np.float32)[:, None, None] for each in (factor * scale, shift))
        image = colours[view].astype(np.float32) * a + b
        new[view] = xp.rint(xp.clip(image, 0, full)) if integers else image
    return new, 1 / full
