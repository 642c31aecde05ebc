"""Interpolate images at given places by cubic convolution."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.engines.cpu.rows import compiled
from gradcon.engines.cpu.warp import MARGIN, sample, split


def with_margin(planes: NDArray[Any]) -> NDArray[Any]:
    """Return planes (channel, height, width) with the margin of repeated pixels that `resample` needs."""
    return np.pad(planes, ((0, 0), (MARGIN, MARGIN), (MARGIN, MARGIN)), mode="edge")


@compiled
def resample(planes, u, v, out):
    """Write planes at (u[y, x], v[y, x]), which must be inside them, to out[channel, y, x]."""
    height, width = u.shape
    for c in range(out.shape[0]):
        for y in range(height):
            for x in range(width):
                j, fu = split(u[y, x])
                i, fv = split(v[y, x])
                out[c, y, x] = sample(planes[c], i, fv, j, fu)
