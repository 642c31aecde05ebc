"""Where the data term keeps its rows: a table S for each thread, most of which are rings.

The data term runs down the image in strips of a few rows.  A filter that reaches below the strip needs the level that
it is made from up to some rows ahead, and some rows behind.  So every level has a ring of rows for each view, in which
row y stands at y modulo the size of the ring.  The columns of S have a margin on both sides for what filters need
beyond a tile.

Loads and stores of whole vectors are up to twice as fast if none of them lies across two cache lines.  So rows of S
begin on a cache line, and the first column that is computed of a level stands on one, too (`origin`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradcon.engines.cpu.arguments import Bank, Scales
from gradcon.engines.cpu.memory import LINE

STRIP = 8  # rows
TILE_COLUMNS = 512
NEVER = 2**30  # farther down than any row
MARGINS = 8  # a tile is at least this many times as wide as the margin on one side, so that margins do not dominate

# Rows of S that all functions use in the same way; the others come after them.
SMOOTHED, DERIVED, DX, DY, CX, CY, UNUSED, FREE = range(8)

Indices = NDArray[np.intp]


class Rings(NamedTuple):
    """The rings of one field: a level's rings stand one behind the other, one for each view."""

    first: Indices  # (level,): row of S; -1 for a level without rings
    size: Indices  # (level,): of a ring, a power of two
    ahead: Indices  # (level,): rows, and columns on either side, that are computed beyond the strip


class Layout(NamedTuple):
    """The rows of S."""

    views: int
    columns: int  # of a tile
    margin: int  # where a tile begins in rows that hold nothing beyond it
    dI: Rings
    g: Rings  # after the views' rings of level 0 stands one of the residual disparity
    G: Rings
    blurred: Rings  # g^2, smoothed; after the views' rings stands one of the squared residual disparity
    sums: int  # two rows for each row of the strip: |dI| and |g| of all views; then two rows: their squares
    bounds: int  # delta w_e^2, a row for each scale
    total: int  # of the weights; then the accumulators of diagonal, right-hand side and precision
    tops: int  # the largest N^2 so far, a row for each direction
    N2: int  # a row for each scale and view; becomes the weight
    rows: int  # in all


class Reach(NamedTuple):
    """Which levels of a bank are needed around a strip; the last place, which is also place -1, is the image's."""

    needed: NDArray[np.bool_]
    ahead: Indices  # rows below the strip, and columns on either side of a tile
    oldest: Indices  # the first row that is still needed, counted from the strip's


def reach_of(bank: Bank, wanted: NDArray[np.bool_]) -> Reach:
    """Return what some levels need in the rows of a strip."""
    found = Reach(np.append(wanted, False), np.zeros(len(wanted) + 1, np.intp), np.append(oldest_of(wanted), NEVER))
    for q in range(len(wanted) - 1, -1, -1):
        if found.needed[q]:
            source, reach = bank.source[q], bank.reach[q]
            found.needed[source] = True
            found.ahead[source] = max(found.ahead[source], found.ahead[q] + reach)
            found.oldest[source] = min(found.oldest[source], found.ahead[q] - reach)
    return found


def oldest_of(wanted: NDArray[np.bool_]) -> Indices:
    """Return the first row that a strip needs of levels that are only used in its own rows."""
    return np.where(wanted, 0, NEVER)


def layout_of(width: int, scales: Scales, views: int, directions: int, weighted: bool, lowest: int) -> Layout:
    """Lay out the table S for a stage; `lowest` as in `Model`."""
    levels = np.arange(len(scales.place))
    used = np.isin(levels, scales.used)
    blurred, smoothed = reach_of(scales.blurring, used & (levels >= lowest)), reach_of(scales.smoothing, used)
    needed, ahead, oldest = smoothed.needed[:-1], smoothed.ahead[:-1], smoothed.oldest[:-1]
    with_g, oldest_g = used.copy(), oldest_of(used)
    if blurred.needed[-1]:  # it is made of g at level 0
        needed[0] = with_g[0] = True
        ahead[0], oldest_g[0] = max(ahead[0], blurred.ahead[-1]), min(oldest_g[0], blurred.oldest[-1])
    beyond = max(int((ahead + scales.smoothing.reach)[needed].max()), int(blurred.ahead[-1]))
    rows = FREE

    def rings(which: NDArray[np.bool_], oldest: Indices, newest: Indices, count: int) -> Rings:
        nonlocal rows
        size = 2 ** np.ceil(np.log2(STRIP + newest - np.minimum(oldest, newest))).astype(np.intp)
        first = np.full(len(levels), -1)
        for q in np.flatnonzero(which):
            first[q] = rows
            rows += size[q] * count
        return Rings(first, size, newest)

    def some(count: int) -> int:
        nonlocal rows
        rows += count
        return rows - count

    return Layout(
        views=views,
        columns=min(width, up_to_line(max(TILE_COLUMNS, MARGINS * beyond))),
        margin=up_to_line(beyond),
        dI=rings(needed, oldest, ahead, views),
        g=rings(with_g, oldest_g, ahead, views + 1),
        G=rings(used & weighted, oldest_of(used), ahead, views),
        blurred=rings(blurred.needed[:-1], blurred.oldest[:-1], blurred.ahead[:-1], views + 1),
        sums=some(2 * STRIP + 2),
        bounds=some(len(scales.used)),
        total=some(4),
        tops=some(directions),
        N2=some(len(scales.used) * views),
        rows=rows,
    )


def up_to_line(columns: int) -> int:
    """Return the columns of as many cache lines as these need."""
    return -(-columns // LINE) * LINE


def table_shape(layout: Layout, threads: int) -> tuple[int, int, int]:
    """Return the shape of the tables of all threads."""
    return threads, layout.rows, up_to_line(layout.columns) + 2 * layout.margin + LINE
