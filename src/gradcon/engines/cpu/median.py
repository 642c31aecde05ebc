"""The 5 x 5 median of the cpu engine, by a network of minima and maxima on vectors of pixels.

A sorting network compares fixed pairs, so each comparison is done for many pixels at once, in registers.
"""

from typing import Any

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from gradcon.engines.cpu.compiling import HELPER
from gradcon.engines.cpu.lanes import LANES, load, store
from gradcon.engines.cpu.rows import called, compiled, inlined, row
from gradcon.engines.median_network import median_network
from gradcon.engines.model import MEDIAN_SIZE

HALF = MEDIAN_SIZE // 2
COUNT = MEDIAN_SIZE * MEDIAN_SIZE


def medians(count, a, b, c, d, e, x, out):
    """out[x + i] = the median of five neighbours from x + i on in each of five rows, for i below count."""
    for i in range(x, x + count):
        window = []
        for line in (a, b, c, d, e):
            for k in range(MEDIAN_SIZE):
                window.append(line[i + k])
        out[i] = sorted(window)[COUNT // 2]


def _compiled(count: int) -> Any:
    @intrinsic
    def block(typing_context, arguments):
        def generate(context, builder, signature, values):
            *lines, x, out = cgutils.unpack_tuple(builder, values[0])
            offsets = [builder.add(x, x.type(k)) for k in range(MEDIAN_SIZE)]
            found = [load(builder, builder.gep(line, [offset]), count) for line in lines for offset in offsets]
            for i, j in median_network(COUNT):
                found[i], found[j] = found[i].ordered(found[j])
            store(builder, found[COUNT // 2], builder.gep(out, [x]))
            return context.get_dummy_value()

        return types.void(arguments), generate

    return block


BLOCKS = {count: _compiled(count) for count in (1, LANES)}


@overload(medians, prefer_literal=True, jit_options=HELPER)
def _(count, a, b, c, d, e, x, out):
    block = BLOCKS[count.literal_value]

    def compiled(count, a, b, c, d, e, x, out):
        block((a, b, c, d, e, x, out))

    return compiled


@inlined
def reflected(i, n):
    """Bring index i inside 0 .. n - 1 by reflection about the border's edges: -1 -> 0, -2 -> 1."""
    while i < 0 or i >= n:
        i = -1 - i if i < 0 else 2 * n - 1 - i
    return i


@called
def pad_row(line, padded):
    """Copy a row and what its borders reflect."""
    width = line.size
    for x in range(width):
        padded[HALF + x] = line[x]
    for k in range(HALF):
        padded[k] = line[reflected(k - HALF, width)]
        padded[HALF + width + k] = line[reflected(width + k, width)]


@compiled
def median_filter(chunk, chunks, image, out):
    """Filter a band of the image by the 5 x 5 median with reflected borders."""
    height, width = image.shape
    first, end, whole = height * chunk // chunks, height * (chunk + 1) // chunks, width // LANES * LANES
    ring = np.empty((MEDIAN_SIZE, width + 2 * HALF), image.dtype)
    for y in range(first - HALF, end + HALF):
        pad_row(image[reflected(y, height)], ring[y % MEDIAN_SIZE])
        if y < first + HALF:
            continue
        a, b, c = (
            row(ring, y % MEDIAN_SIZE, 0),
            row(ring, (y - 1) % MEDIAN_SIZE, 0),
            row(ring, (y - 2) % MEDIAN_SIZE, 0),
        )
        d, e, line = row(ring, (y - 3) % MEDIAN_SIZE, 0), row(ring, (y - 4) % MEDIAN_SIZE, 0), row(out, y - HALF, 0)
        for x in range(0, whole, LANES):
            medians(LANES, a, b, c, d, e, x, line)
        for x in range(whole, width):
            medians(1, a, b, c, d, e, x, line)
