"""The levels of a bank of filters for one row: dI, g and G of a view, and what the scale term smooths.

Filters are linear, so they run on the difference of the warped target and the reference.  That gives dI itself, and
G without a difference of two large numbers.  Past the borders of the image, the difference repeats.  A level therefore
changes up to its filter's radius past them, and repeats from there on.
"""

import numpy as np

from gradcon.engines.cpu import row_filters as filters
from gradcon.engines.cpu import row_model as model
from gradcon.engines.cpu.banks import IMAGE
from gradcon.engines.cpu.coupling import column_gradients, coupling_row, gradients, project, row_gradients
from gradcon.engines.cpu.layout import CX, CY, DERIVED, DX, DY, SMOOTHED, STRIP, UNUSED
from gradcon.engines.cpu.memory import LINE
from gradcon.engines.cpu.row_filters import Source
from gradcon.engines.cpu.rows import called_lent as called
from gradcon.engines.cpu.rows import inlined_lent as inlined
from gradcon.engines.cpu.rows import row
from gradcon.engines.views import COLUMN, ROW


@inlined
def ring_row(rings, q, k, y):
    """Return where row y of view k stands in S, at level q of a field."""
    return rings.first[q] + k * rings.size[q] + (y & (rings.size[q] - 1))


@inlined
def columns_of(x0, n, width, beyond, radius):
    """Return the columns of the tile at which a level, `beyond` columns wider than it, must be computed.

    Farther than `radius` outside the image, which has `width` columns, it repeats.
    """
    return max(-beyond, -x0 - radius), min(n + beyond, width - x0 + radius)


@inlined
def origin_of(at, first):
    """Return where column 0 of the tile stands in a row, so that the first column begins a cache line."""
    return at.margin + (-first & (LINE - 1))


@inlined
def level_columns(at, rings, bank, q, x0, n, width):
    """Return the first and the last columns of a field at level q, and where column 0 of the tile stands."""
    first, end = columns_of(x0, n, width, rings.ahead[q], bank.radius[q])
    return first, end, origin_of(at, first)


@inlined
def level_source(S, at, rings, bank, q, k, x0, n, height, width):
    """Return view k of a field at level q as a source of filters."""
    first_row, size, radius = rings.first[q] + k * rings.size[q], rings.size[q], bank.radius[q]
    first, end, origin = level_columns(at, rings, bank, q, x0, n, width)
    return Source(S, first_row, size - 1, -radius, height - 1 + radius, origin, origin, first, end)


@inlined
def image_source(at, views, k, x0, height, width):
    """Return the difference of view k and the reference as a source of filters, for a tile from column x0 on."""
    return Source(views.differences, k * height, -1, 0, height - 1, x0, at.margin, -x0, width - x0)


@inlined
def gradient_source(S, at, k, x0, height, width):
    """Return g of view k at level 0 as a source of filters; past the borders of the image, it repeats."""
    first_row, size = at.g.first[0] + k * at.g.size[0], at.g.size[0]
    return Source(S, first_row, size - 1, 0, height - 1, at.margin, at.margin, -x0, width - x0)


@inlined
def reference_row(scales, q, axis, y, x, height):
    """Return a pointer to the reference's derivative along x (0) or y (1) at level q."""
    return row(scales.derivatives, (2 * scales.place[q] + axis) * height + y, x)


@inlined
def gradient_row(S, at, w, views, scales, source, q, k, y, x0, origin, first, end):
    """Compute g and G of view k at level q in some columns of row y.

    S[SMOOTHED] holds the row smoothed across, and S[DX], unless the view is in the reference's column, its derivative,
    in which column 0 of the tile stands at `origin`.
    """
    height, n, x, t = w.shape[0], end - first, x0 + first, views.chosen[k]
    kind, bank, frames = views.kinds[t], scales.smoothing, views.frames
    left, right, top, bottom = frames[t, 0], frames[t, 1], frames[t, 2], frames[t, 3]
    g = row(S, ring_row(at.g, q, k, y), at.margin + first)
    G = row(S, UNUSED if at.G.first[q] < 0 else ring_row(at.G, q, k, y), at.margin + first)
    line, dx, dy = row(w, y, x), row(S, DX, origin + first), row(S, DY, at.margin + first)
    rx, ry = reference_row(scales, q, 0, y, x, height), reference_row(scales, q, 1, y, x, height)
    if kind != ROW:
        filters.derive_across(source, y, bank, q, S, DERIVED, first - bank.reach[q], end + bank.reach[q])
        filters.smooth_along(S, DERIVED, source.scratch + first, bank, q, dy, n)
    if kind == ROW:
        b = np.float32(views.m[t, 0] if top <= y <= bottom else 0)
        row_gradients(b, x, left, right, line, dx, rx, g, G, n)
    elif kind == COLUMN:
        column_gradients(np.float32(views.m[t, 1]), x, left, right, y, top, bottom, line, dy, ry, g, G, n)
    else:
        cx, cy, difference, d_r = row(S, CX, 0), row(S, CY, 0), row(S, SMOOTHED, 0), row(S, DERIVED, 0)
        coupling_row(kind, views.M, views.m, left, right, top, bottom, t, w, y, x, n, cx, cy)
        project(cx, cy, dx, dy, difference, n)
        project(cx, cy, rx, ry, d_r, n)
        gradients(difference, d_r, g, G, n)


@called
def level_rows(S, at, w, views, scales, q, k, start, stop, y0, y1, x0, n):
    """Compute rows of view k at level q, and their gradients where they are used.

    They are used in the band y0 to y1, and everywhere at level 0, because the scale term smooths them.  There, |dI| and
    |g| are added to the sums over all views.
    """
    (height, width), bank = w.shape, scales.smoothing
    first, end, origin = level_columns(at, at.dI, bank, q, x0, n, width)
    g_first, g_end = columns_of(x0, n, width, at.dI.ahead[0] if q == 0 else 0, 0)
    finer, reach = bank.source[q], bank.reach[q]
    if finer == IMAGE:
        source = image_source(at, views, k, x0, height, width)
    else:
        source = level_source(S, at, at.dI, bank, finer, k, x0, n, height, width)
    smoothed, derived = source.scratch + first, row(S, DX, origin + first)
    for y in range(start, stop):
        filters.smooth_across(source, False, y, bank, q, S, SMOOTHED, first - reach, end + reach)
        # Also where the derivative is not wanted: two loops may round differently, and a row is the same in every band.
        to = row(S, ring_row(at.dI, q, k, y), origin + first)
        if views.kinds[views.chosen[k]] != COLUMN:
            filters.smooth_and_derive_along(S, SMOOTHED, smoothed, bank, q, to, derived, end - first)
        else:
            filters.smooth_along(S, SMOOTHED, smoothed, bank, q, to, end - first)
        if at.g.first[q] >= 0 and (0 <= y < height if q == 0 else y0 <= y < y1):
            gradient_row(S, at, w, views, scales, source, q, k, y, x0, origin, g_first, g_end)
            if q == 0:
                sums, column = at.sums + 2 * (y & (STRIP - 1)), at.margin + g_first
                to_dI, to_g = row(S, sums, column), row(S, sums + 1, column)
                dI, g = row(S, ring_row(at.dI, q, k, y), origin + g_first), row(S, ring_row(at.g, q, k, y), column)
                model.add_absolute(dI, g, to_dI, to_g, g_end - g_first)


@called
def blurred_rows(S, at, height, width, bank, q, k, start, stop, x0, n):
    """Compute rows of view k's squared gradient, smoothed to level q; the squared residual disparity is view T."""
    finer, reach = bank.source[q], bank.reach[q]
    first, end, origin = level_columns(at, at.blurred, bank, q, x0, n, width)
    if finer == IMAGE:
        source = gradient_source(S, at, k, x0, height, width)
    else:
        source = level_source(S, at, at.blurred, bank, finer, k, x0, n, height, width)
    smoothed = source.scratch + first
    for y in range(start, stop):
        to = row(S, ring_row(at.blurred, q, k, y), origin + first)
        filters.smooth_across(source, finer == IMAGE, y, bank, q, S, SMOOTHED, first - reach, end + reach)
        filters.smooth_along(S, SMOOTHED, smoothed, bank, q, to, end - first)
