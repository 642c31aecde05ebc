"""Filters on rows: smoothing and derivatives, across the rows of a source and along a row of the table S.

Every filter of the cascade has three pairs of mirrored taps (`engines.cascade`), so that one pass over a row does it.
Filters with more pairs take more passes.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradcon.engines.cascade import PAIRS
from gradcon.engines.cpu.banks import TOGETHER
from gradcon.engines.cpu.rows import called_lent as called
from gradcon.engines.cpu.rows import inlined_lent as inlined
from gradcon.engines.cpu.rows import row

# The loops of the filters are functions of their own.  Compiled alone they become vector code; inlined, the compiler
# would see that several rows come from one table, and that they might overlap.  Each loop touches few rows, because
# it first checks at run time that the row it writes does not overlap the others, and gives up beyond eight checks.
# Everything around them is inlined: passing a dozen arrays to a function takes as long as filtering a row.

MIRRORED, NEGATED = np.float32(1), np.float32(-1)  # the signs of a pair's first tap: even filters and odd ones


class Source(NamedTuple):
    """Rows to filter: an image, or a ring of the table S."""

    rows: NDArray
    base: int  # where it begins
    mask: int  # the size of the ring less 1; -1, which changes no index, for an image
    lowest: int  # the first and the last row; those past them repeat them
    last: int
    origin: int  # where column 0 of the tile stands in these rows
    scratch: int  # where it stands in rows of S that are filtered from these: as far from the start of a cache line
    first_column: int  # the columns of the tile at which it begins and ends; others repeat the border
    end_column: int


@inlined
def source_row(source, y, column):
    """Return a pointer to row y of a source, at a column of the tile."""
    inside = min(max(y, source.lowest), source.last)
    return row(source.rows, source.base + (inside & source.mask), source.origin + column)


@called
def even_across(t0, t1, t2, t3, a3, a2, a1, c, b1, b2, b3, out, n):
    for x in range(n):
        out[x] = t0 * c[x] + t1 * (b1[x] + a1[x]) + t2 * (b2[x] + a2[x]) + t3 * (b3[x] + a3[x])


@called
def even_across_of_squares(t0, t1, t2, t3, a3, a2, a1, c, b1, b2, b3, out, n):
    for x in range(n):
        pair1, pair2 = b1[x] * b1[x] + a1[x] * a1[x], b2[x] * b2[x] + a2[x] * a2[x]
        out[x] = t0 * (c[x] * c[x]) + t1 * pair1 + t2 * pair2 + t3 * (b3[x] * b3[x] + a3[x] * a3[x])


@called
def odd_across(t1, t2, t3, a3, a2, a1, b1, b2, b3, out, n):
    for x in range(n):
        out[x] = t1 * (b1[x] - a1[x]) + t2 * (b2[x] - a2[x]) + t3 * (b3[x] - a3[x])


@called
def even_along(t0, t1, t2, t3, line, s, out, n):
    for x in range(n):
        pair1, pair2 = line[x + s] + line[x - s], line[x + 2 * s] + line[x - 2 * s]
        out[x] = t0 * line[x] + t1 * pair1 + t2 * pair2 + t3 * (line[x + 3 * s] + line[x - 3 * s])


@called
def both_along(t0, t1, t2, t3, u1, u2, u3, line, s, smooth, derived, n):
    """Smooth by the taps t, and derive by the taps u, what is loaded once."""
    for x in range(n):
        a1, a2, a3 = line[x - s], line[x - 2 * s], line[x - 3 * s]
        b1, b2, b3 = line[x + s], line[x + 2 * s], line[x + 3 * s]
        smooth[x] = t0 * line[x] + t1 * (b1 + a1) + t2 * (b2 + a2) + t3 * (b3 + a3)
        derived[x] = u1 * (b1 - a1) + u2 * (b2 - a2) + u3 * (b3 - a3)


@called
def add_pairs(sign, t1, t2, t3, t4, a1, a2, a3, a4, b1, b2, b3, b4, out, n):
    for x in range(n):
        pair1, pair2 = b1[x] + sign * a1[x], b2[x] + sign * a2[x]
        pair3, pair4 = b3[x] + sign * a3[x], b4[x] + sign * a4[x]
        out[x] += t1 * pair1 + t2 * pair2 + t3 * pair3 + t4 * pair4


@called
def add_pairs_of_squares(t1, t2, t3, t4, a1, a2, a3, a4, b1, b2, b3, b4, out, n):
    for x in range(n):
        pair1, pair2 = b1[x] * b1[x] + a1[x] * a1[x], b2[x] * b2[x] + a2[x] * a2[x]
        pair3, pair4 = b3[x] * b3[x] + a3[x] * a3[x], b4[x] * b4[x] + a4[x] * a4[x]
        out[x] += t1 * pair1 + t2 * pair2 + t3 * pair3 + t4 * pair4


@inlined
def repeat_ends(line, low, first, end, high):
    """Fill the columns low to high of a row outside first to end with the nearest value between them."""
    before, after = line[first], line[end - 1]
    for x in range(low, first):
        line[x] = before
    for x in range(end, high):
        line[x] = after


@inlined
def smooth_across(source, squares, y, bank, q, S, out, low, high):
    """S[out] = row y of the source, or of its squares, smoothed across rows by the taps of level q."""
    s, first, end = bank.spacing[q], max(low, source.first_column), min(high, source.end_column)
    a3, a2 = source_row(source, y - 3 * s, first), source_row(source, y - 2 * s, first)
    a1, c, b1 = source_row(source, y - s, first), source_row(source, y, first), source_row(source, y + s, first)
    b2, b3 = source_row(source, y + 2 * s, first), source_row(source, y + 3 * s, first)
    t0, t1, t2, t3 = bank.even[q, 0], bank.even[q, 1], bank.even[q, 2], bank.even[q, 3]
    to = row(S, out, source.scratch + first)
    if squares:
        even_across_of_squares(t0, t1, t2, t3, a3, a2, a1, c, b1, b2, b3, to, end - first)
    else:
        even_across(t0, t1, t2, t3, a3, a2, a1, c, b1, b2, b3, to, end - first)
    add_far_across(bank.pairs, source, squares, y, bank, bank.even, MIRRORED, q, first, to, end - first)
    repeat_ends(row(S, out, source.scratch), low, first, end, high)


@inlined
def derive_across(source, y, bank, q, S, out, low, high):
    """S[out] = the derivative of the source across rows, at row y."""
    s, first, end = bank.spacing[q], max(low, source.first_column), min(high, source.end_column)
    a3, a2 = source_row(source, y - 3 * s, first), source_row(source, y - 2 * s, first)
    a1, b1 = source_row(source, y - s, first), source_row(source, y + s, first)
    b2, b3 = source_row(source, y + 2 * s, first), source_row(source, y + 3 * s, first)
    u1, u2, u3 = bank.odd[q, 1], bank.odd[q, 2], bank.odd[q, 3]
    to = row(S, out, source.scratch + first)
    odd_across(u1, u2, u3, a3, a2, a1, b1, b2, b3, to, end - first)
    add_far_across(bank.pairs, source, False, y, bank, bank.odd, NEGATED, q, first, to, end - first)
    repeat_ends(row(S, out, source.scratch), low, first, end, high)


@inlined
def smooth_along(S, line, x, bank, q, out, n):
    """out = n pixels of S[line] from x on, smoothed along the row; it reaches farther by the filter on both sides."""
    t0, t1, t2, t3 = bank.even[q, 0], bank.even[q, 1], bank.even[q, 2], bank.even[q, 3]
    even_along(t0, t1, t2, t3, row(S, line, x), bank.spacing[q], out, n)
    add_far_along(bank.pairs, S, line, x, bank, bank.even, MIRRORED, q, out, n)


@inlined
def smooth_and_derive_along(S, line, x, bank, q, out, derived, n):
    """The same, and derived = its derivative."""
    t0, t1, t2, t3 = bank.even[q, 0], bank.even[q, 1], bank.even[q, 2], bank.even[q, 3]
    u1, u2, u3 = bank.odd[q, 1], bank.odd[q, 2], bank.odd[q, 3]
    both_along(t0, t1, t2, t3, u1, u2, u3, row(S, line, x), bank.spacing[q], out, derived, n)
    add_far_along(bank.pairs, S, line, x, bank, bank.even, MIRRORED, q, out, n)
    add_far_along(bank.pairs, S, line, x, bank, bank.odd, NEGATED, q, derived, n)


# Filters of more than three pairs add the others to what the first three have made, four at a time.  The last four may
# go past the last pair: then they read it again, times 0.


@inlined
def add_far_across(pairs, source, squares, y, bank, taps, sign, q, x, out, n):
    """Add to `out` what the pairs beyond the third add across rows; sign * a is what is added to b in a pair."""
    if pairs is None:  # the compiler leaves out the rest
        return
    s, last = bank.spacing[q], pairs[q]
    for i in range(PAIRS + 1, last + 1, TOGETHER):
        j, k, m = min(i + 1, last) * s, min(i + 2, last) * s, min(i + 3, last) * s
        a1, a2 = source_row(source, y - i * s, x), source_row(source, y - j, x)
        a3, a4 = source_row(source, y - k, x), source_row(source, y - m, x)
        b1, b2 = source_row(source, y + i * s, x), source_row(source, y + j, x)
        b3, b4 = source_row(source, y + k, x), source_row(source, y + m, x)
        t1, t2, t3, t4 = taps[q, i], taps[q, i + 1], taps[q, i + 2], taps[q, i + 3]
        if squares:
            add_pairs_of_squares(t1, t2, t3, t4, a1, a2, a3, a4, b1, b2, b3, b4, out, n)
        else:
            add_pairs(sign, t1, t2, t3, t4, a1, a2, a3, a4, b1, b2, b3, b4, out, n)


@inlined
def add_far_along(pairs, S, line, x, bank, taps, sign, q, out, n):
    """The same along S[line], from x on."""
    if pairs is None:
        return
    s, last = bank.spacing[q], pairs[q]
    for i in range(PAIRS + 1, last + 1, TOGETHER):
        j, k, m = min(i + 1, last) * s, min(i + 2, last) * s, min(i + 3, last) * s
        a1, a2, a3, a4 = row(S, line, x - i * s), row(S, line, x - j), row(S, line, x - k), row(S, line, x - m)
        b1, b2, b3, b4 = row(S, line, x + i * s), row(S, line, x + j), row(S, line, x + k), row(S, line, x + m)
        t1, t2, t3, t4 = taps[q, i], taps[q, i + 1], taps[q, i + 2], taps[q, i + 3]
        add_pairs(sign, t1, t2, t3, t4, a1, a2, a3, a4, b1, b2, b3, b4, out, n)
