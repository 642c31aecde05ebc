"""The basis of the cpu engine's innermost loops: a small vector machine on rows of float32.

Its registers are the rows of one table S, named by number.  Every function of `row_filters` and `row_model` reads some
rows and writes others, over the first n columns.  The loops run along x over plain pointers (`row`), which compile to
vector instructions and cost nothing to pass around; sliced arrays would count references at every call, which takes
longer than the arithmetic.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from gradcon.engines.cpu.compiling import OPTIONS, called, called_lent, compiled, inlined, inlined_lent

__all__ = ["OPTIONS", "called", "called_lent", "compiled", "inlined", "inlined_lent", "row"]


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
