"""Filters on rows: smoothing and derivatives, across the rows of an image and along a row.

They take one-sided taps in mirrored pairs, three pairs per pass, so that they touch the accumulating row less often.
"""

from gradcon.engines.cpu.rows import PAIRS, compiled, row

# The loops of the filters are functions of their own.  Compiled alone they become vector code; inlined, the compiler
# would see that several rows come from one table, and that they might overlap.  Each loop touches few rows, because
# it first checks at run time that the row it writes does not overlap the others.


@compiled
def start(centre, tap, out, n):
    for x in range(n):
        out[x] = tap * centre[x]


@compiled
def add_even(t0, t1, t2, a0, a1, a2, b0, b1, b2, out, n):
    for x in range(n):
        out[x] += t0 * (b0[x] + a0[x]) + t1 * (b1[x] + a1[x]) + t2 * (b2[x] + a2[x])


@compiled
def add_odd(t0, t1, t2, a0, a1, a2, b0, b1, b2, out, n):
    for x in range(n):
        out[x] += t0 * (b0[x] - a0[x]) + t1 * (b1[x] - a1[x]) + t2 * (b2[x] - a2[x])


@compiled
def smooth_across(image, y, x0, n, even, S, out, at):
    """S[out, at:] = row y, columns x0 to x0 + n, of the image smoothed across rows; borders are repeated."""
    last = image.shape[0] - 1
    out_ = row(S, out, at)
    start(row(image, y, x0), even[0], out_, n)
    for k in range(1, even.size, PAIRS):
        a0, b0 = row(image, max(y - k, 0), x0), row(image, min(y + k, last), x0)
        a1, b1 = row(image, max(y - k - 1, 0), x0), row(image, min(y + k + 1, last), x0)
        a2, b2 = row(image, max(y - k - 2, 0), x0), row(image, min(y + k + 2, last), x0)
        add_even(even[k], even[k + 1], even[k + 2], a0, a1, a2, b0, b1, b2, out_, n)


@compiled
def smooth_and_derive_across(image, y, x0, n, even, odd, S, smooth, derived, at):
    """The same, and S[derived, at:] = the derivative across rows."""
    last = image.shape[0] - 1
    s_, d_ = row(S, smooth, at), row(S, derived, at)
    start(row(image, y, x0), even[0], s_, n)
    start(row(image, y, x0), odd[0], d_, n)
    for k in range(1, even.size, PAIRS):
        a0, b0 = row(image, max(y - k, 0), x0), row(image, min(y + k, last), x0)
        a1, b1 = row(image, max(y - k - 1, 0), x0), row(image, min(y + k + 1, last), x0)
        a2, b2 = row(image, max(y - k - 2, 0), x0), row(image, min(y + k + 2, last), x0)
        add_even(even[k], even[k + 1], even[k + 2], a0, a1, a2, b0, b1, b2, s_, n)
        add_odd(odd[k], odd[k + 1], odd[k + 2], a0, a1, a2, b0, b1, b2, d_, n)


@compiled
def smooth_along(S, padded, even, out, n):
    """S[out] = row `padded`, which has `radius` more columns on either side, smoothed along itself."""
    radius = even.size - 1
    out_ = row(S, out, 0)
    start(row(S, padded, radius), even[0], out_, n)
    for k in range(1, even.size, PAIRS):
        a0, b0 = row(S, padded, radius - k), row(S, padded, radius + k)
        a1, b1 = row(S, padded, radius - k - 1), row(S, padded, radius + k + 1)
        a2, b2 = row(S, padded, radius - k - 2), row(S, padded, radius + k + 2)
        add_even(even[k], even[k + 1], even[k + 2], a0, a1, a2, b0, b1, b2, out_, n)


@compiled
def smooth_and_derive_along(S, padded, even, odd, smooth, derived, n):
    """The same, and S[derived] = its derivative."""
    radius = even.size - 1
    s_, d_ = row(S, smooth, 0), row(S, derived, 0)
    start(row(S, padded, radius), even[0], s_, n)
    start(row(S, padded, radius), odd[0], d_, n)
    for k in range(1, even.size, PAIRS):
        a0, b0 = row(S, padded, radius - k), row(S, padded, radius + k)
        a1, b1 = row(S, padded, radius - k - 1), row(S, padded, radius + k + 1)
        a2, b2 = row(S, padded, radius - k - 2), row(S, padded, radius + k + 2)
        add_even(even[k], even[k + 1], even[k + 2], a0, a1, a2, b0, b1, b2, s_, n)
        add_odd(odd[k], odd[k + 1], odd[k + 2], a0, a1, a2, b0, b1, b2, d_, n)


@compiled
def repeat_borders(S, padded, left, right, n):
    """Fill the first `left` and the last `right` of n columns with the nearest value between them."""
    line = row(S, padded, 0)
    for x in range(left):
        line[x] = line[left]
    for x in range(n - right, n):
        line[x] = line[n - right - 1]


@compiled
def window(x0, n, radius, width):
    """Return the first column and the number of columns that a filter needs for x0 to x0 + n, and how many are missing.

    A filter needs `radius` more columns on either side; those beyond the border are missing on the left or the right.
    """
    xa, xb = max(x0 - radius, 0), min(x0 + n + radius, width)
    return xa, xb - xa, radius - (x0 - xa), radius - (xb - x0 - n)


@compiled
def smooth_padded(image, y, x0, n, even, S, padded):
    """As `smooth_across`, into row `padded`, with the `radius` columns on either side that filters along it need."""
    radius = even.size - 1
    xa, count, left, right = window(x0, n, radius, image.shape[1])
    smooth_across(image, y, xa, count, even, S, padded, left)
    repeat_borders(S, padded, left, right, n + 2 * radius)


@compiled
def smooth_and_derive_padded(image, y, x0, n, even, odd, S, padded_s, padded_d):
    radius = even.size - 1
    xa, count, left, right = window(x0, n, radius, image.shape[1])
    smooth_and_derive_across(image, y, xa, count, even, odd, S, padded_s, padded_d, left)
    repeat_borders(S, padded_s, left, right, n + 2 * radius)
    repeat_borders(S, padded_d, left, right, n + 2 * radius)
