"""The mean of a map in a window around each pixel.

SciPy's `uniform_filter` does the same, bit for bit and as fast.  But a command that imports it waits for a tenth of a
second.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

ROWS = 16  # at a time, so that they stay in cache


def window_means(fields: NDArray[np.float64], radius: int) -> NDArray[np.float64]:
    """Return the means of fields (K, height, width); beyond the frame, the outermost pixels continue."""
    size, (count, height, width) = 2 * radius + 1, fields.shape
    left, right = radius + 1, radius + 1 + width  # of the frame, in a padded row
    down = np.clip(np.arange(-radius - 1, height + radius), 0, height - 1).tolist()
    means = np.empty_like(fields)
    padded = np.empty((count, ROWS, width + size))
    total = np.add.accumulate(fields[:, down[1 : 1 + size]], axis=1)[:, -1]
    for first in range(0, height, ROWS):
        last = min(first + ROWS, height)
        block = padded[:, : last - first]
        for y in range(first, last):  # the sum moves on from row to row
            if y > 0:
                total += fields[:, down[y + size]] - fields[:, down[y]]
            np.divide(total, size, out=block[:, y - first, left:right])
        block[..., :left], block[..., right:] = block[..., left, None], block[..., right - 1, None]
        sums = block[..., size:] - block[..., :width]  # and then along each of them
        sums[..., 0] = np.add.accumulate(block[..., 1 : 1 + size], axis=2)[..., -1]
        np.divide(np.add.accumulate(sums, axis=2, out=sums), size, out=means[:, first:last])
    return means
