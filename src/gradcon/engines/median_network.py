"""The network of comparisons that finds the median of some values, shared by the engines that compile it."""

from __future__ import annotations


def median_network(count: int) -> list[tuple[int, int]]:
    """Return pairs (i, j), i < j; putting each in order, one after the other, brings the median to the middle.

    This is Batcher's odd-even merge sort of `count` values, without the comparisons that cannot affect the middle one.
    """
    pairs = []
    p = 1
    while p < count:  # Knuth, volume 3, algorithm 5.2.2M
        k = p
        while k >= 1:
            for j in range(k % p, count - k, 2 * k):
                for i in range(min(k, count - j - k)):
                    if (i + j) // (2 * p) == (i + j + k) // (2 * p):
                        pairs.append((i + j, i + j + k))
            k //= 2
        p *= 2
    needed, kept = {count // 2}, []
    for i, j in reversed(pairs):
        if i in needed or j in needed:
            kept.append((i, j))
            needed |= {i, j}
    return kept[::-1]
