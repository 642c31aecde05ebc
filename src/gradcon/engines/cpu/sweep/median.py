"""The weighted median of each pixel's neighbourhood."""

import numpy as np

from gradcon.engines.cpu.rows import compiled, inlined, row
from gradcon.engines.cpu.sweep.colours import add_colour_difference
from gradcon.engines.cpu.sweep.exponential import exp

COLUMNS = 128  # at a time, so that the values and weights of all neighbours stay in the first-level cache


@inlined
def gather(guide, w, y, radius, by_colour, values, weights):
    """Write the values and the weights of all neighbours along row y; those outside the frame have no weight."""
    height, width = w.shape
    n = 0
    for dy in range(-radius, radius + 1):
        for dx in range(-radius, radius + 1):
            value, weight = row(values, n, 0), row(weights, n, 0)
            n += 1
            first, last = max(0, -dx), min(width, width - dx)
            here, there = row(w, y, 0), row(w, y + dy, dx)
            if not 0 <= y + dy < height or last <= first:
                first, last = 0, 0
            for x in range(width):
                weight[x] = 0
                value[x] = here[x]
            if first == last:
                continue
            add_colour_difference(guide, y, dy, dx, first, last, weight)
            for x in range(first, last):
                dI = by_colour * weight[x]
                weight[x] = exp(-dI * dI)
                value[x] = there[x]


@inlined
def choose(values, weights, count, x0, n, table, out):
    """Write the lowest of the values at which the weights of those that are no higher reach half of all."""
    half, reached, best = row(table, 0, 0), row(table, 1, 0), row(table, 2, 0)
    for x in range(n):
        half[x] = 0
        best[x] = np.float32(np.inf)
    for i in range(count):
        weight = row(weights, i, x0)
        for x in range(n):
            half[x] += np.float32(0.5) * weight[x]
    for i in range(count):
        value = row(values, i, x0)
        for x in range(n):
            reached[x] = 0
        for k in range(count):
            other, weight = row(values, k, x0), row(weights, k, x0)
            for x in range(n):
                reached[x] += weight[x] if other[x] <= value[x] else np.float32(0)
        for x in range(n):
            best[x] = value[x] if (reached[x] >= half[x]) & (value[x] < best[x]) else best[x]
    for x in range(n):
        out[x] = best[x]


@compiled
def weighted_median(chunk, chunks, guide, w, radius, colour, out):
    """Filter the map; a chunk takes every chunks-th row."""
    height, width = w.shape
    count = (2 * radius + 1) ** 2
    values, weights = np.empty((count, width), np.float32), np.empty((count, width), np.float32)
    table = np.empty((3, COLUMNS), np.float32)
    by_colour = np.float32(1 / (colour * guide.channels))
    for y in range(chunk, height, chunks):
        gather(guide, w, y, radius, by_colour, values, weights)
        for x0 in range(0, width, COLUMNS):
            n = min(COLUMNS, width - x0)
            choose(values, weights, count, x0, n, table, row(out, y, x0))
