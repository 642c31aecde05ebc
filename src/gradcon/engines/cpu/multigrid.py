"""The inner solver of the cpu engine: conjugate gradients, preconditioned by one multigrid V-cycle.

The system is (data + L) x = b, with L a 5-point operator whose links vary over four decades.  Coarser levels join
2 x 2 pixels: their data terms add up, and so do the links that cross between joined pixels, halved, because
piecewise constant corrections make a coarse operator too stiff by a factor of two.  One damped Jacobi step before and
one after keep the cycle symmetric, as conjugate gradients require.

All levels lie in flat arrays, one behind the other, each with a margin of one zero pixel on every side.
`right[y, x]` links a pixel with its right neighbour, `below[y, x]` with the one below.
"""

import numpy as np

from gradcon.engines.cpu.rows import compiled

DAMPING = np.float32(0.9)


def levels_of(height, width):
    """Return a table of (height, width, offset) of all levels down to a single pixel, and the size of their arrays."""
    table, offset = [], 0
    while True:
        table.append((height, width, offset))
        offset += (height + 2) * (width + 2)
        if height == width == 1:
            return np.array(table), offset
        height, width = (height + 1) // 2, (width + 1) // 2


@compiled
def level(flat, table, k):
    height, width, offset = table[k]
    return flat[offset : offset + (height + 2) * (width + 2)].reshape((height + 2, width + 2))


@compiled
def apply_row(diagonal, right, above, below, up, x, down, out):
    """Compute one row of A x; the rows that are given include their margins."""
    n = out.size
    d, east, west = diagonal[1 : n + 1], right[1 : n + 1], right[:n]
    north, south = above[1 : n + 1], below[1 : n + 1]
    xc, xe, xw, xn, xs = x[1 : n + 1], x[2 : n + 2], x[:n], up[1 : n + 1], down[1 : n + 1]
    for i in range(n):
        out[i] = d[i] * xc[i] - (east[i] * xe[i] + west[i] * xw[i]) - (north[i] * xn[i] + south[i] * xs[i])


@compiled
def product_row(data, right, above, below, up, x, down, out):
    """Compute the same by differences.

    Links may be a million times as large as the data term.  In their sum, the diagonal, the data term would be lost to
    rounding, and with it everything that is known about the disparity's mean.
    """
    n = out.size
    d, east, west = data[1 : n + 1], right[1 : n + 1], right[:n]
    north, south = above[1 : n + 1], below[1 : n + 1]
    xc, xe, xw, xn, xs = x[1 : n + 1], x[2 : n + 2], x[:n], up[1 : n + 1], down[1 : n + 1]
    for i in range(n):
        c = xc[i]
        out[i] = d[i] * c + (east[i] * (c - xe[i]) + west[i] * (c - xw[i]))
    for i in range(n):
        c = xc[i]
        out[i] += north[i] * (c - xn[i]) + south[i] * (c - xs[i])


@compiled
def jacobi_start_row(inverse, b, x):
    """x = damped D^-1 b: a Jacobi step from zero."""
    for i in range(1, x.size - 1):
        x[i] = DAMPING * inverse[i] * b[i]


@compiled
def descend(diagonal, inverse, right, below, b, x, coarse):
    """x = a Jacobi step from zero, and coarse = its residual b - A x summed over 2 x 2 pixels, in one sweep."""
    height, width = b.shape[0] - 2, b.shape[1] - 2
    product = np.empty(width, np.float32)
    total = np.zeros(width + 1, np.float32)
    jacobi_start_row(inverse[1], b[1], x[1])
    for y in range(1, height + 1):
        if y < height:
            jacobi_start_row(inverse[y + 1], b[y + 1], x[y + 1])
        apply_row(diagonal[y], right[y], below[y - 1], below[y], x[y - 1], x[y], x[y + 1], product)
        b_row = b[y, 1 : width + 1]
        if y % 2 == 1:
            total[:width] = 0
        for i in range(width):
            total[i] += b_row[i] - product[i]
        if y % 2 == 0 or y == height:
            line = coarse[(y + 1) // 2]
            for i in range(coarse.shape[1] - 2):
                line[i + 1] = total[2 * i] + total[2 * i + 1]


@compiled
def prolong_row(coarse, x):
    """Add the coarse correction to both pixels of each pair; the last one may stand alone."""
    width = x.size - 2
    for i in range(width // 2):
        x[2 * i + 1] += coarse[i + 1]
        x[2 * i + 2] += coarse[i + 1]
    if width % 2:
        x[width] += coarse[width // 2 + 1]


@compiled
def ascend(diagonal, inverse, right, below, b, x, coarse, out):
    """Add the coarse correction to x, and out = a Jacobi step from there, in one sweep.  Returns <b, out>."""
    height, width = b.shape[0] - 2, b.shape[1] - 2
    dot = 0.0
    prolong_row(coarse[1], x[1])
    for y in range(1, height + 1):
        if y < height:
            prolong_row(coarse[(y + 2) // 2], x[y + 1])
        result = out[y, 1 : width + 1]
        apply_row(diagonal[y], right[y], below[y - 1], below[y], x[y - 1], x[y], x[y + 1], result)
        b_row, i_row, x_row = b[y, 1 : width + 1], inverse[y, 1 : width + 1], x[y, 1 : width + 1]
        for i in range(width):
            result[i] = x_row[i] + DAMPING * i_row[i] * (b_row[i] - result[i])
        dot += dot_row(b_row, result)
    return dot


@compiled
def dot_row(a, b):
    """Return the inner product, summed in float64."""
    total = 0.0
    for i in range(a.size):
        total += float(a[i]) * float(b[i])
    return total


@compiled
def turn_row(beta, z, p):
    """p = z + beta p."""
    for i in range(p.size):
        p[i] = z[i] + beta * p[i]


@compiled
def turn_and_apply(beta, z, p, data, right, below, q):
    """p = z + beta p and q = A p, in one sweep.  Returns <p, q>."""
    height, width = p.shape[0] - 2, p.shape[1] - 2
    dot = 0.0
    turn_row(beta, z[1], p[1])
    for y in range(1, height + 1):
        if y < height:
            turn_row(beta, z[y + 1], p[y + 1])
        result = q[y, 1 : width + 1]
        product_row(data[y], right[y], below[y - 1], below[y], p[y - 1], p[y], p[y + 1], result)
        dot += dot_row(p[y, 1 : width + 1], result)
    return dot


@compiled
def step(a, p, q, x, r):
    """x += a p and r -= a q."""
    for y in range(1, x.shape[0] - 1):
        x_row, r_row, p_row, q_row = x[y], r[y], p[y], q[y]
        for i in range(x_row.size):
            x_row[i] += a * p_row[i]
        for i in range(x_row.size):
            r_row[i] -= a * q_row[i]


@compiled
def diagonals(data, right, below, diagonal, inverse):
    """diagonal = data + links, and its inverse, which is 0 if a pixel has neither data nor neighbours."""
    height, width = data.shape[0] - 2, data.shape[1] - 2
    for y in range(1, height + 1):
        for x in range(1, width + 1):
            total = data[y, x] + right[y, x] + right[y, x - 1] + below[y, x] + below[y - 1, x]
            diagonal[y, x] = total
            inverse[y, x] = np.float32(1) / total if total > 0 else np.float32(0)


@compiled
def coarsen(data, right, below, coarse_data, coarse_right, coarse_below):
    height, width = data.shape[0] - 2, data.shape[1] - 2
    half = np.float32(0.5)
    for yc in range(1, coarse_data.shape[0] - 1):
        y, y2 = 2 * yc - 1, min(2 * yc, height + 1)
        for xc in range(1, coarse_data.shape[1] - 1):
            x, x2 = 2 * xc - 1, min(2 * xc, width + 1)
            coarse_data[yc, xc] = (data[y, x] + data[y, x2]) + (data[y2, x] + data[y2, x2])
            coarse_right[yc, xc] = half * (right[y, x2] + right[y2, x2])
            coarse_below[yc, xc] = half * (below[y2, x] + below[y2, x2])


@compiled
def set_up(table, data, right, below, diagonal, inverse):
    """Fill in the coarser levels and all diagonals from the finest level's data and links."""
    for k in range(len(table)):
        d, r, b = level(data, table, k), level(right, table, k), level(below, table, k)
        diagonals(d, r, b, level(diagonal, table, k), level(inverse, table, k))
        if k + 1 < len(table):
            coarsen(d, r, b, level(data, table, k + 1), level(right, table, k + 1), level(below, table, k + 1))


@compiled
def v_cycle(table, diagonal, inverse, right, below, b, x, z):
    """z = the multigrid approximation of A^-1 b; the finest level of `b` is given.  Returns <b, z>."""
    last = len(table) - 1
    for k in range(last):
        d, i, r, w = level(diagonal, table, k), level(inverse, table, k), level(right, table, k), level(below, table, k)
        descend(d, i, r, w, level(b, table, k), level(x, table, k), level(b, table, k + 1))
    bottom = level(z, table, last)
    bottom[1, 1] = level(inverse, table, last)[1, 1] * level(b, table, last)[1, 1]
    dot = float(bottom[1, 1]) * float(level(b, table, last)[1, 1])
    for k in range(last - 1, -1, -1):
        d, i, r, w = level(diagonal, table, k), level(inverse, table, k), level(right, table, k), level(below, table, k)
        dot = ascend(d, i, r, w, level(b, table, k), level(x, table, k), level(z, table, k + 1), level(z, table, k))
    return dot


@compiled
def conjugate_gradients(table, data, diagonal, inverse, right, below, r, work, z, p, q, tolerance, most, solution):
    """Solve A solution = r by preconditioned conjugate gradients from zero; returns the number of iterations.

    `r` (all levels) holds the right-hand side on its finest level and becomes the residual.  It has converged when
    the residual, in the preconditioner's norm, has fallen by `tolerance`.
    """
    d, e, s = level(data, table, 0), level(right, table, 0), level(below, table, 0)
    r_0, z_0 = level(r, table, 0), level(z, table, 0)
    solution[:] = 0
    p[:] = 0
    rz = v_cycle(table, diagonal, inverse, right, below, r, work, z)
    goal = rz * tolerance * tolerance
    beta = 0.0
    for iteration in range(most):
        if not rz > goal:  # also if rz is 0 or not a number
            return iteration
        curvature = turn_and_apply(np.float32(beta), z_0, p, d, e, s, q)
        if not curvature > 0:
            return iteration
        step(np.float32(rz / curvature), p, q, solution, r_0)
        rz_new = v_cycle(table, diagonal, inverse, right, below, r, work, z)
        beta, rz = rz_new / rz, rz_new
    return most
