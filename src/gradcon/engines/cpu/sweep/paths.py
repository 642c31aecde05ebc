"""Semi-global matching of the cpu engine: eight paths, two at a time, along lines that are dealt to the threads.

All labels of a pixel lie side by side, so that a step along a path runs over them in vectors of 16-bit integers.
Lines that are not rows are walked in blocks of neighbours, so that what is read from memory lies side by side too.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradcon.engines.cpu.rows import compiled, inlined, row

BLOCK = 16  # lines
HUGE = np.uint16(32767)  # stands beside the first and the last label; adding a penalty to it does not overflow


class Matching(NamedTuple):
    """What the paths are computed from, and the sums of their costs."""

    costs: NDArray[np.uint16]  # (height * width, labels)
    edges: NDArray[np.float32]  # (4 * height, width)
    small: np.float32
    large: np.float32
    sums: NDArray[np.uint16]  # (height * width, labels)


@inlined
def new_paths(matching):
    """Return room for a block of lines: the path's costs at the pixel behind, the same at the pixel at hand."""
    return np.full((2 * BLOCK, matching.costs.shape[1] + 2), HUGE, np.uint16), np.empty(BLOCK, np.uint16)


def _penalty(size, edge):
    return np.uint16(np.int32(size * edge + np.float32(0.5)))


penalty = inlined(_penalty, fastmath=False)  # a fused addition would round differently


@inlined
def step(matching, pixel, edge, begins, line, parity, paths, lowest):
    """Compute a path's costs at one pixel, and add them to the sums; lowest[line] is the lowest at the pixel behind."""
    cost, sums = row(matching.costs, pixel, 0), row(matching.sums, pixel, 0)
    behind, path = row(paths, 2 * line + parity, 1), row(paths, 2 * line + 1 - parity, 1)
    best = np.uint16(65535)
    if begins:
        for n in range(matching.costs.shape[1]):
            path[n] = cost[n]
            best = min(best, cost[n])
            sums[n] = np.uint16(sums[n] + cost[n])
    else:
        base, small = lowest[line], penalty(matching.small, edge)
        jump = np.uint16(base + penalty(matching.large, edge))
        for n in range(matching.costs.shape[1]):
            change = np.uint16(min(behind[n - 1], behind[n + 1]) + small)
            value = np.uint16(np.uint16(min(behind[n], change, jump) - base) + cost[n])
            path[n] = value
            best = min(best, value)
            sums[n] = np.uint16(sums[n] + value)
    lowest[line] = best


@compiled
def walk_rows(chunk, chunks, matching):
    """Walk every chunks-th row to the right and back."""
    width = matching.edges.shape[1]
    height = matching.edges.shape[0] // 4
    paths, lowest = new_paths(matching)
    for y in range(chunk, height, chunks):
        for back in range(2):
            for i in range(width):
                x = width - 1 - i if back else i
                edge = matching.edges[y, min(x + back, width - 1)]
                step(matching, y * width + x, edge, i == 0, 0, i % 2, paths, lowest)


@compiled
def walk_down(chunk, chunks, dx, kind, matching):
    """Walk every chunks-th block of lines down and back up; a line moves dx to the right with each row."""
    width = matching.edges.shape[1]
    height = matching.edges.shape[0] // 4
    paths, lowest = new_paths(matching)
    leftmost = -(height - 1) if dx > 0 else 0  # where the first line meets row 0
    count = width + abs(dx) * (height - 1)
    for block in range(chunk, (count + BLOCK - 1) // BLOCK, chunks):
        for back in range(2):
            for i in range(height):
                y = height - 1 - i if back else i
                column = leftmost + block * BLOCK + dx * y  # of the block's first line
                ahead = -dx if back else dx
                below = min(y + back, height - 1)  # the lower of this pixel and the one behind
                for line in range(max(0, -column), min(BLOCK, count - block * BLOCK, width - column)):
                    x = column + line
                    begins = i == 0 or not 0 <= x - ahead < width
                    edge = matching.edges[kind * height + below, x if begins or not back else x + dx]
                    step(matching, y * width + x, edge, begins, line, i % 2, paths, lowest)


@inlined
def lowest_of(sums, first, last):
    best = np.uint16(65535)
    for n in range(first, last):
        best = min(best, sums[n])
    return best


@compiled
def choose_labels(chunk, chunks, matching, label, lowest, curvature, second):
    """Write what `Best` has; a chunk takes every chunks-th row."""
    labels = matching.costs.shape[1]
    for y in range(chunk, label.shape[0], chunks):
        for x in range(label.shape[1]):
            pixel = y * label.shape[1] + x
            sums = row(matching.sums, pixel, 0)
            least = lowest_of(sums, 0, labels)
            best = 0
            while sums[best] != least:
                best += 1
            fraction, bend = 0.0, 0.0
            if 0 < best < labels - 1:
                before, after = float(sums[best - 1]), float(sums[best + 1])
                bend = before + after - 2.0 * float(least)
                if bend > 0:
                    fraction = 0.5 * (before - after) / bend
            label[y, x] = best + fraction
            lowest[y, x] = least
            curvature[y, x] = bend
            next_best = min(lowest_of(sums, 0, best - 2), lowest_of(sums, best + 3, labels))
            second[y, x] = next_best if best > 2 or best + 3 < labels else np.float32(np.inf)
