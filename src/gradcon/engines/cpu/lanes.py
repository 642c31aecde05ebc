"""Several pixels at once, where the compiler cannot do it by itself: its vectors gather neighbours one by one.

Python's operators on `Lanes` emit vector instructions, so that the functions of `engines.model` take them as they are.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils

from gradcon.engines.cpu.compiling import FAST

FLAGS = tuple(sorted(FAST))
FLOAT, INT = ir.FloatType(), ir.IntType(32)
LANES = 16  # pixels at once: vectors of a processor with shorter ones are several of its own
QUAD = 4  # neighbours that one load brings
FARTHEST = 2.0**30  # pixels; farther than any image, and within the integers


class Lanes:
    """A vector of float32, one number for each pixel."""

    __array_ufunc__ = None  # so that NumPy leaves `number * lanes` to this class

    def __init__(self, builder: Any, value: Any) -> None:
        self.builder, self.value, self.count = builder, value, value.type.count

    def _with(self, other: Any) -> Any:
        if isinstance(other, Lanes):
            return other.value
        return ir.Constant(self.value.type, [float(other)] * self.count)

    def _made(self, value: Any) -> Lanes:
        return Lanes(self.builder, value)

    def __add__(self, other: Any) -> Lanes:
        return self._made(self.builder.fadd(self.value, self._with(other), flags=FLAGS))

    def __sub__(self, other: Any) -> Lanes:
        return self._made(self.builder.fsub(self.value, self._with(other), flags=FLAGS))

    def __rsub__(self, other: Any) -> Lanes:
        return self._made(self.builder.fsub(self._with(other), self.value, flags=FLAGS))

    def __mul__(self, other: Any) -> Lanes:
        return self._made(self.builder.fmul(self.value, self._with(other), flags=FLAGS))

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> Lanes:
        return self._made(self.builder.fneg(self.value))

    def inside(self, low: Lanes, high: Lanes) -> Any:
        """Return a mask of the lanes from low to high."""
        above = self.builder.fcmp_ordered(">=", self.value, low.value)
        return self.builder.and_(above, self.builder.fcmp_ordered("<=", self.value, high.value))

    def split(self) -> tuple[Any, Lanes]:
        """Return the whole part, as a vector of integers, and the fraction; the integers end at `FARTHEST`."""
        kind = self.value.type
        floor = ir.FunctionType(kind, [kind])
        name = f"llvm.floor.v{self.count}f32"
        function = cgutils.get_or_insert_function(self.builder.module, floor, name)
        whole = self._made(self.builder.call(function, [self.value]))
        low, high = (self._made(self._with(end)) for end in (-FARTHEST, FARTHEST))
        near = whole.ordered(high)[0].ordered(low)[1]  # what no integer can hold would become anything
        return self.builder.fptosi(near.value, ir.VectorType(INT, self.count)), self - whole

    def ordered(self, other: Lanes) -> tuple[Lanes, Lanes]:
        """Return the smaller and the larger of two numbers in every lane."""
        less = self.builder.fcmp_ordered("<", self.value, other.value)
        smaller = self.builder.select(less, self.value, other.value)
        more = self.builder.fcmp_ordered(">", self.value, other.value)
        return self._made(smaller), self._made(self.builder.select(more, self.value, other.value))

    def lane(self, i: int) -> Lanes:
        """Return the number of lane i, four times."""
        return self._made(shuffled(self.builder, self.value, self.value, [i] * QUAD))


def shuffled(builder: Any, a: Any, b: Any, order: Any) -> Any:
    """Return the listed numbers of two vectors, counted through."""
    return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(INT, len(order)), list(order)))


def splat(builder: Any, value: Any, count: int) -> Any:
    """Return a vector with a number in every lane."""
    one = builder.insert_element(
        ir.Constant(ir.VectorType(value.type, count), ir.Undefined), value, ir.Constant(INT, 0)
    )
    return shuffled(builder, one, one, [0] * count)


def load(builder: Any, pointer: Any, count: int) -> Lanes:
    """Return `count` neighbours from a pointer on."""
    vector = builder.bitcast(pointer, ir.VectorType(FLOAT, count).as_pointer())
    return Lanes(builder, builder.load(vector, align=4))


def store(builder: Any, lanes: Lanes, pointer: Any) -> None:
    builder.store(lanes.value, builder.bitcast(pointer, lanes.value.type.as_pointer()), align=4)


def choose(mask: Any, lanes: Lanes) -> Lanes:
    """Return the lanes, and 0 where the mask does not hold."""
    zero = ir.Constant(lanes.value.type, [0.0] * lanes.count)
    return Lanes(lanes.builder, lanes.builder.select(mask, lanes.value, zero))


def transposed(quads: list[Lanes]) -> list[Lanes]:
    """Return four vectors, of which vector k holds number k of every quad."""
    builder = quads[0].builder
    if len(quads) == 1:
        return [Lanes(builder, shuffled(builder, quads[0].value, quads[0].value, [k])) for k in range(QUAD)]
    # Quads i, i + 4, ... become one vector, so that the rest happens within its quarters, which is fastest.
    a, b, c, d = (_joined(builder, [quad.value for quad in quads[i::QUAD]]) for i in range(QUAD))
    n = len(quads)

    def within_quarters(a: Any, b: Any, first: int) -> Any:
        return shuffled(
            builder, a, b, [q + i + n * j for q in range(0, n, QUAD) for i in (first, first + 1) for j in (0, 1)]
        )

    def halves(a: Any, b: Any, first: int) -> Any:
        return shuffled(
            builder, a, b, [q + i + n * j for q in range(0, n, QUAD) for j in (0, 1) for i in (first, first + 1)]
        )

    low = within_quarters(a, b, 0), within_quarters(c, d, 0)
    high = within_quarters(a, b, 2), within_quarters(c, d, 2)
    return [Lanes(builder, halves(*pair, first)) for pair in (low, high) for first in (0, 2)]


def _joined(builder: Any, parts: list[Any]) -> Any:
    while len(parts) > 1:
        order = range(2 * parts[0].type.count)
        parts = [shuffled(builder, a, b, order) for a, b in zip(parts[::2], parts[1::2], strict=True)]
    return parts[0]
