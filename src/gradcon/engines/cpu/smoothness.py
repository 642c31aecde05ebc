"""The smoothness term of the cpu engine, and the step from one disparity to the next."""

import numpy as np
from numba import njit

from gradcon.engines import model
from gradcon.engines.cpu.rows import compiled

reweight_of = compiled(model.smoothness_reweight)
link = compiled(model.link)


@compiled
def assemble(w, diagonal, rhs, alpha, reweight, data, right, below, b):
    """Fill the finest level of the solver: data term, links alpha L, and b = rhs - alpha L w.

    The solver's arrays have a margin of one pixel, which stays zero.
    """
    height, width = w.shape
    phi = np.ones((height, width), np.float32)
    if reweight:
        for y in range(height):
            up, down = w[max(y - 1, 0)], w[min(y + 1, height - 1)]
            for x in range(width):
                wx = model.HALF * (w[y, min(x + 1, width - 1)] - w[y, max(x - 1, 0)])
                wy = model.HALF * (down[x] - up[x])
                phi[y, x] = reweight_of(wx, wy)
    for y in range(height):
        data_row, right_row, below_row = data[y + 1, 1:-1], right[y + 1, 1:-1], below[y + 1, 1:-1]
        here, next_row = phi[y], phi[min(y + 1, height - 1)]
        has_below = np.float32(alpha if y < height - 1 else 0)
        for x in range(width - 1):
            right_row[x] = alpha * link(here[x], here[x + 1])
        for x in range(width):
            data_row[x] = diagonal[y, x]
            below_row[x] = has_below * link(here[x], next_row[x])
    for y in range(height):
        up, down = w[max(y - 1, 0)], w[min(y + 1, height - 1)]
        for x in range(width):
            centre = w[y, x]
            left, east = w[y, max(x - 1, 0)], w[y, min(x + 1, width - 1)]
            b[y + 1, x + 1] = rhs[y, x] - (
                right[y + 1, x + 1] * (centre - east)
                + right[y + 1, x] * (centre - left)
                + below[y + 1, x + 1] * (centre - down[x])
                + below[y, x + 1] * (centre - up[x])
            )


@compiled
def limited_step(w, dw, limit, out):
    """out = w + dw, with |dw| limited; returns the share of pixels that met the limit."""
    height, width = w.shape
    met = np.zeros(height, np.int64)
    for y in range(height):
        count = 0
        for x in range(width):
            step = dw[y, x]
            if abs(step) > limit:
                count += 1
            out[y, x] = w[y, x] + min(max(step, -limit), limit)
        met[y] = count
    return met.sum() / (height * width)


@compiled
def change(before, after):
    """Return the mean and the largest |after - before|."""
    height, width = before.shape
    total, most = np.zeros(height), np.zeros(height)
    for y in range(height):
        s, top = 0.0, 0.0
        for x in range(width):
            difference = abs(float(after[y, x]) - float(before[y, x]))
            s += difference
            top = max(top, difference)
        total[y], most[y] = s, top
    return total.sum() / (height * width), most.max()


@njit(cache=True, nogil=True)  # not `compiled`: its fast-math flags would let NaN into the sum
def rmse(w, truth, unit):
    """Return the root mean squared error of w / unit where the truth is known."""
    height, width = w.shape
    squares, known = np.zeros(height), np.zeros(height, np.int64)
    for y in range(height):
        s, n = 0.0, 0
        for x in range(width):
            error = float(w[y, x]) / unit - float(truth[y, x])
            if np.isfinite(error):
                s += error * error
                n += 1
        squares[y], known[y] = s, n
    return np.sqrt(squares.sum() / known.sum())
