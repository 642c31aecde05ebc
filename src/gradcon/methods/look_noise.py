"""The noise of an image, measured where the image is flat."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import ndimage

from gradcon.arrays import to_host

SECOND = np.array([1.0, -2.0, 1.0])  # a second derivative; along both axes it leaves nothing of edges and ramps
GAIN = 6.0  # the standard deviation of white noise after it
BLOCK = 16  # pixels on a side
FLATTEST = 5  # percent of the blocks
BLACK, WHITE = 0.004, 0.996  # pixels beyond them may be clipped, which hides their noise
CLIPPED = 0.05  # the share of such pixels that a block may have


def image_noise(luma: Any) -> float:
    """Return the standard deviation of the noise of an image from 0 to 1, or 0 if the image is too small to tell.

    Texture looks like noise, so the estimate is that of the flattest blocks; an image without any is overestimated.
    Compression removes noise from flat blocks, so its errors are not seen here.
    """
    image = np.asarray(to_host(luma), np.float32)
    down, across = ((n - 2) // BLOCK for n in image.shape)
    if down < 1 or across < 1:
        return 0.0

    def blocks(plane: Any) -> Any:
        return plane[1 : 1 + down * BLOCK, 1 : 1 + across * BLOCK].reshape(down, BLOCK, across, BLOCK)

    rough = np.abs(ndimage.convolve1d(ndimage.convolve1d(image, SECOND, axis=0), SECOND, axis=1))
    noise = blocks(rough).mean(axis=(1, 3)) * np.sqrt(np.pi / 2) / GAIN
    clipped = blocks((image < BLACK) | (image > WHITE)).mean(axis=(1, 3))
    usable = noise[clipped <= CLIPPED]
    return float(np.percentile(usable if usable.size else noise, FLATTEST))
