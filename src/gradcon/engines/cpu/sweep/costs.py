"""The costs of a sweep, tile by tile.

A tile is small enough that the arms' costs at one label stay in cache.  Pixels of a tile have different bands; only the
labels that some pixel needs are computed, which at a depth edge are two separate ranges.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradcon.engines.cpu.rows import compiled, inlined, row
from gradcon.engines.cpu.sweep.sampling import add_difference, new_line, seen_columns


class Combination(NamedTuple):
    """How the targets' differences become one cost, see `ArmCosts`."""

    arms: NDArray[np.int64]
    weights: NDArray[np.float32]  # (T,): of the targets within their arms
    blur: NDArray[np.float32]  # the taps
    c0: np.float32
    sharpness: int


class Tile(NamedTuple):
    """The pixels of a tile, and the same with the margin that the blur needs, inside the frame."""

    y0: int
    y1: int
    x0: int
    x1: int
    top: int
    bottom: int
    left: int
    right: int


class Scratch(NamedTuple):
    """What a thread needs for the tile at hand; there is a row for each row of the tile."""

    line: NDArray[np.float32]
    single: NDArray[np.float32]  # one row: the difference of one target
    total: NDArray[np.float32]  # an arm's weighted costs, then their mean
    weight: NDArray[np.float32]  # 0 where no target of the arm sees the pixel
    padded: NDArray[np.float32]  # two rows: blurred down the columns, and then along the row
    numerator: NDArray[np.float32]  # over the arms
    denominator: NDArray[np.float32]
    before: NDArray[np.float32]  # the costs at the label before this one
    whole: NDArray[np.int64]  # the start of each pixel's band
    fraction: NDArray[np.float32]
    rounded: NDArray[np.uint16]  # one row


@inlined
def new_scratch(sources, rows, columns, radius):
    m, n = rows + 2 * radius, columns + 2 * radius
    return Scratch(
        new_line(sources),
        np.empty((1, n), np.float32),
        np.empty((m, n), np.float32),
        np.empty((m, n), np.float32),
        np.empty((2, n), np.float32),
        np.empty((rows, columns), np.float32),
        np.empty((rows, columns), np.float32),
        np.empty((rows, columns), np.float32),
        np.empty((rows, columns), np.int64),
        np.empty((rows, columns), np.float32),
        np.empty((1, columns), np.uint16),
    )


@inlined
def tile_at(index, rows, columns, radius, height, width):
    across = (width + columns - 1) // columns
    y0, x0 = index // across * rows, index % across * columns
    y1, x1 = min(y0 + rows, height), min(x0 + columns, width)
    top, bottom = max(y0 - radius, 0), min(y1 + radius, height)
    return Tile(y0, y1, x0, x1, top, bottom, max(x0 - radius, 0), min(x1 + radius, width))


@inlined
def add_target(sources, t, w, weight, inverse_noise, tile, s):
    """Add the costs of one target to its arm's total."""
    single = row(s.single, 0, 0)
    for y in range(tile.top, tile.bottom):
        first, last = seen_columns(sources, t, w, y, tile.left, tile.right)
        if first == last:
            continue
        for x in range(last - first):
            single[x] = 0
        add_difference(sources, t, w, y, first, last, s.line, single)
        inverse = row(inverse_noise, y, first)
        total = row(s.total, y - tile.top, first - tile.left)
        weights = row(s.weight, y - tile.top, first - tile.left)
        for x in range(last - first):
            cost = single[x] * inverse[x]
            seen = np.float32(0) if np.isnan(cost) else weight
            total[x] += seen * (cost if cost < 1 else np.float32(1))
            weights[x] += seen


@inlined
def blur_row(blur, tile, y, s):
    """Write row y of the blurred s.total to s.padded[1]; at the frame the outermost pixels are repeated."""
    radius = blur.size // 2
    n, m, rim = tile.right - tile.left, tile.x1 - tile.x0, tile.left - (tile.x0 - radius)
    padded, down, out = row(s.padded, 0, 0), row(s.padded, 0, rim), row(s.padded, 1, 0)
    for x in range(n):
        down[x] = 0
    for j in range(2 * radius + 1):
        tap, inside = blur[j], min(max(y + j - radius, tile.top), tile.bottom - 1)
        total = row(s.total, inside - tile.top, 0)
        for x in range(n):
            down[x] += tap * total[x]
    for x in range(rim):
        padded[x] = down[0]
    for x in range(rim + n, m + 2 * radius):
        padded[x] = down[n - 1]
    for x in range(m):
        out[x] = 0
    for i in range(2 * radius + 1):
        tap, shifted = blur[i], row(s.padded, 0, i)
        for x in range(m):
            out[x] += tap * shifted[x]


@inlined
def add_arm(combination, tile, s):
    """Blur an arm's costs and add them to the numerator and denominator of all arms' mean cost."""
    c0 = combination.c0
    for y in range(tile.bottom - tile.top):
        total, weight = row(s.total, y, 0), row(s.weight, y, 0)
        for x in range(tile.right - tile.left):
            total[x] = total[x] / weight[x] if weight[x] > 0 else np.float32(1)
    for y in range(tile.y0, tile.y1):
        cost, weight = row(s.total, y - tile.top, 0), row(s.weight, y - tile.top, tile.x0 - tile.left)
        if combination.blur.size > 1:
            blur_row(combination.blur, tile, y, s)
            cost = row(s.padded, 1, 0)
        numerator, denominator = row(s.numerator, y - tile.y0, 0), row(s.denominator, y - tile.y0, 0)
        if combination.sharpness == 2:
            for x in range(tile.x1 - tile.x0):
                trust = np.float32(1) / ((cost[x] + c0) * (cost[x] + c0)) if weight[x] > 0 else np.float32(0)
                numerator[x] += trust * cost[x]
                denominator[x] += trust
        else:
            for x in range(tile.x1 - tile.x0):
                trust = np.float32(1) / (cost[x] + c0) if weight[x] > 0 else np.float32(0)
                numerator[x] += trust * cost[x]
                denominator[x] += trust


@inlined
def clear(table):
    """Write zeros everywhere; a slice would take longer to compile."""
    values = row(table, 0, 0)
    for i in range(table.size):
        values[i] = 0


@inlined
def needed_labels(start, labels, tile, s):
    """Split the pixels' starts; return the first of the needed labels, and which of those from there on are needed.

    A band whose start lies between two labels needs one label more.
    """
    between = False
    first, last = np.int64(np.floor(start[tile.y0, tile.x0])), np.int64(np.floor(start[tile.y0, tile.x0]))
    for y in range(tile.y0, tile.y1):
        for x in range(tile.x0, tile.x1):
            whole = np.floor(start[y, x])
            s.whole[y - tile.y0, x - tile.x0] = np.int64(whole)
            s.fraction[y - tile.y0, x - tile.x0] = start[y, x] - whole
            between |= start[y, x] != whole
            first, last = min(first, np.int64(whole)), max(last, np.int64(whole))
    needed = np.zeros(last - first + labels + between, np.bool_)
    for y in range(tile.y1 - tile.y0):
        for x in range(tile.x1 - tile.x0):
            needed[s.whole[y, x] - first] = True
    left = 0  # of the bands that have begun
    for i in range(needed.size):
        left = labels + between if needed[i] else left - 1
        needed[i] = left > 0
    return first, needed, between


@inlined
def store_label(sources, label, between, unit, tile, s, out):
    """Write to each pixel's band what its costs at this label and the one before complete."""
    labels = out.shape[1]
    rounded = row(s.rounded, 0, 0)
    for y in range(tile.y1 - tile.y0):
        numerator, denominator = row(s.numerator, y, 0), row(s.denominator, y, 0)
        before, fraction, whole = row(s.before, y, 0), row(s.fraction, y, 0), row(s.whole, y, 0)
        for x in range(tile.x1 - tile.x0):
            cost = unit * (numerator[x] / denominator[x]) if denominator[x] > 0 else unit
            mean = (np.float32(1) - fraction[x]) * before[x] + fraction[x] * cost if between else cost
            rounded[x] = np.uint16(np.int32(mean + np.float32(0.5)))
            before[x] = cost
        bands = row(out, (tile.y0 + y) * sources.width + tile.x0, 0)
        for x in range(tile.x1 - tile.x0):
            n = label - between - whole[x]
            if 0 <= n < labels:
                bands[x * labels + n] = rounded[x]


@compiled
def band_costs(chunk, chunks, sources, start, step, inverse_noise, combination, unit, rows, columns, out):
    """Write the costs of each pixel's band to out[pixel, label]; a chunk takes every chunks-th tile."""
    height, width = sources.height, sources.width
    radius = combination.blur.size // 2
    s = new_scratch(sources, rows, columns, radius)
    clear(s.before)  # the first label of a band has none before it, and is written again
    tiles = ((height + rows - 1) // rows) * ((width + columns - 1) // columns)
    for index in range(chunk, tiles, chunks):
        tile = tile_at(index, rows, columns, radius, height, width)
        first, needed, between = needed_labels(start, out.shape[1], tile, s)
        for i in range(needed.size):
            if not needed[i]:
                continue
            clear(s.numerator)
            clear(s.denominator)
            for a in range(combination.arms.size - 1):
                clear(s.total)
                clear(s.weight)
                for t in range(combination.arms[a], combination.arms[a + 1]):
                    add_target(sources, t, (first + i) * step, combination.weights[t], inverse_noise, tile, s)
                add_arm(combination, tile, s)
            store_label(sources, first + i, between, unit, tile, s, out)
