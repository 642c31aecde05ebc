"""The data term of the cpu engine: linearise, weigh and sum over views and scales, tile by tile.

A tile is a few rows of some columns, small enough that the fields of all its views and scales stay in cache (1.6 MB
for 17 views and three scales), in the table S of `rows`.  Each pixel's sums run over views and scales in one fixed
order, so that results do not depend on which thread gets which tile: a function that takes `chunk, chunks` works on
every chunks-th tile.
"""

import numpy as np

from gradcon.engines.cpu import row_filters
from gradcon.engines.cpu import row_model as row
from gradcon.engines.cpu.arguments import CX, CY, DX, DY, FREE, PAD_D, PAD_S, SMOOTH, TILE_COLUMNS, TILE_ROWS
from gradcon.engines.cpu.rows import compiled
from gradcon.engines.cpu.warp import coupling_row
from gradcon.engines.views import COLUMN, ROW


@compiled
def equation(at, r, q, k):
    """Return the offset of tile row r, scale q and view k within dI, g, G and blurred_g2."""
    return 4 * r * at.equations + q * at.views + k


@compiled
def table_width(width, radius):
    return min(width, TILE_COLUMNS) + 2 * radius


@compiled
def new_table(rows, width, radius):
    return np.empty((rows, table_width(width, radius)), np.float32)


@compiled
def tile_count(height, width):
    return ((height + TILE_ROWS - 1) // TILE_ROWS) * ((width + TILE_COLUMNS - 1) // TILE_COLUMNS)


@compiled
def tile_bounds(tile, height, width):
    """Return y0, y1, x0, x1: a tile has the rows from y0 to before y1 and the columns from x0 to before x1."""
    columns = (width + TILE_COLUMNS - 1) // TILE_COLUMNS
    y0 = (tile // columns) * TILE_ROWS
    x0 = (tile % columns) * TILE_COLUMNS
    return y0, min(y0 + TILE_ROWS, height), x0, min(x0 + TILE_COLUMNS, width)


@compiled
def linearise(kind, warped, reference, y, x0, n, even, odd, S, dI, g, G):
    """Compute S[dI], S[g], S[G] of one view and scale on n pixels of row y from x0; its coupling is in S[CX], S[CY].

    `reference` holds the smoothed reference and its two derivatives.  A view in the reference's row or column needs
    only one derivative.
    """
    if kind == ROW:
        row_filters.smooth_padded(warped, y, x0, n, even, S, PAD_S)
    else:
        row_filters.smooth_and_derive_padded(warped, y, x0, n, even, odd, S, PAD_S, PAD_D)
        row_filters.smooth_along(S, PAD_D, even, DY, n)
    if kind == COLUMN:
        row_filters.smooth_along(S, PAD_S, even, SMOOTH, n)
    else:
        row_filters.smooth_and_derive_along(S, PAD_S, even, odd, SMOOTH, DX, n)
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
    row_filters.smooth_padded(image, y, x0, n, even, S, PAD_S)
    row_filters.smooth_along(S, PAD_S, even, out, n)


@compiled
def finest_scale(chunk, chunks, w, views, reference, even, odd, epsilon, g2, dw2):
    """Compute, at scale 0, g^2 of every view and the squared residual disparity that all views together suggest."""
    height, width = w.shape
    dI, g, G, sum_dI, sum_g = FREE, FREE + 1, FREE + 2, FREE + 3, FREE + 4
    S = new_table(FREE + 5, width, even.size - 1)
    for tile in range(chunk, tile_count(height, width), chunks):
        y0, y1, x0, x1 = tile_bounds(tile, height, width)
        n = x1 - x0
        for y in range(y0, y1):
            row.fill(S, sum_dI, 0, n)
            row.fill(S, sum_g, 0, n)
            for k in range(views.chosen.size):
                t = views.chosen[k]
                coupling_row(views.kinds[t], views.M[t], views.m[t], w, y, x0, S, CX, CY, n)
                linearise(views.kinds[t], views.warped[k], reference, y, x0, n, even, odd, S, dI, g, G)
                row.add_absolute(S, dI, sum_dI, n)
                row.add_absolute(S, g, sum_g, n)
                row.store_square(S, g, g2[k], y, x0, n)
            row.residual(S, sum_dI, sum_g, epsilon, n)
            row.store_square(S, sum_dI, dw2, y, x0, n)


@compiled
def make_monotone(S, N2, tops, order, n):
    """Raise N^2 of each view (row N2 + k) as `engines.views.Order` says."""
    directions, T = order.memberships.shape
    for d in range(directions):
        row.fill(S, tops + d, 0, n)
    for k in range(T):
        for d in range(directions):
            if order.memberships[d, k] > 0:
                row.raise_to(S, tops + d, order.memberships[d, k], N2 + k, n)
        for d in range(directions):
            if order.memberships[d, k] > 0:
                row.raise_to(S, N2 + k, order.memberships[d, k], tops + d, n)
        for other in range(k + 1, order.ends[k]):
            share = order.shares[order.starts[k] + other - k - 1]
            if share > 0:
                row.raise_to(S, N2 + k, share, N2 + other, n)


@compiled
def keep_weights(S, weights, kept, step, x0, n):
    """Copy the weights of the sampled pixels on a row to kept[across, view]."""
    for x in range(x0, x0 + n):
        if x % step == step // 2:
            for k in range(kept.shape[1]):
                kept[x // step, k] = S[weights + k, x - x0]


@compiled
def weighted_term(chunk, chunks, w, views, scales, model, reweight, at, tables, sums, sample):
    """Compute the data term with the model's weights; `tables` holds a table S, laid out as `at` says, per chunk."""
    height, width = w.shape
    T, Q = views.chosen.size, scales.taps.size
    S = tables[chunk]
    for tile in range(chunk, tile_count(height, width), chunks):
        y0, y1, x0, x1 = tile_bounds(tile, height, width)
        n = x1 - x0
        for r in range(y1 - y0):
            row.fill(S, at.sum_dI2 + r, 0, n)
            row.fill(S, at.sum_g2 + r, 0, n)
        for k in range(T):
            t = views.chosen[k]
            for r in range(y1 - y0):
                y = y0 + r
                coupling_row(views.kinds[t], views.M[t], views.m[t], w, y, x0, S, CX, CY, n)
                for q in range(Q):
                    i = equation(at, r, q, k)
                    dI, g, G = at.dI + i, at.g + i, at.G + i
                    even, odd = scales.evens[q, : scales.taps[q]], scales.odds[q, : scales.taps[q]]
                    reference = scales.references[q]
                    linearise(views.kinds[t], views.warped[k], reference, y, x0, n, even, odd, S, dI, g, G)
                    row.add_squares(S, dI, at.sum_dI2 + r, g, at.sum_g2 + r, n)
                    if model.use_scale[q]:
                        smooth_row(model.g2[k], y, x0, n, even, S, at.blurred_g2 + i)
                    if not model.use_gradient:
                        row.fill(S, G, 0, n)
        for r in range(y1 - y0):
            y = y0 + r
            for accumulator in (at.total, at.D, at.b, at.p):
                row.fill(S, accumulator, 0, n)
            for q in range(Q):
                i = equation(at, r, q, 0)
                dI, g, N2, blurred_g2 = at.dI + i, at.g + i, at.G + i, at.blurred_g2 + i
                noise, dw2 = model.noises[q], model.blurred_dw2[q]
                row.error_bound(
                    S, noise, at.sum_dI2 + r, at.sum_g2 + r, model.epsilon, model.variance, y, x0, at.bound, n
                )
                for k in range(T):
                    if model.use_scale[q]:
                        row.noise_with_scale_term(S, N2 + k, at.bound, blurred_g2 + k, dw2, y, x0, noise, n)
                    else:
                        row.noise_over_gradient(S, N2 + k, at.bound, noise, n)
                make_monotone(S, N2, at.tops, model.order, n)
                for k in range(T):
                    row.weigh(S, g + k, N2 + k, at.total, at.p, n)
                    row.accumulate(S, dI + k, g + k, N2 + k, at.D, at.b, reweight, n)
                if sample.step > 0 and y % sample.step == sample.step // 2:
                    keep_weights(S, N2, sample.weights[y // sample.step, :, q], sample.step, x0, n)
            Z = np.float32(at.equations)  # so that the weights of a pixel sum to T Q
            row.store_ratio(S, at.D, Z, at.total, sums.diagonal, y, x0, n)
            row.store_ratio(S, at.b, Z, at.total, sums.rhs, y, x0, n)
            row.store(S, at.p, sums.precision, y, x0, n)


@compiled
def uniform_term(chunk, chunks, w, views, scales, reweight, diagonal, rhs):
    """Compute the data term with all weights 1."""
    height, width = w.shape
    dI, g, G, ones, D, b = FREE, FREE + 1, FREE + 2, FREE + 3, FREE + 4, FREE + 5
    S = new_table(FREE + 6, width, scales.taps.max() - 1)
    row.fill(S, ones, 1, S.shape[1])
    for tile in range(chunk, tile_count(height, width), chunks):
        y0, y1, x0, x1 = tile_bounds(tile, height, width)
        n = x1 - x0
        for y in range(y0, y1):
            row.fill(S, D, 0, n)
            row.fill(S, b, 0, n)
            for k in range(views.chosen.size):
                t = views.chosen[k]
                coupling_row(views.kinds[t], views.M[t], views.m[t], w, y, x0, S, CX, CY, n)
                for q in range(scales.taps.size):
                    even, odd = scales.evens[q, : scales.taps[q]], scales.odds[q, : scales.taps[q]]
                    reference = scales.references[q]
                    linearise(views.kinds[t], views.warped[k], reference, y, x0, n, even, odd, S, dI, g, G)
                    row.accumulate(S, dI, g, ones, D, b, reweight, n)
            row.store(S, D, diagonal, y, x0, n)
            row.store(S, b, rhs, y, x0, n)
