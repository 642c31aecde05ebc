"""The 5 x 5 median of the cpu engine, by a network of minima and maxima on whole rows.

A sorting network compares fixed pairs, so each comparison runs over a row of pixels at once.
"""

import numpy as np

from gradcon.engines.cpu.rows import called, compiled, inlined, row
from gradcon.engines.median_network import median_network
from gradcon.engines.model import MEDIAN_SIZE

COUNT = MEDIAN_SIZE * MEDIAN_SIZE
COLUMNS = 256  # at a time, so that all 25 rows stay in the first-level cache

NETWORK = np.array(median_network(COUNT))


@called
def order(values, i, j, n):
    a, b = row(values, i, 0), row(values, j, 0)
    for x in range(n):
        low, high = a[x], b[x]
        a[x] = np.minimum(low, high)
        b[x] = np.maximum(low, high)


@inlined
def reflected(i, n):
    """Bring index i inside 0 .. n - 1 by reflection about the border's edges: -1 -> 0, -2 -> 1."""
    while i < 0 or i >= n:
        i = -1 - i if i < 0 else 2 * n - 1 - i
    return i


@compiled
def median_filter(chunk, chunks, image, network, out):
    """Filter by the 5 x 5 median with reflected borders; a chunk takes every chunks-th row."""
    height, width = image.shape
    half = MEDIAN_SIZE // 2
    values = np.empty((COUNT, COLUMNS), image.dtype)
    padded = np.empty(width + 2 * half, image.dtype)
    for y in range(chunk, height, chunks):
        for x0 in range(0, width, COLUMNS):
            n = min(COLUMNS, width - x0)
            for i in range(MEDIAN_SIZE):
                line = image[reflected(y + i - half, height)]
                for x in range(n + 2 * half):
                    padded[x] = line[reflected(x0 + x - half, width)]
                for j in range(MEDIAN_SIZE):
                    for x in range(n):
                        values[i * MEDIAN_SIZE + j, x] = padded[j + x]
            for k in range(network.shape[0]):
                order(values, network[k, 0], network[k, 1], n)
            for x in range(n):
                out[y, x0 + x] = values[COUNT // 2, x]
