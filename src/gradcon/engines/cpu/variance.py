"""The local variance of the disparity, for the cpu engine."""

import numpy as np

from gradcon.engines import model
from gradcon.engines.cpu.rows import compiled, inlined

local_variance = inlined(model.local_variance)


@compiled
def local_variances(chunk, chunks, w, taps, out):
    """Compute the local variance of w, in float64 because it is a small difference of squares."""
    height, width = w.shape
    radius = taps.size // 2
    first, second = np.empty(width), np.empty(width)
    for y in range(chunk, height, chunks):
        first[:] = 0
        second[:] = 0
        for k in range(-radius, radius + 1):
            tap, line = taps[radius + k], w[min(max(y + k, 0), height - 1)]
            for x in range(width):
                value = np.float64(line[x])
                first[x] += tap * value
                second[x] += tap * value * value
        for x in range(width):
            blurred, blurred2 = taps[radius] * first[x], taps[radius] * second[x]
            for k in range(1, radius + 1):
                low, high = max(x - k, 0), min(x + k, width - 1)
                blurred += taps[radius + k] * (first[low] + first[high])
                blurred2 += taps[radius + k] * (second[low] + second[high])
            out[y, x] = local_variance(blurred2, blurred)
