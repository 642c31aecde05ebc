"""Warp some pixels of a row at once by a view of a planar array.

The four taps of a pixel are neighbours in memory, so one load brings them all, while vectors that gather them load
every number by itself.  The first two functions say in Python what the compiled code does, with one lane a pixel.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from gradcon.engines import model
from gradcon.engines.cpu.compiling import HELPER
from gradcon.engines.cpu.lanes import INT, LANES, Lanes, choose, load, splat, store, transposed

# Both take: where row `y` of the image lies in `pixels`, or where the first row of taps would if y were 0; the view's
# baseline; the first pixel; the rectangle of the view that counts; the rows w and reference, and the one to write.


def warp_by_four(
    count, pixels, first, step, at, along, size, bx, by, x, y, left, right, top, bottom, w, reference, out
):
    """Warp `count` pixels from x on by four taps; where the view sees nothing, the result is 0.

    The taps of pixel x + i begin at first + i step, plus at + i along and the whole part of the shift, kept below size.
    """
    for i in range(count):
        w_x, column = w[x + i], x + i
        shift_x, shift_y = bx * w_x, by * w_x  # one of them is 0
        shift = shift_x + shift_y
        whole = np.floor(shift)
        a0, a1, a2, a3 = model.cubic(shift - whole)
        j = kept(at + i * along + int(whole), size)
        p0, p1 = pixels[first + i * step + j], pixels[first + i * step + j + 1]
        p2, p3 = pixels[first + i * step + j + 2], pixels[first + i * step + j + 3]
        seen = left - column <= shift_x <= right - column and top - y <= shift_y <= bottom - y
        out[x + i] = a0 * p0 + a1 * p1 + a2 * p2 + a3 * p3 - reference[x + i] if seen else model.ZERO


def warp_by_sixteen(
    count, pixels, first, stride, width, height, bx, by, x, y, left, right, top, bottom, w, reference, out
):
    """Warp `count` pixels from x on by sixteen taps, four in each of four rows that are `stride` apart."""
    for i in range(count):
        w_x, column = w[x + i], x + i
        shift_x, shift_y = bx * w_x, by * w_x
        whole_x, whole_y = np.floor(shift_x), np.floor(shift_y)
        b0, b1, b2, b3 = model.cubic(shift_y - whole_y)
        j, line = kept(column + int(whole_x), width), kept(y + int(whole_y), height)
        value = -reference[x + i]
        for k, a in enumerate(model.cubic(shift_x - whole_x)):
            p0, p1 = pixels[first + line * stride + j + k], pixels[first + (line + 1) * stride + j + k]
            p2, p3 = pixels[first + (line + 2) * stride + j + k], pixels[first + (line + 3) * stride + j + k]
            value += a * (b0 * p0 + b1 * p1 + b2 * p2 + b3 * p3)
        seen = left - column <= shift_x <= right - column and top - y <= shift_y <= bottom - y
        out[x + i] = value if seen else model.ZERO


def kept(index, size):
    """Bring an index inside 0 .. size - 1."""
    return min(max(index, 0), size - 1)


class _Block:
    """What both have in common, for `count` lanes."""

    def __init__(self, builder, count, frame, x, y, bx, by, w, reference, out):
        self.builder, self.count = builder, count
        self.reference, self.out = (builder.gep(line, [x]) for line in (reference, out))
        self.w = load(builder, builder.gep(w, [x]), count)
        self.x = builder.add(self.integers(x), ir.Constant(ir.VectorType(INT, count), list(range(count))))
        self.y = self.integers(y)
        self.shift_x, self.shift_y = (Lanes(builder, splat(builder, b, count)) * self.w for b in (bx, by))
        left, right, top, bottom = (self.floats(self.integers(side)) for side in frame)
        columns, lines = self.floats(self.x), self.floats(self.y)
        self.seen = builder.and_(
            self.shift_x.inside(left - columns, right - columns), self.shift_y.inside(top - lines, bottom - lines)
        )

    def integers(self, value):
        return splat(self.builder, self.builder.trunc(value, INT), self.count)

    def floats(self, integers):
        return Lanes(self.builder, self.builder.sitofp(integers, ir.VectorType(ir.FloatType(), self.count)))

    def clamped(self, index, size):
        """Return the indices, brought inside 0 .. size - 1."""
        builder, zero = self.builder, ir.Constant(index.type, [0] * self.count)
        last = self.integers(builder.sub(size, ir.Constant(size.type, 1)))
        index = builder.select(builder.icmp_signed("<", index, zero), zero, index)
        return builder.select(builder.icmp_signed(">", index, last), last, index)

    def places(self, integers):
        """Return the number in every lane, as indices of pointers."""
        lanes = (self.builder.extract_element(integers, ir.Constant(INT, i)) for i in range(self.count))
        return [self.builder.sext(lane, ir.IntType(64)) for lane in lanes]

    def finish(self, taps, fraction):
        """Add up the taps, and write the result."""
        a0, a1, a2, a3 = model.cubic(fraction)
        p0, p1, p2, p3 = taps
        value = a0 * p0 + a1 * p1 + a2 * p2 + a3 * p3 - load(self.builder, self.reference, self.count)
        store(self.builder, choose(self.seen, value), self.out)


def _four(builder, count, arguments):
    pixels, first, step, at, along, size, bx, by, x, y, *frame, w, reference, out = arguments
    block = _Block(builder, count, frame, x, y, bx, by, w, reference, out)
    lanes = ir.Constant(ir.VectorType(INT, count), list(range(count)))
    whole, fraction = (block.shift_x + block.shift_y).split()
    index = builder.add(block.integers(at), builder.mul(lanes, block.integers(along)))
    begin = builder.add(block.integers(first), builder.mul(lanes, block.integers(step)))
    places = block.places(builder.add(begin, block.clamped(builder.add(index, whole), size)))
    quads = [load(builder, builder.gep(pixels, [place]), 4) for place in places]
    block.finish(transposed(quads), fraction)


def _sixteen(builder, count, arguments):
    pixels, first, stride, width, height, bx, by, x, y, *frame, w, reference, out = arguments
    block = _Block(builder, count, frame, x, y, bx, by, w, reference, out)
    whole_x, fraction_x = block.shift_x.split()
    whole_y, fraction_y = block.shift_y.split()
    columns = block.clamped(builder.add(block.x, whole_x), width)
    lines = builder.mul(block.clamped(builder.add(block.y, whole_y), height), block.integers(stride))
    b, quads = model.cubic(fraction_y), []
    for i, place in enumerate(block.places(builder.add(block.integers(first), builder.add(lines, columns)))):
        offsets = (builder.mul(stride, ir.Constant(stride.type, k)) for k in range(4))
        rows = [load(builder, builder.gep(pixels, [builder.add(place, offset)]), 4) for offset in offsets]
        r0, r1, r2, r3 = (tap.lane(i) * row for tap, row in zip(b, rows, strict=True))
        quads.append(r0 + r1 + (r2 + r3))
    block.finish(transposed(quads), fraction_x)


def _compiled(emit, count):
    """Return a compiled function of a tuple of arguments, for so many lanes."""

    @intrinsic
    def block(typing_context, arguments):
        def generate(context, builder, signature, values):
            emit(builder, count, cgutils.unpack_tuple(builder, values[0]))
            return context.get_dummy_value()

        return types.void(arguments), generate

    return block


FOUR, SIXTEEN = ({count: _compiled(emit, count) for count in (1, LANES)} for emit in (_four, _sixteen))


@overload(warp_by_four, prefer_literal=True, jit_options=HELPER)
def _(count, pixels, first, step, at, along, size, bx, by, x, y, left, right, top, bottom, w, reference, out):
    block = FOUR[count.literal_value]

    def compiled(
        count, pixels, first, step, at, along, size, bx, by, x, y, left, right, top, bottom, w, reference, out
    ):
        block((pixels, first, step, at, along, size, bx, by, x, y, left, right, top, bottom, w, reference, out))

    return compiled


@overload(warp_by_sixteen, prefer_literal=True, jit_options=HELPER)
def _(count, pixels, first, stride, width, height, bx, by, x, y, left, right, top, bottom, w, reference, out):
    block = SIXTEEN[count.literal_value]

    def compiled(
        count, pixels, first, stride, width, height, bx, by, x, y, left, right, top, bottom, w, reference, out
    ):
        block((pixels, first, stride, width, height, bx, by, x, y, left, right, top, bottom, w, reference, out))

    return compiled
