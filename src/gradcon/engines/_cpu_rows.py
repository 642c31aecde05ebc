"""Separable filters on rows of float32, the innermost loops of the cpu engine.

Every loop runs along x over contiguous memory, so that the compiler turns it into vector instructions; taps come in
mirrored pairs, two pairs a pass, which halves the traffic on the accumulating row.
"""

from numba import njit

# No assumption that values are finite: the flags only allow reordering, fusing and reciprocals.
FAST = {"contract", "reassoc", "arcp", "nsz", "afn"}


@njit(cache=True, fastmath=FAST, nogil=True)
def scale_row(out, row, tap):
    for x in range(out.size):
        out[x] = tap * row[x]


@njit(cache=True, fastmath=FAST, nogil=True)
def add_even(out, tap1, low1, high1, tap2, low2, high2):
    for x in range(out.size):
        out[x] += tap1 * (low1[x] + high1[x]) + tap2 * (low2[x] + high2[x])


@njit(cache=True, fastmath=FAST, nogil=True)
def add_odd(out, tap1, low1, high1, tap2, low2, high2):
    for x in range(out.size):
        out[x] += tap1 * (high1[x] - low1[x]) + tap2 * (high2[x] - low2[x])


@njit(cache=True, fastmath=FAST, nogil=True)
def filter_rows(source, y, x0, x1, even, odd, smooth, derived):
    """Filter across rows at row y, columns x0 to x1: by the taps `even`, and by `odd` unless `derived` is empty.

    Taps are one-sided, for offsets 0 to radius, an even number past the centre; borders are repeated.
    """
    last = source.shape[0] - 1
    scale_row(smooth, source[y, x0:x1], even[0])
    if derived.size:
        derived[:] = 0
    for k in range(1, even.size, 2):
        low1, high1 = source[max(y - k, 0), x0:x1], source[min(y + k, last), x0:x1]
        low2, high2 = source[max(y - k - 1, 0), x0:x1], source[min(y + k + 1, last), x0:x1]
        add_even(smooth, even[k], low1, high1, even[k + 1], low2, high2)
        if derived.size:
            add_odd(derived, odd[k], low1, high1, odd[k + 1], low2, high2)


@njit(cache=True, fastmath=FAST, nogil=True)
def filter_along(padded, even, odd, smooth, derived):
    """The same along one row that already has its radius of columns on either side."""
    n, centre = smooth.size, even.size - 1
    scale_row(smooth, padded[centre : centre + n], even[0])
    if derived.size:
        derived[:] = 0
    for k in range(1, even.size, 2):
        a, b, c, d = centre - k, centre + k, centre - k - 1, centre + k + 1
        low1, high1 = padded[a : a + n], padded[b : b + n]
        low2, high2 = padded[c : c + n], padded[d : d + n]
        add_even(smooth, even[k], low1, high1, even[k + 1], low2, high2)
        if derived.size:
            add_odd(derived, odd[k], low1, high1, odd[k + 1], low2, high2)


@njit(cache=True, fastmath=FAST, nogil=True)
def repeat_borders(padded, left, right):
    """Fill `left` entries at the front and `right` at the back with the nearest value inside."""
    n = padded.size
    for x in range(left):
        padded[x] = padded[left]
    for x in range(n - right, n):
        padded[x] = padded[n - right - 1]
