"""The data term of the cpu engine: linearise, weigh and sum over views and scales, tile by tile.

A tile is a few rows of some columns, small enough that the fields of all its views and scales stay in cache (1.6 MB
for 17 views and three scales), in the table S of `_cpu_rows`.  Each pixel's sums run over views and scales in one fixed
order, so that results do not depend on how tiles fall to threads: a function that takes `chunk, chunks` does every
chunks-th tile.
"""

import numpy as np

from gradcon.engines.cpu import rows as row
from gradcon.engines.cpu.rows import compiled
from gradcon.engines.cpu.warp import coupling_row
from gradcon.engines.views import COLUMN, ROW

TILE_ROWS, TILE_COLUMNS = 4, 512

# Rows of the table S that every function uses alike; fields of views and scales come after them.
SMOOTH, DX, DY, CX, CY, PAD_S, PAD_D, FREE = range(8)


@compiled
def new_table(rows, width, radius):
    return np.empty((rows, min(width, TILE_COLUMNS) + 2 * radius), np.float32)


def table_shape(sectors, equations, width, radius):
    """Of `weighted_term`: the common rows, sums of every tile row, five accumulators, the sectors' largest noise, and
    four fields of every tile row and equation (view and scale)."""
    rows = FREE + 2 * TILE_ROWS + 5 + sectors + 4 * TILE_ROWS * equations
    return rows, min(width, TILE_COLUMNS) + 2 * radius


@compiled
def tile_count(height, width):
    return ((height + TILE_ROWS - 1) // TILE_ROWS) * ((width + TILE_COLUMNS - 1) // TILE_COLUMNS)


@compiled
def tile_bounds(tile, height, width):
    """First and last row and column of a tile: y0, y1, x0, x1."""
    columns = (width + TILE_COLUMNS - 1) // TILE_COLUMNS
    y0 = (tile // columns) * TILE_ROWS
    x0 = (tile % columns) * TILE_COLUMNS
    return y0, min(y0 + TILE_ROWS, height), x0, min(x0 + TILE_COLUMNS, width)


@compiled
def linearise(kind, warped, reference, y, x0, n, even, odd, S, dI, g, G):
    """S[dI], S[g], S[G] of one view and scale on row y, columns x0 to x0 + n; its coupling is in S[CX], S[CY].

    `reference` holds the smoothed reference and its two derivatives.  A view in the reference's row or column needs one
    derivative only.
    """
    if kind == ROW:
        row.smooth_padded(warped, y, x0, n, even, S, PAD_S)
    else:
        row.smooth_and_derive_padded(warped, y, x0, n, even, odd, S, PAD_S, PAD_D)
        row.smooth_along(S, PAD_D, even, DY, n)
    if kind == COLUMN:
        row.smooth_along(S, PAD_S, even, SMOOTH, n)
    else:
        row.smooth_and_derive_along(S, PAD_S, even, odd, SMOOTH, DX, n)
    row.subtract(S, SMOOTH, reference[0], y, x0, dI, n)
    if kind == ROW:
        row.axis_gradients(S, CX, DX, reference[1], y, x0, g, G, n)
    elif kind == COLUMN:
        row.axis_gradients(S, CY, DY, reference[2], y, x0, g, G, n)
    else:
        row.project_rows(S, CX, CY, DX, DY, PAD_S, n)
        row.project_image(S, CX, CY, reference[1], reference[2], y, x0, PAD_D, n)
        row.gradients(S, PAD_S, PAD_D, g, G, n)


@compiled
def smooth_row(image, y, x0, n, even, S, out):
    """S[out] = row y of the image smoothed in both directions."""
    row.smooth_padded(image, y, x0, n, even, S, PAD_S)
    row.smooth_along(S, PAD_S, even, out, n)


@compiled
def finest_scale(chunk, chunks, warped, w, views, kinds, M, m, reference, even, odd, epsilon, g2, dw2):
    """At scale 0: g^2 of every view, and the squared residual disparity that all views together suggest."""
    height, width = w.shape
    dI, g, G, sum_dI, sum_g = FREE, FREE + 1, FREE + 2, FREE + 3, FREE + 4
    S = new_table(FREE + 5, width, even.size - 1)
    for tile in range(chunk, tile_count(height, width), chunks):
        y0, y1, x0, x1 = tile_bounds(tile, height, width)
        n = x1 - x0
        for y in range(y0, y1):
            row.fill(S, sum_dI, 0, n)
            row.fill(S, sum_g, 0, n)
            for k in range(views.size):
                t = views[k]
                coupling_row(kinds[t], M[t], m[t], w, y, x0, S, CX, CY, n)
                linearise(kinds[t], warped[k], reference, y, x0, n, even, odd, S, dI, g, G)
                row.add_absolute(S, dI, sum_dI, n)
                row.add_absolute(S, g, sum_g, n)
                row.store_square(S, g, g2[k], y, x0, n)
            row.residual(S, sum_dI, sum_g, epsilon, n)
            row.store_square(S, sum_dI, dw2, y, x0, n)


@compiled
def make_monotone(S, N2, tops, rings, sectors, n):
    """N^2 of a view (row N2 + k) becomes the largest of all views in a shared sector that stand no further out."""
    for sector in range(sectors.shape[0]):
        row.fill(S, tops + sector, 0, n)
    for ring in range(rings.size - 1):
        for k in range(rings[ring], rings[ring + 1]):
            for sector in range(sectors.shape[0]):
                if sectors[sector, k]:
                    row.raise_to(S, tops + sector, N2 + k, n)
        for k in range(rings[ring], rings[ring + 1]):
            for sector in range(sectors.shape[0]):
                if sectors[sector, k]:
                    row.raise_to(S, N2 + k, tops + sector, n)


@compiled
def keep_weights(S, weights, kept, step, x0, n):
    """kept[across, view] of the sampled pixels on a row."""
    for x in range(x0, x0 + n):
        if x % step == step // 2:
            for k in range(kept.shape[1]):
                kept[x // step, k] = S[weights + k, x - x0]


@compiled
def weighted_term(
    chunk, chunks, warped, w, views, kinds, M, m, references, evens, odds, taps,
    g2, blurred_dw2, use_gradient, use_scale, variance, noises, epsilon, rings, sectors, reweight,
    tables, diagonal, rhs, precision, kept, step,
):  # fmt: skip
    """Data term with the model's weights, and the information 1 / variance that it holds (`precision`).

    `tables` holds a table S for each chunk, of the shape that `table_shape` says.  Unless `step` is 0, the weights of a
    pixel in the middle of every `step` x `step` go to `kept`, (down, across, scale, view).
    Per scale: `references` (smoothed reference and derivatives), `evens`, `odds` (filters, of which `taps[q]` count),
    `noises`, `blurred_dw2`, and whether it has a scale term (`use_scale`).  `g2` is of scale 0, per view.
    """
    height, width = w.shape
    T, Q = views.size, taps.size
    count = T * Q
    # Rows as in `table_shape`.
    sum_dI2, sum_g2 = FREE, FREE + TILE_ROWS
    bound, weights, D, b, p = range(FREE + 2 * TILE_ROWS, FREE + 2 * TILE_ROWS + 5)
    tops = FREE + 2 * TILE_ROWS + 5
    fields = tops + sectors.shape[0]
    S = tables[chunk]
    for tile in range(chunk, tile_count(height, width), chunks):
        y0, y1, x0, x1 = tile_bounds(tile, height, width)
        n = x1 - x0
        for r in range(y1 - y0):
            row.fill(S, sum_dI2 + r, 0, n)
            row.fill(S, sum_g2 + r, 0, n)
        for k in range(T):
            t = views[k]
            for r in range(y1 - y0):
                y = y0 + r
                coupling_row(kinds[t], M[t], m[t], w, y, x0, S, CX, CY, n)
                for q in range(Q):
                    dI = fields + 4 * r * count + q * T + k
                    g, G, blurred_g2 = dI + count, dI + 2 * count, dI + 3 * count
                    even, odd = evens[q, : taps[q]], odds[q, : taps[q]]
                    linearise(kinds[t], warped[k], references[q], y, x0, n, even, odd, S, dI, g, G)
                    row.add_squares(S, dI, sum_dI2 + r, g, sum_g2 + r, n)
                    if use_scale[q]:
                        smooth_row(g2[k], y, x0, n, even, S, blurred_g2)
                    if not use_gradient:
                        row.fill(S, G, 0, n)
        for r in range(y1 - y0):
            y = y0 + r
            for accumulator in (weights, D, b, p):
                row.fill(S, accumulator, 0, n)
            for q in range(Q):
                dI = fields + 4 * r * count + q * T
                g, N2, blurred_g2 = dI + count, dI + 2 * count, dI + 3 * count
                row.error_bound(S, noises[q], sum_dI2 + r, sum_g2 + r, epsilon, variance, y, x0, bound, n)
                for k in range(T):
                    if use_scale[q]:
                        row.noise_with_scale_term(S, N2 + k, bound, blurred_g2 + k, blurred_dw2[q], y, x0, noises[q], n)
                    else:
                        row.noise_over_gradient(S, N2 + k, bound, noises[q], n)
                make_monotone(S, N2, tops, rings, sectors, n)
                for k in range(T):
                    row.weigh(S, g + k, N2 + k, weights, p, n)
                    row.accumulate(S, dI + k, g + k, N2 + k, D, b, reweight, n)
                if step > 0 and y % step == step // 2:
                    keep_weights(S, N2, kept[y // step, :, q], step, x0, n)
            Z = np.float32(count)  # so that the weights of a pixel sum to T Q
            row.store_ratio(S, D, Z, weights, diagonal, y, x0, n)
            row.store_ratio(S, b, Z, weights, rhs, y, x0, n)
            row.store(S, p, precision, y, x0, n)


@compiled
def uniform_term(chunk, chunks, warped, w, views, kinds, M, m, references, evens, odds, taps, reweight, diagonal, rhs):
    """Data term with all weights 1."""
    height, width = w.shape
    dI, g, G, ones, D, b = FREE, FREE + 1, FREE + 2, FREE + 3, FREE + 4, FREE + 5
    S = new_table(FREE + 6, width, taps.max() - 1)
    row.fill(S, ones, 1, S.shape[1])
    for tile in range(chunk, tile_count(height, width), chunks):
        y0, y1, x0, x1 = tile_bounds(tile, height, width)
        n = x1 - x0
        for y in range(y0, y1):
            row.fill(S, D, 0, n)
            row.fill(S, b, 0, n)
            for k in range(views.size):
                t = views[k]
                coupling_row(kinds[t], M[t], m[t], w, y, x0, S, CX, CY, n)
                for q in range(taps.size):
                    even, odd = evens[q, : taps[q]], odds[q, : taps[q]]
                    linearise(kinds[t], warped[k], references[q], y, x0, n, even, odd, S, dI, g, G)
                    row.accumulate(S, dI, g, ones, D, b, reweight, n)
            row.store(S, D, diagonal, y, x0, n)
            row.store(S, b, rhs, y, x0, n)
