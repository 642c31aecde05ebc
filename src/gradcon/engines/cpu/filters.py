"""Filters of whole images for the cpu engine, needed once a run or once a solve."""

import numpy as np

from gradcon.engines import model
from gradcon.engines.cpu.arguments import FREE, PAD_D, PAD_S
from gradcon.engines.cpu.data import smooth_row
from gradcon.engines.cpu.row_filters import smooth_along, smooth_and_derive_along, smooth_and_derive_padded
from gradcon.engines.cpu.rows import compiled

local_variance = compiled(model.local_variance)


@compiled
def blur(chunk, chunks, image, even, out):
    """Smooth the image in both directions."""
    height, width = image.shape
    radius = even.size - 1
    S = np.empty((FREE + 1, width + 2 * radius), np.float32)
    for y in range(chunk, height, chunks):
        smooth_row(image, y, 0, width, even, S, FREE)
        for x in range(width):
            out[y, x] = S[FREE, x]


@compiled
def reference_fields(image, even, odd, out):
    """Compute the smoothed image and its derivatives in x and y."""
    height, width = image.shape
    radius = even.size - 1
    S = np.empty((FREE + 3, width + 2 * radius), np.float32)
    for y in range(height):
        smooth_and_derive_padded(image, y, 0, width, even, odd, S, PAD_S, PAD_D)
        smooth_and_derive_along(S, PAD_S, even, odd, FREE, FREE + 1, width)
        smooth_along(S, PAD_D, even, FREE + 2, width)
        for i in range(3):
            for x in range(width):
                out[i, y, x] = S[FREE + i, x]


@compiled
def variance(chunk, chunks, w, taps, out):
    """Compute the local variance of w, in float64 because it is a small difference of squares."""
    height, width = w.shape
    radius = taps.size - 1
    first, second = np.empty(width), np.empty(width)
    for y in range(chunk, height, chunks):
        first[:] = 0
        second[:] = 0
        for k in range(-radius, radius + 1):
            tap, line = taps[abs(k)], w[min(max(y + k, 0), height - 1)]
            for x in range(width):
                value = np.float64(line[x])
                first[x] += tap * value
                second[x] += tap * value * value
        for x in range(width):
            blurred, blurred2 = taps[0] * first[x], taps[0] * second[x]
            for k in range(1, radius + 1):
                low, high = max(x - k, 0), min(x + k, width - 1)
                blurred += taps[k] * (first[low] + first[high])
                blurred2 += taps[k] * (second[low] + second[high])
            out[y, x] = local_variance(blurred2, blurred)
