"""A meeting point for threads that compute one thing together, inside compiled code.

The solver needs a hundred meetings per solve, a few microseconds apart.  So threads wait by looking again and again.
If that takes longer than a sweep, another program has taken a core from one of them, and the others sleep in between:
an idle core lets the system move that thread there.  All threads must be running, or they wait for ever: there may not
be more of them than the pool has.
"""

import sys

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from gradcon.engines.cpu.rows import called

ARRIVED, ROUND, SIZE = 0, 8, 16  # in cache lines of their own
LOOKS = 400_000  # before a thread sleeps: some 0.3 milliseconds, which few sweeps take
SLEEP, NAP = ("Sleep", 0) if sys.platform == "win32" else ("usleep", 20)  # milliseconds there, microseconds here
BYTES = 8


def new_barrier():
    """Return the state of a meeting point."""
    return np.zeros(SIZE, np.int64)


def _place(context, builder, signature, arguments):
    """Return a pointer to array[i], the first two arguments."""
    array = make_array(signature.args[0])(context, builder, arguments[0])
    return cgutils.get_item_pointer(context, builder, signature.args[0], array, [arguments[1]])


@intrinsic
def add_one(typing_context, array, i):
    """Add 1 to array[i], and return what it was before."""

    def generate(context, builder, signature, arguments):
        one = ir.Constant(ir.IntType(64), 1)
        return builder.atomic_rmw("add", _place(context, builder, signature, arguments), one, "seq_cst")

    return types.int64(array, types.intp), generate


@intrinsic
def look(typing_context, array, i):
    """Return array[i] as the other threads have left it."""

    def generate(context, builder, signature, arguments):
        return builder.load_atomic(_place(context, builder, signature, arguments), "acquire", BYTES)

    return types.int64(array, types.intp), generate


@intrinsic
def show(typing_context, array, i, value):
    """Set array[i]; whoever sees it sees everything that was written before."""

    def generate(context, builder, signature, arguments):
        builder.store_atomic(arguments[2], _place(context, builder, signature, arguments), "release", BYTES)
        return context.get_dummy_value()

    return types.void(array, types.intp, types.int64), generate


@intrinsic
def sleep(typing_context):
    """Let others run for a moment."""

    def generate(context, builder, signature, arguments):
        number = ir.IntType(32)
        function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(number, [number]), SLEEP)
        builder.call(function, [ir.Constant(number, NAP)])
        return context.get_dummy_value()

    return types.void(), generate


@called
def meet(barrier, chunks):
    """Wait until all threads are here."""
    if chunks == 1:
        return
    this_round = look(barrier, ROUND)
    if add_one(barrier, ARRIVED) == chunks - 1:
        show(barrier, ARRIVED, 0)
        show(barrier, ROUND, this_round + 1)
        return
    looks = 0
    while look(barrier, ROUND) == this_round:
        looks += 1
        if looks > LOOKS:
            sleep()
