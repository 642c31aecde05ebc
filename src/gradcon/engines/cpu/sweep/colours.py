"""How different the colours of pixels and their neighbours are."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradcon.engines.cpu.rows import inlined, row
from gradcon.engines.cpu.sweep.sampling import Sources


class Guide(NamedTuple):
    """The reference, where it guides a filter.

    The type of the views' own pixels is no part of it, so that the filters are compiled once for all types.
    """

    reference: NDArray[np.float32]  # (channels * height, width), from 0 to 1
    channels: int
    height: int


def guide_of(sources: Sources) -> Guide:
    return Guide(sources.reference, sources.channels, sources.height)


@inlined
def add_colour_difference(guide, y, dy, dx, first, last, out):
    """Add |I(x + dx, y + dy) - I(x, y)|, summed over the channels, to out[x] for x from `first` to before `last`."""
    for c in range(guide.channels):
        here = row(guide.reference, c * guide.height + y, 0)
        there = row(guide.reference, c * guide.height + y + dy, dx)
        for x in range(first, last):
            out[x] += abs(there[x] - here[x])
