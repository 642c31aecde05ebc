"""How alike two pictures are."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcon.arrays import filters_of

SIGMA = 1.5  # pixels of the window in which structure is compared
C1, C2 = 0.01**2, 0.03**2  # keep the quotients of SSIM finite; white is 1
BEST = 100.0  # dB, of pictures that are equal


def psnr(square_error: float) -> float:
    """Return the peak signal-to-noise ratio in dB, of a mean square error where white is 1."""
    return BEST if square_error <= 10 ** (-BEST / 10) else float(-10 * np.log10(square_error))


def ssim(a: Any, b: Any) -> Any:
    """Return the map of the structural similarity of two images (height, width), where white is 1."""

    def mean(image: Any) -> Any:
        return filters_of(a).gaussian_filter(image, SIGMA, mode="nearest")

    mean_a, mean_b = mean(a), mean(b)
    var_a, var_b = mean(a * a) - mean_a**2, mean(b * b) - mean_b**2
    both = mean(a * b) - mean_a * mean_b
    return (2 * mean_a * mean_b + C1) * (2 * both + C2) / ((mean_a**2 + mean_b**2 + C1) * (var_a + var_b + C2))
