"""The data term of the cpu engine: linearise, weigh and sum over views and scales, tile by tile.

A tile is a few rows of a few hundred columns, small enough that the fields of all its views and scales stay in the
second-level cache.  Each pixel's sums run over views and scales in one fixed order, so that results do not depend on
how tiles fall to threads.  Every parallel function deals its tiles out to `chunks` workers, each with scratch of its
own, and leaves the work to a serial twin.
"""

import numpy as np
from numba import njit, prange

from gradcon import model
from gradcon.engines._cpu_rows import FAST, filter_along, filter_rows, repeat_borders
from gradcon.engines._cpu_warp import COLUMN, ROW, coupling_row

TILE_ROWS, TILE_COLUMNS = 4, 512

compiled = njit(cache=True, fastmath=FAST, nogil=True)
parallel = njit(cache=True, fastmath=FAST, nogil=True, parallel=True)
along = compiled(model.along)
mean_gradient = compiled(model.mean_gradient)
gradient_inconsistency = compiled(model.gradient_inconsistency)
residual_disparity = compiled(model.residual_disparity)
scale_inconsistency = compiled(model.scale_inconsistency)
disparity_error = compiled(model.disparity_error)
noise_power = compiled(model.noise_power)
data_reweight = compiled(model.data_reweight)
information = compiled(model.information)
local_variance = compiled(model.local_variance)


@compiled
def window(x0, x1, width, radius):
    """The columns xa to xb that a filter of `radius` needs for x0 to x1, and how many are missing on either side."""
    xa, xb = max(x0 - radius, 0), min(x1 + radius, width)
    return xa, xb, radius - (x0 - xa), radius - (xb - x1)


@compiled
def smooth_tile_row(source, y, x0, x1, even, padded, out):
    """Row y, columns x0 to x1, of the source smoothed in both directions."""
    radius = even.size - 1
    xa, xb, left, right = window(x0, x1, source.shape[1], radius)
    line = padded[: x1 - x0 + 2 * radius]
    filter_rows(source, y, xa, xb, even, even, line[left : line.size - right], line[:0])
    repeat_borders(line, left, right)
    filter_along(line, even, even, out, line[:0])


@compiled
def finish_axis(smooth, derived, reference, reference_derived, c, dI, g, G):
    for x in range(dI.size):
        dI[x] = smooth[x] - reference[x]
        d_t, d_r = c[x] * derived[x], c[x] * reference_derived[x]
        g[x] = mean_gradient(d_t, d_r)
        G[x] = gradient_inconsistency(d_t, d_r)


@compiled
def finish(smooth, dx, dy, reference, reference_dx, reference_dy, cx, cy, dI, g, G):
    for x in range(dI.size):
        dI[x] = smooth[x] - reference[x]
        d_t = along(cx[x], cy[x], dx[x], dy[x])
        d_r = along(cx[x], cy[x], reference_dx[x], reference_dy[x])
        g[x] = mean_gradient(d_t, d_r)
        G[x] = gradient_inconsistency(d_t, d_r)


@compiled
def linearise(kind, cx, cy, warped, reference, y, x0, x1, even, odd, rows, dI, g, G):
    """dI, g and G of one view and scale, on row y, columns x0 to x1; `rows` is scratch.

    `reference` holds the smoothed reference and its two derivatives.  A view in the reference's row or column needs
    one derivative only.
    """
    n, radius = x1 - x0, even.size - 1
    xa, xb, left, right = window(x0, x1, warped.shape[1], radius)
    s_line, d_line = rows[0, : n + 2 * radius], rows[1, : n + 2 * radius]
    inside = slice(left, n + 2 * radius - right)
    smooth, dx, dy = rows[2, :n], rows[3, :n], rows[4, :n]
    nothing = rows[0, :0]
    s_r, dx_r, dy_r = reference[0, y, x0:x1], reference[1, y, x0:x1], reference[2, y, x0:x1]
    if kind == ROW:
        filter_rows(warped, y, xa, xb, even, odd, s_line[inside], nothing)
        repeat_borders(s_line, left, right)
        filter_along(s_line, even, odd, smooth, dx)
        finish_axis(smooth, dx, s_r, dx_r, cx, dI, g, G)
        return
    filter_rows(warped, y, xa, xb, even, odd, s_line[inside], d_line[inside])
    repeat_borders(s_line, left, right)
    repeat_borders(d_line, left, right)
    filter_along(d_line, even, odd, dy, nothing)
    if kind == COLUMN:
        filter_along(s_line, even, odd, smooth, nothing)
        finish_axis(smooth, dy, s_r, dy_r, cy, dI, g, G)
    else:
        filter_along(s_line, even, odd, smooth, dx)
        finish(smooth, dx, dy, s_r, dx_r, dy_r, cx, cy, dI, g, G)


@compiled
def tile_bounds(tile, columns, height, width):
    y0 = (tile // columns) * TILE_ROWS
    x0 = (tile % columns) * TILE_COLUMNS
    return y0, min(y0 + TILE_ROWS, height), x0, min(x0 + TILE_COLUMNS, width)


@compiled
def tile_grid(height, width):
    rows = (height + TILE_ROWS - 1) // TILE_ROWS
    columns = (width + TILE_COLUMNS - 1) // TILE_COLUMNS
    return rows * columns, columns


@compiled
def scratch_rows(count, width, radius):
    """Rows of scratch, each long enough for a tile and its margins."""
    return np.empty((count, min(width, TILE_COLUMNS) + 2 * radius), np.float32)


@compiled
def finest_tiles(chunk, chunks, warped, w, views, kinds, M, m, reference, even, odd, epsilon, g2, dw2):
    height, width = w.shape
    tiles, columns = tile_grid(height, width)
    rows = scratch_rows(12, width, even.size - 1)
    for tile in range(chunk, tiles, chunks):
        y0, y1, x0, x1 = tile_bounds(tile, columns, height, width)
        n = x1 - x0
        cx, cy = rows[5, :n], rows[6, :n]
        dI, g, G, sum_dI, sum_g = rows[7, :n], rows[8, :n], rows[9, :n], rows[10, :n], rows[11, :n]
        for y in range(y0, y1):
            sum_dI[:] = 0
            sum_g[:] = 0
            for k in range(views.size):
                t = views[k]
                coupling_row(kinds[t], M[t], m[t], w[y, x0:x1], y, x0, height, width, cx, cy)
                linearise(kinds[t], cx, cy, warped[k], reference, y, x0, x1, even, odd, rows, dI, g, G)
                finest_row(dI, g, sum_dI, sum_g, g2[k, y, x0:x1])
            residual_row(sum_dI, sum_g, epsilon, dw2[y, x0:x1])


@parallel
def finest_scale(chunks, warped, w, views, kinds, M, m, reference, even, odd, epsilon, g2, dw2):
    """At scale 0: g^2 of every view, and the squared residual disparity that all views together suggest."""
    for chunk in prange(chunks):
        finest_tiles(chunk, chunks, warped, w, views, kinds, M, m, reference, even, odd, epsilon, g2, dw2)


@compiled
def finest_row(dI, g, sum_dI, sum_g, g2):
    for x in range(dI.size):
        sum_dI[x] += abs(dI[x])
        sum_g[x] += abs(g[x])
        g2[x] = g[x] * g[x]


@compiled
def residual_row(sum_dI, sum_g, epsilon, dw2):
    for x in range(dw2.size):
        dw = residual_disparity(sum_dI[x], sum_g[x], epsilon)
        dw2[x] = dw * dw


@compiled
def squares_row(dI, g, sum_dI2, sum_g2):
    for x in range(dI.size):
        sum_dI2[x] += dI[x] * dI[x]
        sum_g2[x] += g[x] * g[x]


@compiled
def bound_row(noise, sum_dI2, sum_g2, epsilon, variance, bound):
    for x in range(bound.size):
        bound[x] = disparity_error(noise, sum_dI2[x], sum_g2[x], epsilon, variance[x])


@compiled
def noise_row(G, bound, blurred_g2, blurred_dw2, noise):
    """N^2, written over G."""
    for x in range(G.size):
        G[x] = noise_power(G[x], bound[x], scale_inconsistency(blurred_g2[x], blurred_dw2[x]), noise)


@compiled
def raise_row(top, N2):
    for x in range(top.size):
        top[x] = N2[x] if N2[x] > top[x] else top[x]


@compiled
def accumulate_row(dI, g, N2, diagonal, rhs, weights, precision):
    for x in range(dI.size):
        weight = model.ONE / N2[x]
        weighted = weight * data_reweight(dI[x]) * g[x]
        weights[x] += weight
        diagonal[x] += weighted * g[x]
        rhs[x] -= weighted * dI[x]
        precision[x] += information(g[x], N2[x])


@compiled
def accumulate_row_plain(dI, g, N2, diagonal, rhs, weights, precision):
    """The same with R = 1, for the first solve."""
    for x in range(dI.size):
        weight = model.ONE / N2[x]
        weights[x] += weight
        diagonal[x] += weight * g[x] * g[x]
        rhs[x] -= weight * g[x] * dI[x]
        precision[x] += information(g[x], N2[x])


@compiled
def normalise_row(weights, count, diagonal, rhs):
    """Divide by Z, so that the weights of a pixel sum to the number of its equations."""
    for x in range(weights.size):
        Z = count / weights[x]
        diagonal[x] *= Z
        rhs[x] *= Z


@compiled
def monotone_noise(N2, n, rings, sectors, tops):
    """N2[view] becomes the largest of all views in a shared sector that stand no further out."""
    tops[:] = 0
    for ring in range(rings.size - 1):
        for k in range(rings[ring], rings[ring + 1]):
            for sector in range(sectors.shape[0]):
                if sectors[sector, k]:
                    raise_row(tops[sector, :n], N2[k, :n])
        for k in range(rings[ring], rings[ring + 1]):
            for sector in range(sectors.shape[0]):
                if sectors[sector, k]:
                    raise_row(N2[k, :n], tops[sector, :n])


@compiled
def weighted_tiles(
    chunk, chunks, warped, w, views, kinds, M, m, references, evens, odds, taps,
    g2, blurred_dw2, use_gradient, use_scale, variance, noises, epsilon, rings, sectors, reweight,
    diagonal, rhs, precision,
):  # fmt: skip
    height, width = w.shape
    T, Q = views.size, taps.size
    tiles, columns = tile_grid(height, width)
    n_max = min(width, TILE_COLUMNS)
    rows = scratch_rows(9, width, taps.max() - 1)
    tops = np.empty((sectors.shape[0], n_max), np.float32)
    fields = np.empty((4, TILE_ROWS, Q, T, n_max), np.float32)
    sums = np.empty((2, TILE_ROWS, n_max), np.float32)
    dI, g, G, O = fields[0], fields[1], fields[2], fields[3]
    sum_dI2, sum_g2 = sums[0], sums[1]
    for tile in range(chunk, tiles, chunks):
        y0, y1, x0, x1 = tile_bounds(tile, columns, height, width)
        n = x1 - x0
        sums[:] = 0
        for k in range(T):
            t = views[k]
            for r in range(y1 - y0):
                y = y0 + r
                cx, cy = rows[5, :n], rows[6, :n]
                coupling_row(kinds[t], M[t], m[t], w[y, x0:x1], y, x0, height, width, cx, cy)
                for q in range(Q):
                    even, odd = evens[q, : taps[q]], odds[q, : taps[q]]
                    dI_r, g_r, G_r = dI[r, q, k, :n], g[r, q, k, :n], G[r, q, k, :n]
                    linearise(kinds[t], cx, cy, warped[k], references[q], y, x0, x1, even, odd, rows, dI_r, g_r, G_r)
                    squares_row(dI_r, g_r, sum_dI2[r, :n], sum_g2[r, :n])
                    if use_scale[q]:
                        smooth_tile_row(g2[k], y, x0, x1, even, rows[0], O[r, q, k, :n])
                    else:
                        O[r, q, k, :n] = 0
                    if not use_gradient:
                        G_r[:] = 0
        for r in range(y1 - y0):
            y = y0 + r
            bound, weights = rows[7, :n], rows[8, :n]
            N2 = G[r]  # takes its place
            here = slice(x0, x1)
            D, b, p = diagonal[y, here], rhs[y, here], precision[y, here]
            weights[:] = 0
            D[:] = 0
            b[:] = 0
            p[:] = 0
            for q in range(Q):
                bound_row(noises[q], sum_dI2[r, :n], sum_g2[r, :n], epsilon, variance[y, here], bound)
                for k in range(T):
                    noise_row(N2[q, k, :n], bound, O[r, q, k, :n], blurred_dw2[q, y, here], noises[q])
                monotone_noise(N2[q], n, rings, sectors, tops)
                for k in range(T):
                    if reweight:
                        accumulate_row(dI[r, q, k, :n], g[r, q, k, :n], N2[q, k, :n], D, b, weights, p)
                    else:
                        accumulate_row_plain(dI[r, q, k, :n], g[r, q, k, :n], N2[q, k, :n], D, b, weights, p)
            normalise_row(weights, np.float32(T * Q), D, b)


@parallel
def weighted_term(
    chunks, warped, w, views, kinds, M, m, references, evens, odds, taps,
    g2, blurred_dw2, use_gradient, use_scale, variance, noises, epsilon, rings, sectors, reweight,
    diagonal, rhs, precision,
):  # fmt: skip
    """Data term with the model's weights, and the information 1 / variance that it holds (`precision`).

    Per scale: `references` (smoothed reference and derivatives), `evens`, `odds` (taps, of which `taps[q]` count),
    `noises`, `blurred_dw2`, and whether it has a scale term (`use_scale`).  `g2` is of scale 0, per view.
    """
    for chunk in prange(chunks):
        weighted_tiles(
            chunk, chunks, warped, w, views, kinds, M, m, references, evens, odds, taps,
            g2, blurred_dw2, use_gradient, use_scale, variance, noises, epsilon, rings, sectors, reweight,
            diagonal, rhs, precision,
        )  # fmt: skip


@compiled
def uniform_tiles(
    chunk, chunks, warped, w, views, kinds, M, m, references, evens, odds, taps, reweight, diagonal, rhs
):  # fmt: skip
    height, width = w.shape
    tiles, columns = tile_grid(height, width)
    rows = scratch_rows(13, width, taps.max() - 1)
    for tile in range(chunk, tiles, chunks):
        y0, y1, x0, x1 = tile_bounds(tile, columns, height, width)
        n = x1 - x0
        cx, cy, dI, g, G = rows[5, :n], rows[6, :n], rows[7, :n], rows[8, :n], rows[9, :n]
        ones, weights, precision = rows[10, :n], rows[11, :n], rows[12, :n]
        ones[:] = 1
        for y in range(y0, y1):
            D, b = diagonal[y, x0:x1], rhs[y, x0:x1]
            D[:] = 0
            b[:] = 0
            for k in range(views.size):
                t = views[k]
                coupling_row(kinds[t], M[t], m[t], w[y, x0:x1], y, x0, height, width, cx, cy)
                for q in range(taps.size):
                    even, odd = evens[q, : taps[q]], odds[q, : taps[q]]
                    linearise(kinds[t], cx, cy, warped[k], references[q], y, x0, x1, even, odd, rows, dI, g, G)
                    if reweight:
                        accumulate_row(dI, g, ones, D, b, weights, precision)
                    else:
                        accumulate_row_plain(dI, g, ones, D, b, weights, precision)


@parallel
def uniform_term(chunks, warped, w, views, kinds, M, m, references, evens, odds, taps, reweight, diagonal, rhs):
    """Data term with all weights 1."""
    for chunk in prange(chunks):
        uniform_tiles(
            chunk, chunks, warped, w, views, kinds, M, m, references, evens, odds, taps, reweight, diagonal, rhs
        )


@compiled
def blur_rows(chunk, chunks, image, even, out):
    height, width = image.shape
    line = np.empty(width + 2 * (even.size - 1), image.dtype)
    for y in range(chunk, height, chunks):
        smooth_tile_row(image, y, 0, width, even, line, out[y])


@parallel
def blur(chunks, image, even, out):
    """The image smoothed in both directions."""
    for chunk in prange(chunks):
        blur_rows(chunk, chunks, image, even, out)


@compiled
def add_moments(row, tap, first, second):
    for x in range(row.size):
        value = np.float64(row[x])
        first[x] += tap * value
        second[x] += tap * value * value


@compiled
def variance_row(first, second, out):
    for x in range(out.size):
        out[x] = local_variance(second[x], first[x])


@compiled
def variance_rows(chunk, chunks, w, taps, out):
    height, width = w.shape
    radius = taps.size - 1
    lines = np.empty((2, width + 2 * radius))
    moments = np.empty((2, width))
    for y in range(chunk, height, chunks):
        lines[:] = 0
        for k in range(-radius, radius + 1):
            row = w[min(max(y + k, 0), height - 1)]
            add_moments(row, taps[abs(k)], lines[0, radius : radius + width], lines[1, radius : radius + width])
        for i in range(2):
            repeat_borders(lines[i], radius, radius)
            filter_along(lines[i], taps, taps, moments[i], lines[0, :0])
        variance_row(moments[0], moments[1], out[y])


@parallel
def variance(chunks, w, taps, out):
    """Local variance of w; in float64, for it is a small difference of squares."""
    for chunk in prange(chunks):
        variance_rows(chunk, chunks, w, taps, out)


@compiled
def reference_fields(image, even, odd, out):
    """The smoothed image and its derivatives in x and y."""
    height, width = image.shape
    radius = even.size - 1
    lines = np.empty((2, width + 2 * radius), np.float32)
    s_line, d_line = lines[0], lines[1]
    inside = slice(radius, radius + width)
    for y in range(height):
        filter_rows(image, y, 0, width, even, odd, s_line[inside], d_line[inside])
        repeat_borders(s_line, radius, radius)
        repeat_borders(d_line, radius, radius)
        filter_along(s_line, even, odd, out[0, y], out[1, y])
        filter_along(d_line, even, odd, out[2, y], s_line[:0])
