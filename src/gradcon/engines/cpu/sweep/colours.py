"""How different the colours of pixels and their neighbours are."""

from gradcon.engines.cpu.rows import inlined, row


@inlined
def add_colour_difference(sources, y, dy, dx, first, last, out):
    """Add |I(x + dx, y + dy) - I(x, y)|, summed over the channels, to out[x] for x from `first` to before `last`."""
    for c in range(sources.channels):
        here = row(sources.reference, c * sources.height + y, 0)
        there = row(sources.reference, c * sources.height + y + dy, dx)
        for x in range(first, last):
            out[x] += abs(there[x] - here[x])
