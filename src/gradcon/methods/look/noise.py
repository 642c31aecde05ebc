"""How noisy the images are.

The noise shows in flat regions, where nothing else varies.  An image that is textured everywhere has none, and looks
noisier than it is; then the difference between the views at the best disparities is an upper bound.
"""

from __future__ import annotations

import numpy as np

from gradcon import engines
from gradcon.arrays import module_of, quantile
from gradcon.engines.sweep_views import views_of
from gradcon.methods.sweep.labels import Labels, step_of
from gradcon.scene import Scene
from gradcon.scene.luma import Image

BLOCK = 8  # pixels
FLATTEST = 0.1  # the share of the blocks that counts as flat
IN_FLATTEST = 0.83  # what the deviation in such blocks is, if all there is is noise of deviation 1
INDEPENDENT = 0.67  # the deviation of luma, if the noise of each of three channels has the deviation 1
LEAST, MOST = 0.02, 0.98  # clipped pixels show no noise
SUSPICIOUS = 1.5 / 255  # noise in one view beyond which the views are compared
ROWS = 64  # in which they are
FLATTER = 0.25  # the share of the blocks whose texture counts
AGREEING = 0.25  # the share of pixels that certainly agree
IN_AGREEING = 0.8  # how much these differ, if all there is is noise of deviation 1


def measured_noise(scene: Scene, low: float, high: float, engine: str) -> float:
    """Return the standard deviation of the noise of a channel, for pixels from 0 to 1."""
    flat = flat_noise(scene.reference) / noise_of_luma(1.0, scene)
    return min(flat, _between(scene, low, high, engine)) if flat > SUSPICIOUS else flat


def noise_of_luma(noise: float, scene: Scene) -> float:
    """Return the deviation of luma if the channels have this noise."""
    return noise * INDEPENDENT if scene.colours.shape[1] == 3 else noise


def measured_texture(scene: Scene, noise: float) -> float:
    """Return how much the reference varies within the blocks of its flatter part, in units of the noise."""
    luma, deviation = scene.reference, noise_of_luma(noise, scene)
    rows, columns = (n // BLOCK for n in luma.shape)
    if min(rows, columns) < 1 or deviation <= 0:
        return np.inf
    blocks = luma[: rows * BLOCK, : columns * BLOCK].reshape(rows, BLOCK, columns, BLOCK)
    power = float(quantile(blocks.std(axis=(1, 3)), FLATTER)) ** 2 - deviation**2
    return float(np.sqrt(max(power, 0.0))) / deviation


def flat_noise(luma: Image) -> float:
    """Return the standard deviation of the noise in the flattest blocks of an image."""
    xp = module_of(luma)
    rows, columns = ((n - 2) // BLOCK for n in luma.shape)
    if min(rows, columns) < 1:
        return 0.0
    image = luma[: rows * BLOCK + 2, : columns * BLOCK + 2]
    # The second difference along both axes is blind to everything that is smooth.
    curved = image[:, :-2] - 2 * image[:, 1:-1] + image[:, 2:]
    curved = (curved[:-2] - 2 * curved[1:-1] + curved[2:]) / 6
    shape = rows, BLOCK, columns, BLOCK
    deviation = xp.sqrt(xp.square(curved).reshape(shape).mean(axis=(1, 3)))
    brightness = image[1:-1, 1:-1].reshape(shape).mean(axis=(1, 3))
    shown = deviation[(brightness > LEAST) & (brightness < MOST)]
    return float(quantile(shown, FLATTEST)) / IN_FLATTEST if shown.size else 0.0


def _between(scene: Scene, low: float, high: float, engine: str) -> float:
    sweep = engines.create_sweep(engine, views_of(scene))
    labels = Labels.between(low, high, step_of(sweep, 0.5))
    smallest = sweep.difference(labels.first, labels.number, labels.step, max(1, scene.shape[0] // ROWS))
    xp = module_of(smallest)
    known = smallest[xp.isfinite(smallest)]
    return float(quantile(known, AGREEING)) / IN_AGREEING if known.size else np.inf
