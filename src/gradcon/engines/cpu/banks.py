"""The filters of a stage as the kernels take them: which level is filtered from which, and by what taps."""

from __future__ import annotations

import numpy as np

from gradcon.engines import cascade
from gradcon.engines.cascade import PAIRS, Taps
from gradcon.engines.cpu.arguments import Array, Bank
from gradcon.engines.filters import Filters

IMAGE = -1  # in place of a level: what the levels are made of
TOGETHER = 4  # pairs beyond the third that are added at once


def bank_of(filters: Filters, levels: int) -> Bank:
    """Return the filters that make this many levels."""
    every, apart = range(levels), np.ones(levels, np.intp)
    if filters.cascaded:
        even = [cascade.even_taps(q, filters.composed) for q in every]
        odd = [cascade.odd_taps(q, filters.composed) for q in every]
        source, apart = np.arange(levels) - 1, np.array([cascade.spacing(q) for q in every])
    else:
        even, odd = [_half(filters.smoothing(q)) for q in every], [_half(filters.derivative(q)) for q in every]
        source = np.full(levels, IMAGE)
    pairs = np.array([len(taps) - 1 for taps in even])
    return Bank(
        source=source,
        even=_table(even),
        odd=_table(odd),
        pairs=None if (pairs == PAIRS).all() else pairs,
        spacing=apart,
        reach=pairs * apart,
        radius=np.array([filters.radius(q) for q in every]),
    )


def _half(taps: Taps) -> Taps:
    """Return the taps from the one in the middle on."""
    return taps[len(taps) // 2 :]


def _table(rows: list[Taps]) -> Array:
    """Return taps as an array with zeros behind them."""
    most = max(map(len, rows))
    more = -(most - 1 - PAIRS) % TOGETHER
    return np.array([np.pad(row, (0, most + more - len(row))) for row in rows], np.float32)
