"""What a wide lens makes of a picture whose disparities are known.

The picture is cut into layers of equal blur, which are blurred and laid over each other from back to front.  A blurred
surface in front spreads over what is behind it, and a sharp one keeps its rim.  Behind the rim of a blurred surface one
sees what stands behind it, which the other views know: it is a second picture, `Backdrop`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gradcon.arrays import module_of

GAMMA = 2.2  # a lens mixes light, of which pixels hold about this root
STEP = 0.5  # pixels of blur between two layers
LAYERS = 48  # at the most, for large blurs, where a pixel more or less is not seen


class Backdrop(NamedTuple):
    """What is behind the surfaces that a picture shows."""

    colours: Any  # (C, height, width)
    disparity: Any
    known: Any  # bool


def through_lens(colours: Any, disparity: Any, focus: float, radius: float, behind: Backdrop | None = None) -> Any:
    """Return the picture of a lens that is focused on a disparity.

    Parameters
    ----------
    colours : (C, height, width) float32
        The sharp picture; white is 1.
    disparity : (height, width)
        Its disparities.
    focus : float
        The disparity that is sharp.
    radius : float
        The radius of the lens in unit baselines: that of the blur in pixels, a disparity of 1 away from the focus.
    behind : Backdrop, optional
        What is seen behind the rims of blurred surfaces.
    """
    xp = module_of(colours)
    blur = radius * (disparity - focus)
    step = max(STEP, float(blur.max() - blur.min()) / LAYERS)
    layer = xp.rint(blur / step).astype(np.int64)
    parts = [(xp.clip(colours, 0, None) ** GAMMA, layer, xp.ones_like(layer, bool))]
    if behind is not None:
        deep = xp.rint(radius * (behind.disparity - focus) / step).astype(np.int64)
        parts.append((xp.clip(behind.colours, 0, None) ** GAMMA, deep, behind.known & (deep < layer - 1)))
    light, cover = xp.zeros_like(colours), xp.zeros(disparity.shape, np.float32)
    for n in sorted({int(k) for _, levels, _ in parts for k in xp.unique(levels)}):
        stack = xp.zeros((len(colours) + 1, *disparity.shape), np.float32)  # colours and what the layer covers
        for picture, levels, known in parts:
            # A layer includes the next one in front, so that a slope that crosses layers has no seam.
            mine = known & ((levels == n) | (levels == n + 1)) & (stack[-1] == 0)
            stack[:-1] += picture * mine
            stack[-1] += mine
        stack = _blurred(stack, abs(n) * step)
        through = 1 - xp.clip(stack[-1], 0, 1)
        light = stack[:-1] + through * light
        cover = stack[-1] + through * cover
    return (light / xp.maximum(cover, 1e-6)).astype(np.float32) ** np.float32(1 / GAMMA)


def _blurred(stack: Any, radius: float) -> Any:
    """Convolve images with a disc; nothing lies beyond the frame."""
    if radius < STEP:
        return stack
    xp = module_of(stack)
    disc = _disc(radius)
    height, width = (_quick(n + len(disc) - 1) for n in stack.shape[-2:])
    spectrum = xp.fft.rfft2(xp.asarray(disc), (height, width))
    half = len(disc) // 2
    full = xp.fft.irfft2(xp.fft.rfft2(stack, (height, width)) * spectrum, (height, width))
    inner = full[..., half : half + stack.shape[-2], half : half + stack.shape[-1]]
    return xp.maximum(inner, 0).astype(np.float32)


def _disc(radius: float) -> Any:
    """Return a disc whose sum is 1; the pixels of its rim are covered in part."""
    half = int(np.ceil(radius))
    fine = (np.arange((2 * half + 1) * 4) + 0.5) / 4 - half - 0.5
    covered = (fine[:, None] ** 2 + fine**2 <= (radius + 0.25) ** 2).astype(np.float32)
    disc = covered.reshape(2 * half + 1, 4, 2 * half + 1, 4).mean(axis=(1, 3))
    return disc / disc.sum()


def _quick(length: int) -> int:
    """Return a length of at least this that a Fourier transform is quick at."""
    from scipy.fft import next_fast_len

    return int(next_fast_len(length, real=True))
