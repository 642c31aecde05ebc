"""The data term of the cpu engine: linearise, weigh and sum over views and scales, strip by strip.

Each thread runs down a band of the image, tile by tile where the image is wide, and weighs a strip of a few rows at a
time.  Ahead of the strip it computes the levels (`pyramid`) in rings of rows (`layout`), so that nothing is filtered
twice within a band, and only these rings leave the nearest caches.  Each pixel's sums run over views and scales in one
fixed order, so results do not depend on which thread gets which row.
"""

import numpy as np

from gradcon.engines.cpu import row_model as model
from gradcon.engines.cpu.layout import STRIP
from gradcon.engines.cpu.pyramid import blurred_rows, columns_of, level_columns, level_rows, ring_row
from gradcon.engines.cpu.rows import called_lent as called
from gradcon.engines.cpu.rows import compiled, row
from gradcon.engines.cpu.rows import inlined_lent as inlined


@inlined
def rows_ahead(Y, y0, y1, ahead, lowest, end):
    """Return the rows that a level computes `ahead` of the strip at Y.

    They are none that the band from y0 to y1 does not need, and none outside `lowest` to `end`, where rows repeat.
    """
    return max(Y + ahead, y0 - ahead, lowest), min(Y + ahead + STRIP, y1 + ahead, end)


@called
def compute_levels(S, at, w, views, scales, noise_model, Y, y0, y1, x0, n):
    """Compute all levels as far ahead of the strip at Y as they must be."""
    (height, width), T, levels = w.shape, at.views, scales.place.size
    first, end = rows_ahead(Y, y0, y1, at.dI.ahead[0], 0, height)
    for y in range(first, end):
        for i in range(2):
            model.fill(row(S, at.sums + 2 * (y & (STRIP - 1)) + i, 0), np.float32(0), S.shape[1])
    for k in range(T):
        for q in range(levels):
            if at.dI.first[q] >= 0:
                radius = scales.smoothing.radius[q]
                start, stop = rows_ahead(Y, y0, y1, at.dI.ahead[q], -radius, height + radius)
                level_rows(S, at, w, views, scales, q, k, start, stop, y0, y1, x0, n)
    if noise_model.lowest >= levels:
        return
    left, right = columns_of(x0, n, width, at.dI.ahead[0], 0)
    column = at.margin + left
    for y in range(first, end):
        sums, out = at.sums + 2 * (y & (STRIP - 1)), row(S, ring_row(at.g, 0, T, y), column)
        model.residual(row(S, sums, column), row(S, sums + 1, column), noise_model.epsilon, out, right - left)
    for k in range(T + 1):
        for q in range(levels):
            if at.blurred.first[q] >= 0:
                radius = scales.blurring.radius[q]
                start, stop = rows_ahead(Y, y0, y1, at.blurred.ahead[q], -radius, height + radius)
                blurred_rows(S, at, height, width, scales.blurring, q, k, start, stop, x0, n)


@inlined
def compute_noise_powers(S, at, scales, noise_model, y, x0, n, width):
    """S[N2] = N^2 of every scale and view along row y, as the model says before it is made monotone."""
    T, Q, m = at.views, scales.used.size, at.margin
    sum_dI2, sum_g2 = row(S, at.sums + 2 * STRIP, 0), row(S, at.sums + 2 * STRIP + 1, 0)
    model.fill(sum_dI2, np.float32(0), n)
    model.fill(sum_g2, np.float32(0), n)
    for q in scales.used:
        _, _, origin = level_columns(at, at.dI, scales.smoothing, q, x0, n, width)
        for k in range(T):
            dI, g = row(S, ring_row(at.dI, q, k, y), origin), row(S, ring_row(at.g, q, k, y), m)
            model.add_squares(dI, g, sum_dI2, sum_g2, n)
    for i in range(Q):
        q, noise, bound = scales.used[i], noise_model.noises[i], row(S, at.bounds + i, 0)
        if noise_model.use_gradient:
            variance = row(noise_model.variance, y, x0)
            model.error_bound(noise, sum_dI2, sum_g2, noise_model.epsilon, variance, bound, n)
        else:
            model.fill(bound, np.float32(0), n)
        _, _, origin = level_columns(at, at.blurred, scales.blurring, q, x0, n, width)
        for k in range(T):
            G, N2 = row(S, ring_row(at.G, q, k, y), m), row(S, at.N2 + i * T + k, 0)
            if q >= noise_model.lowest:
                g2, dw2 = row(S, ring_row(at.blurred, q, k, y), origin), row(S, ring_row(at.blurred, q, T, y), origin)
                model.noise_with_scale_term(G, bound, g2, dw2, noise, N2, n)
            else:
                model.noise_over_gradient(G, bound, noise, N2, n)


@inlined
def make_monotone(S, N2, tops, order, n):
    """Raise N^2 of each view (row N2 + k) as `engines.views.Order` says."""
    directions, T = order.memberships.shape
    for d in range(directions):
        model.fill(row(S, tops + d, 0), np.float32(0), n)
    for k in range(T):
        own = row(S, N2 + k, 0)
        if order.only[k] >= 0:
            model.raise_both(row(S, tops + order.only[k], 0), own, n)
        else:
            for d in range(directions):
                if order.memberships[d, k] > 0:
                    model.raise_to(row(S, tops + d, 0), order.memberships[d, k], own, n)
            for d in range(directions):
                if order.memberships[d, k] > 0:
                    model.raise_to(own, order.memberships[d, k], row(S, tops + d, 0), n)
        for other in range(k + 1, order.ends[k]):
            share = order.shares[order.starts[k] + other - k - 1]
            if share > 0:
                model.raise_to(own, share, row(S, N2 + other, 0), n)


@called
def keep_weights(S, weights, kept, step, x0, n):
    """Copy the weights of the sampled pixels on a row to kept[across, view]."""
    for x in range(x0, x0 + n):
        if x % step == step // 2:
            for k in range(kept.shape[1]):
                kept[x // step, k] = S[weights + k, x - x0]


@called
def weigh_row(S, at, scales, noise_model, reweight, y, x0, n, sums, sample):
    """Sum up row y."""
    T, Q, m = at.views, scales.used.size, at.margin
    width = sums.diagonal.shape[1]
    if noise_model.weighted:
        compute_noise_powers(S, at, scales, noise_model, y, x0, n, width)
    total, D, b, p = row(S, at.total, 0), row(S, at.total + 1, 0), row(S, at.total + 2, 0), row(S, at.total + 3, 0)
    for i in range(4):
        model.fill(row(S, at.total + i, 0), np.float32(0), n)
    for i in range(Q):
        q, N2 = scales.used[i], at.N2 + i * T
        _, _, origin = level_columns(at, at.dI, scales.smoothing, q, x0, n, width)
        if noise_model.weighted:
            make_monotone(S, N2, at.tops, noise_model.order, n)
        for k in range(T):
            dI, g = row(S, ring_row(at.dI, q, k, y), origin), row(S, ring_row(at.g, q, k, y), m)
            weight = row(S, N2 + k, 0)
            if not noise_model.weighted:
                model.fill(weight, np.float32(1), n)
            model.weigh(g, weight, total, p, n)
            model.accumulate(dI, g, weight, D, b, reweight, n)
        if sample.step > 0 and y % sample.step == sample.step // 2:
            keep_weights(S, N2, sample.weights[y // sample.step, :, i], sample.step, x0, n)
    Z = np.float32(T * Q)  # so that the weights of a pixel sum to T Q
    model.store_ratio(D, Z, total, row(sums.diagonal, y, x0), n)
    model.store_ratio(b, Z, total, row(sums.rhs, y, x0), n)
    model.store(p, row(sums.precision, y, x0), n)


@compiled
def data_term(chunk, chunks, w, views, scales, noise_model, reweight, at, tables, sums, sample):
    """Compute the data term of one band of rows; `tables` holds a table S, laid out as `at` says, for each band."""
    height, width = w.shape
    S = tables[chunk]
    y0, y1 = height * chunk // chunks, height * (chunk + 1) // chunks
    farthest = at.dI.ahead[0]
    start = y0 - (2 * farthest + STRIP - 1) // STRIP * STRIP  # so that level 0 begins as far above the band
    for x0 in range(0, width, at.columns):
        n = min(at.columns, width - x0)
        for Y in range(start, y1, STRIP):
            compute_levels(S, at, w, views, scales, noise_model, Y, y0, y1, x0, n)
            for y in range(max(Y, y0), min(Y + STRIP, y1)):
                weigh_row(S, at, scales, noise_model, reweight, y, x0, n, sums, sample)
