"""The inner solver of the cpu engine: conjugate gradients, preconditioned by a V-cycle, on all cores.

All threads run the whole loop and meet after each sweep (`barrier`).  Inner products are added up row by row in order,
by every thread for itself, so that all of them take the same decisions, and the same ones for any number of threads.
"""

import numpy as np

from gradcon.engines.cpu.barrier import meet
from gradcon.engines.cpu.multigrid import band, dot_row, level, set_up, v_cycle
from gradcon.engines.cpu.rows import called, compiled
from gradcon.engines.cpu.smoothness import assemble_links, assemble_reweights, assemble_rhs


@called
def product_row(data, right, above, below, up, x, down, out):
    """Compute one row of A x by differences; the rows that are given include their margins.

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


@called
def turned_row(beta, z, p, out):
    """out = z + beta p."""
    for i in range(p.size):
        out[i] = z[i] + beta * p[i]


@called
def turn_and_apply(chunk, chunks, beta, z, p, data, right, below, turned, q, dots):
    """turned = z + beta p and q = A turned, in one sweep; dots[y] = <turned, q> on row y."""
    height, width = p.shape[0] - 2, p.shape[1] - 2
    first, end = band(chunk, chunks, height)
    if first == end:
        return
    before, after = np.zeros(width + 2, np.float32), np.zeros(width + 2, np.float32)
    turned_row(beta, z[first - 1], p[first - 1], before)
    turned_row(beta, z[end], p[end], after)
    turned_row(beta, z[first], p[first], turned[first])
    for y in range(first, end):
        if y + 1 < end:
            turned_row(beta, z[y + 1], p[y + 1], turned[y + 1])
        up, down = turned[y - 1] if y > first else before, turned[y + 1] if y + 1 < end else after
        result = q[y, 1 : width + 1]
        product_row(data[y], right[y], below[y - 1], below[y], up, turned[y], down, result)
        dots[y - 1] = dot_row(turned[y, 1 : width + 1], result)


@called
def step(chunk, chunks, a, p, q, x, r):
    """x += a p and r -= a q."""
    first, end = band(chunk, chunks, x.shape[0] - 2)
    for y in range(first, end):
        x_row, r_row, p_row, q_row = x[y], r[y], p[y], q[y]
        for i in range(x_row.size):
            x_row[i] += a * p_row[i]
        for i in range(x_row.size):
            r_row[i] -= a * q_row[i]


@called
def total(dots):
    """Add up in order."""
    found = 0.0
    for value in dots:
        found += value
    return found


@called
def conjugate_gradients(chunk, chunks, barrier, system, directions, q, dots, tolerance, most, solution):
    """Solve A solution = r from zero, and return the number of iterations.

    The finest level of the system's `r` holds the right-hand side and becomes the residual.  It has converged when the
    residual, in the preconditioner's norm, has fallen by `tolerance`.  `directions` holds the search direction and the
    next one, in turns.
    """
    table = system.table
    data, right, below = level(system.data, table, 0), level(system.right, table, 0), level(system.below, table, 0)
    r, z = level(system.r, table, 0), level(system.z, table, 0)
    first, end = band(chunk, chunks, table[0, 0])
    solution[first:end] = 0
    directions[:, first:end] = 0
    v_cycle(chunk, chunks, barrier, system, dots[0])
    rz, beta = total(dots[0]), 0.0
    goal = rz * tolerance * tolerance
    for iteration in range(most):
        if not rz > goal:  # also if rz is 0 or not a number
            return iteration
        p, turned = directions[iteration % 2], directions[1 - iteration % 2]
        turn_and_apply(chunk, chunks, np.float32(beta), z, p, data, right, below, turned, q, dots[1])
        meet(barrier, chunks)
        curvature = total(dots[1])
        if not curvature > 0:
            return iteration
        step(chunk, chunks, np.float32(rz / curvature), turned, q, solution, r)
        meet(barrier, chunks)
        v_cycle(chunk, chunks, barrier, system, dots[0])
        before, rz = rz, total(dots[0])
        beta = rz / before
    return most


@compiled
def solve(
    chunk,
    chunks,
    barrier,
    w,
    diagonal,
    rhs,
    alpha,
    reweight,
    planes,
    phi,
    system,
    directions,
    q,
    dots,
    tolerance,
    most,
    x,
    counts,
):
    """Solve (diagonal + alpha L) x = rhs - alpha L w; counts[0] = the number of iterations.

    `planes` is one of `smoothness.PLANES`, and `phi` memory for so many.
    """
    table = system.table
    rows = band(chunk, chunks, w.shape[0])
    right, below = level(system.right, table, 0), level(system.below, table, 0)
    for i in range(len(planes)):
        assemble_reweights(*rows, w, reweight, planes[i, 0], planes[i, 1], phi[i])
    meet(barrier, chunks)
    assemble_links(*rows, phi[0], phi[len(planes) - 1], diagonal, alpha, level(system.data, table, 0), right, below)
    meet(barrier, chunks)
    assemble_rhs(*rows, w, rhs, right, below, level(system.r, table, 0))
    set_up(chunk, chunks, barrier, system)
    iterations = conjugate_gradients(chunk, chunks, barrier, system, directions, q, dots, tolerance, most, x)
    if chunk == 0:
        counts[0] = iterations
