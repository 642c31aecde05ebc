"""The settings of the paper's methods that follow from the images: scales, epsilon and the disparity to start from.

*Scales.*  A run starts from one disparity everywhere, and n scales bring it 2^(n-1) pixels of the nearest view away.
It starts from 0 or, if all disparities lie on one side of 0, from the end of their range that is nearest to 0.  A start
in the middle of the range saves a scale but is worse: large areas without texture stay there, where no surface is.

*Epsilon* stands beside sums of squared gradients in the model.  Noise adds its power to them, so epsilon grows with the
square of the noise.  In clean images it stays what it is in the paper.

*Alpha* follows from neither: the best one of a scene is anywhere from half to twice the default, clean or noisy.
"""

from __future__ import annotations

import math
from dataclasses import replace

from gradcon.methods.options import PAPER_EPSILON, Options
from gradcon.methods.schedules import RECIPES

SPARE = 1.2  # a range that was searched is wider than the disparities found in it
MOST_SCALES = 8
EPSILON_PER_NOISE_POWER = 10.0


def found(
    options: Options, low: float | None, high: float | None, noise: float | None, nearest: float
) -> tuple[Options, float]:
    """Return the options with everything that was not given, and the disparity to start from.

    Parameters
    ----------
    options : Options
        What is given stays.
    low, high : float or None
        The range of the disparities, in pixels per unit baseline; None if it is unknown.
    noise : float or None
        The standard deviation of the noise of a pixel's luma, where white is 1; None if it is unknown.
    nearest : float
        The length of the shortest baseline.
    """
    recipe = RECIPES.get(options.method)
    if recipe is None:
        return options, 0.0
    start, scales = 0.0, options.scales or recipe.scales
    if not options.use_inspection:
        return options.as_in_the_paper(), start
    if low is not None and high is not None:
        start = min(max(0.0, low), high)
        if options.scales is None and recipe.scales > 1:
            scales = max(scales, _scales(nearest * max(start - low, high - start)))
    return replace(options, scales=scales, epsilon=options.epsilon or epsilon_for(noise)), start


def epsilon_for(noise: float | None) -> float:
    """Return the epsilon for images with this noise."""
    return max(PAPER_EPSILON, EPSILON_PER_NOISE_POWER * noise**2) if noise is not None else PAPER_EPSILON


def _scales(reach: float) -> int:
    """Return how many scales it takes to go that many pixels of the nearest view away from the start."""
    return min(MOST_SCALES, 1 + math.ceil(math.log2(max(reach / SPARE, 1.0))))
