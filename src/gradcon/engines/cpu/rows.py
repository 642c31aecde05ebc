"""The basis of the cpu engine's innermost loops: a small vector machine on rows of float32.

Its registers are the rows of one table S, named by number.  Every function of `row_filters` and `row_model` reads some
rows and writes others, over the first n columns.  The loops run along x over plain pointers (`row`), which compile to
vector instructions and cost nothing to pass around; sliced arrays would count references at every call, which takes
longer than the arithmetic.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from gradcon.engines.cpu.compiling import OPTIONS, compiled, inlined

__all__ = ["OPTIONS", "PAIRS", "compiled", "inlined", "one_sided", "row"]

PAIRS = 3  # of mirrored taps that a filter adds in one pass


def one_sided(taps, dtype=np.float32):
    """Return the taps for offsets 0, 1, ... in correlation order, padded with zeros to whole passes of pairs."""
    half = taps[len(taps) // 2 :]
    return np.pad(half, (0, -(len(half) - 1) % PAIRS)).astype(dtype)


@intrinsic
def row(typing_context, array, i, x):
    """Return a pointer to array[i, x] of a 2-D array; it can be indexed, and nothing checks bounds."""

    def generate(context, builder, signature, arguments):
        value, i, x = arguments
        struct = make_array(signature.args[0])(context, builder, value)
        step_i, step_x = cgutils.unpack_tuple(builder, struct.strides)
        offset = builder.add(builder.mul(i, step_i), builder.mul(x, step_x))
        start = builder.bitcast(struct.data, ir.IntType(8).as_pointer())
        return builder.bitcast(builder.gep(start, [offset]), context.get_value_type(signature.return_type))

    return types.CPointer(array.dtype)(array, types.intp, types.intp), generate
