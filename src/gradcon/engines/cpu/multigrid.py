"""The preconditioner of the cpu engine: one multigrid V-cycle, on all cores.

The system is (data + L) x = b, with L a 5-point operator whose links vary over four decades.  Coarser levels join
2 x 2 pixels: their data terms add up, and so do the links that cross between joined pixels, halved, because
piecewise constant corrections make a coarse operator too stiff by a factor of two.  One damped Jacobi step before and
one after keep the cycle symmetric, as conjugate gradients require.

All levels lie in flat arrays, one behind the other, each with a margin of one zero pixel on every side.
`right[y, x]` links a pixel with its right neighbour, `below[y, x]` with the one below.

Every thread computes a band of rows of each level, and the first thread alone the small levels.  Where a band needs a
row of its neighbour's, it computes that row itself, into `before` or `after`.  So threads only meet between two
sweeps, and every number is the same for any number of threads.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradcon.engines.cpu.barrier import meet
from gradcon.engines.cpu.rows import called

DAMPING = np.float32(0.9)
SMALL = 8192  # pixels: one thread computes a level of fewer

Flat = NDArray[np.float32]


class System(NamedTuple):
    """The linear system on all levels, and the arrays that a V-cycle works in."""

    table: NDArray[np.intp]  # (level, 3): height, width, offset
    data: Flat
    right: Flat
    below: Flat
    diagonal: Flat
    inverse: Flat  # of the diagonal
    r: Flat  # right-hand side; the residual
    work: Flat
    z: Flat  # the V-cycle's result


def levels_of(height, width):
    """Return a table of (height, width, offset) of all levels down to a single pixel, and the size of their arrays."""
    table, offset = [], 0
    while True:
        table.append((height, width, offset))
        offset += (height + 2) * (width + 2)
        if height == width == 1:
            return np.array(table), offset
        height, width = (height + 1) // 2, (width + 1) // 2


def system_of(height, width):
    """Return the arrays of a system for one image size."""
    table, size = levels_of(height, width)
    return System(table, *(np.zeros(size, np.float32) for _ in System._fields[1:]))


@called
def level(flat, table, k):
    height, width, offset = table[k]
    return flat[offset : offset + (height + 2) * (width + 2)].reshape((height + 2, width + 2))


@called
def band(chunk, chunks, height):
    """Return the first row of a thread's band, counted from 1, and the row after it; no band parts joined pixels."""
    pairs = (height + 1) // 2
    return 2 * (pairs * chunk // chunks) + 1, min(2 * (pairs * (chunk + 1) // chunks), height) + 1


@called
def chunks_of(table, k, chunks):
    """Return how many threads share level k."""
    return chunks if table[k, 0] * table[k, 1] >= SMALL else 1


@called
def apply_row(diagonal, right, above, below, up, x, down, out):
    """Compute one row of A x; the rows that are given include their margins."""
    n = out.size
    d, east, west = diagonal[1 : n + 1], right[1 : n + 1], right[:n]
    north, south = above[1 : n + 1], below[1 : n + 1]
    xc, xe, xw, xn, xs = x[1 : n + 1], x[2 : n + 2], x[:n], up[1 : n + 1], down[1 : n + 1]
    for i in range(n):
        out[i] = d[i] * xc[i] - (east[i] * xe[i] + west[i] * xw[i]) - (north[i] * xn[i] + south[i] * xs[i])


@called
def jacobi_start_row(inverse, b, x):
    """x = damped D^-1 b: a Jacobi step from zero."""
    for i in range(1, x.size - 1):
        x[i] = DAMPING * inverse[i] * b[i]


@called
def descend(chunk, chunks, diagonal, inverse, right, below, b, x, coarse):
    """x = a Jacobi step from zero, and coarse = its residual b - A x summed over 2 x 2 pixels, in one sweep."""
    height, width = b.shape[0] - 2, b.shape[1] - 2
    product, total = np.empty(width, np.float32), np.zeros(width + 1, np.float32)
    before, after = np.zeros(width + 2, np.float32), np.zeros(width + 2, np.float32)
    first, end = band(chunk, chunks, height)
    if first == end:
        return
    jacobi_start_row(inverse[first - 1], b[first - 1], before)
    jacobi_start_row(inverse[end], b[end], after)
    jacobi_start_row(inverse[first], b[first], x[first])
    for y in range(first, end):
        if y + 1 < end:
            jacobi_start_row(inverse[y + 1], b[y + 1], x[y + 1])
        up, down = x[y - 1] if y > first else before, x[y + 1] if y + 1 < end else after
        apply_row(diagonal[y], right[y], below[y - 1], below[y], up, x[y], down, product)
        b_row = b[y, 1 : width + 1]
        if y % 2 == 1:
            total[:width] = 0
        for i in range(width):
            total[i] += b_row[i] - product[i]
        if y % 2 == 0 or y == height:
            line = coarse[(y + 1) // 2]
            for i in range(coarse.shape[1] - 2):
                line[i + 1] = total[2 * i] + total[2 * i + 1]


@called
def corrected_row(coarse, x, out):
    """out = x, with the coarse correction added to both pixels of each pair; the last one may stand alone."""
    width = x.size - 2
    for i in range(width // 2):
        out[2 * i + 1] = x[2 * i + 1] + coarse[i + 1]
        out[2 * i + 2] = x[2 * i + 2] + coarse[i + 1]
    if width % 2:
        out[width] = x[width] + coarse[width // 2 + 1]


@called
def ascend(chunk, chunks, diagonal, inverse, right, below, b, x, coarse, out, dots):
    """Add the coarse correction to x, and out = a Jacobi step from there, in one sweep; dots[y] = <b, out> on row y."""
    height, width = b.shape[0] - 2, b.shape[1] - 2
    first, end = band(chunk, chunks, height)
    corrected = np.zeros((3, width + 2), np.float32)  # of the rows y - 1, y and y + 1, each at y modulo 3
    for y in range(first - 1, first + 1):
        if y > 0:
            corrected_row(coarse[(y + 1) // 2], x[y], corrected[y % 3])
    for y in range(first, end):
        if y < height:
            corrected_row(coarse[(y + 2) // 2], x[y + 1], corrected[(y + 1) % 3])
        else:
            corrected[(y + 1) % 3] = 0
        result, line = out[y, 1 : width + 1], corrected[y % 3]
        up, down = corrected[(y - 1) % 3], corrected[(y + 1) % 3]
        apply_row(diagonal[y], right[y], below[y - 1], below[y], up, line, down, result)
        b_row, i_row, x_row = b[y, 1 : width + 1], inverse[y, 1 : width + 1], line[1 : width + 1]
        for i in range(width):
            result[i] = x_row[i] + DAMPING * i_row[i] * (b_row[i] - result[i])
        if dots.size > 0:
            dots[y - 1] = dot_row(b_row, result)


@called
def dot_row(a, b):
    """Return the inner product, summed in float64."""
    total = 0.0
    for i in range(a.size):
        total += float(a[i]) * float(b[i])
    return total


@called
def diagonals(chunk, chunks, data, right, below, diagonal, inverse):
    """diagonal = data + links, and its inverse, which is 0 if a pixel has neither data nor neighbours."""
    first, end = band(chunk, chunks, data.shape[0] - 2)
    for y in range(first, end):
        for x in range(1, data.shape[1] - 1):
            total = data[y, x] + right[y, x] + right[y, x - 1] + below[y, x] + below[y - 1, x]
            diagonal[y, x] = total
            inverse[y, x] = np.float32(1) / total if total > 0 else np.float32(0)


@called
def coarsen(chunk, chunks, data, right, below, coarse_data, coarse_right, coarse_below):
    height, width = data.shape[0] - 2, data.shape[1] - 2
    first, end = band(chunk, chunks, height)
    half = np.float32(0.5)
    for y in range(first, end, 2):
        yc, y2 = (y + 1) // 2, min(y + 1, height + 1)
        for xc in range(1, coarse_data.shape[1] - 1):
            x, x2 = 2 * xc - 1, min(2 * xc, width + 1)
            coarse_data[yc, xc] = (data[y, x] + data[y, x2]) + (data[y2, x] + data[y2, x2])
            coarse_right[yc, xc] = half * (right[y, x2] + right[y2, x2])
            coarse_below[yc, xc] = half * (below[y2, x] + below[y2, x2])


@called
def set_up(chunk, chunks, barrier, system):
    """Fill in the coarser levels and all diagonals from the finest level's data and links."""
    table = system.table
    for k in range(len(table)):
        sharing = chunks_of(table, k, chunks)
        if chunk < sharing:
            d, r, b = level(system.data, table, k), level(system.right, table, k), level(system.below, table, k)
            diagonals(chunk, sharing, d, r, b, level(system.diagonal, table, k), level(system.inverse, table, k))
            if k + 1 < len(table):
                coarser = level(system.data, table, k + 1), level(system.right, table, k + 1)
                coarsen(chunk, sharing, d, r, b, *coarser, level(system.below, table, k + 1))
        if sharing > 1:
            meet(barrier, chunks)
    meet(barrier, chunks)


@called
def v_cycle(chunk, chunks, barrier, system, dots):
    """z = the multigrid approximation of A^-1 r; dots[y] = <r, z> on row y of the finest level."""
    table, last = system.table, len(system.table) - 1
    none = dots[:0]
    for k in range(last):
        sharing = chunks_of(table, k, chunks)
        if chunk < sharing:
            d, i = level(system.diagonal, table, k), level(system.inverse, table, k)
            e, s = level(system.right, table, k), level(system.below, table, k)
            b, x, coarse = level(system.r, table, k), level(system.work, table, k), level(system.r, table, k + 1)
            descend(chunk, sharing, d, i, e, s, b, x, coarse)
        if sharing > 1:
            meet(barrier, chunks)
    if chunk == 0:
        b, z = level(system.r, table, last), level(system.z, table, last)
        z[1, 1] = level(system.inverse, table, last)[1, 1] * b[1, 1]
        if last == 0:
            dots[0] = float(z[1, 1]) * float(b[1, 1])
    for k in range(last - 1, -1, -1):
        sharing = chunks_of(table, k, chunks)
        if sharing > 1:
            meet(barrier, chunks)
        if chunk < sharing:
            d, i = level(system.diagonal, table, k), level(system.inverse, table, k)
            e, s = level(system.right, table, k), level(system.below, table, k)
            b, x, coarse = level(system.r, table, k), level(system.work, table, k), level(system.z, table, k + 1)
            ascend(chunk, sharing, d, i, e, s, b, x, coarse, level(system.z, table, k), dots if k == 0 else none)
    meet(barrier, chunks)
