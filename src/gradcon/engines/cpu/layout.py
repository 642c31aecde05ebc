"""Where the data term keeps its rows: a table S for each thread, most of which are rings.

The data term runs down the image in strips of a few rows.  A filter that reaches below the strip needs the level before
it up to some rows ahead, and some rows behind.  So every level has a ring of rows for each view, in which row y stands
at y modulo the size of the ring.  The columns of S have a margin on both sides for what filters need beyond a tile.

Loads and stores of whole vectors are up to twice as fast if none of them lies across two cache lines.  So rows of S
begin on a cache line, and the first column that is computed of a level stands on one, too (`origin`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradcon.engines import cascade
from gradcon.engines.cpu.memory import LINE

STRIP = 8  # rows
TILE_COLUMNS = 512
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


def layout_of(
    width: int, scales: tuple[int, ...], views: int, directions: int, weighted: bool, scale_term: bool
) -> Layout:
    """Lay out the table S for a stage."""
    top = max(scales)
    reach = cascade.PAIRS * np.array([cascade.spacing(q) for q in range(top + 1)])
    ahead = np.append(np.cumsum(reach[:0:-1])[::-1], 0)  # what the levels above need of each level
    finest = ahead + np.where(np.arange(top + 1) == 0, reach[0] if scale_term else 0, 0)
    used = np.isin(np.arange(top + 1), scales)
    # The oldest row that a level must keep: one for the next level's filter, or the strip itself where it is used.
    filtered = np.append(ahead[1:] - reach[1:], 0)
    behind = np.where(used, np.minimum(filtered, 0), filtered)
    rows = FREE

    def rings(which: NDArray[np.bool_], oldest: Indices, newest: Indices, count: int) -> Rings:
        nonlocal rows
        size = 2 ** np.ceil(np.log2(STRIP + newest - oldest)).astype(np.intp)
        first = np.full(top + 1, -1)
        for q in np.flatnonzero(which):
            first[q] = rows
            rows += size[q] * count
        return Rings(first, size, newest.astype(np.intp))

    def some(count: int) -> int:
        nonlocal rows
        rows += count
        return rows - count

    every, none = np.ones(top + 1, bool), np.zeros(top + 1, np.intp)
    blurs = every if scale_term else ~every
    before_blur = none.copy()
    if scale_term:
        before_blur[0] = min(ahead[0] - reach[0], 0) if used[0] else ahead[0] - reach[0]
    beyond = int(finest[0] + reach[0])
    return Layout(
        views=views,
        columns=min(width, up_to_line(max(TILE_COLUMNS, MARGINS * beyond))),
        margin=up_to_line(beyond),
        dI=rings(every, behind, finest, views),
        g=rings(used | (blurs & (np.arange(top + 1) == 0)), before_blur, finest, views + 1),
        G=rings(used & weighted, none, finest, views),
        blurred=rings(blurs, behind, ahead, views + 1),
        sums=some(2 * STRIP + 2),
        bounds=some(len(scales)),
        total=some(4),
        tops=some(directions),
        N2=some(len(scales) * views),
        rows=rows,
    )


def up_to_line(columns: int) -> int:
    """Return the columns of as many cache lines as these need."""
    return -(-columns // LINE) * LINE


def table_shape(layout: Layout, threads: int) -> tuple[int, int, int]:
    """Return the shape of the tables of all threads."""
    return threads, layout.rows, up_to_line(layout.columns) + 2 * layout.margin + LINE
