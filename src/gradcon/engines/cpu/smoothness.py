"""The smoothness term of the cpu engine, and the step from one disparity to the next."""

from functools import partial

import numpy as np

from gradcon.engines import model
from gradcon.engines.cpu.rows import called, compiled, inlined

reweight_of = inlined(model.smoothness_reweight)
link = inlined(model.link)


# The planes of phi: what they multiply differences of neighbours but one along x and along y by, to get w_x and w_y.
# One plane serves both axes; or each axis has its own, which knows only the differences along it.
PLANES = {
    "isotropic": np.array([[0.5, 0.5]], np.float32),
    "anisotropic": np.array([[0.5, 0.0], [0.0, 0.5]], np.float32),
}

# The solver's arrays have a margin of one pixel, which stays zero, and its rows count from 1: `first` to `end` are such
# rows.  The functions fill the finest level of the solver, each after the one before it has filled all rows.


@called
def assemble_reweights(first, end, w, reweight, half_x, half_y, phi):
    """Compute a plane of phi at w, or 1 while w is not an estimate yet."""
    height, width = w.shape
    for y in range(first - 1, end - 1):
        up, down, line, out = w[max(y - 1, 0)], w[min(y + 1, height - 1)], w[y], phi[y]
        for x in range(width):
            wx = half_x * (line[min(x + 1, width - 1)] - line[max(x - 1, 0)])
            wy = half_y * (down[x] - up[x])
            out[x] = reweight_of(wx, wy) if reweight else model.ONE


@called
def assemble_links(first, end, phi_x, phi_y, diagonal, alpha, data, right, below):
    """Copy the data term, and compute the links alpha L."""
    height, width = phi_x.shape
    for y in range(first - 1, end - 1):
        data_row, right_row, below_row = data[y + 1, 1:-1], right[y + 1, 1:-1], below[y + 1, 1:-1]
        across, here, next_row = phi_x[y], phi_y[y], phi_y[min(y + 1, height - 1)]
        has_below = np.float32(alpha if y < height - 1 else 0)
        for x in range(width - 1):
            right_row[x] = alpha * link(across[x], across[x + 1])
        for x in range(width):
            data_row[x] = diagonal[y, x]
            below_row[x] = has_below * link(here[x], next_row[x])


@called
def assemble_rhs(first, end, w, rhs, right, below, b):
    """b = rhs - alpha L w."""
    height, width = w.shape
    for y in range(first - 1, end - 1):
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
def limited_step(chunk, chunks, w, dw, limit, out, met):
    """out = w + dw, with |dw| limited; met[y] = how many pixels of row y met the limit."""
    height, width = w.shape
    for y in range(chunk, height, chunks):
        count = 0
        for x in range(width):
            step = dw[y, x]
            if abs(step) > limit:
                count += 1
            out[y, x] = w[y, x] + min(max(step, -limit), limit)
        met[y] = count


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


@partial(compiled, fastmath=False)  # which would let NaN into the sum
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
