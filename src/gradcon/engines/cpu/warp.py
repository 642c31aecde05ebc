"""Warping for the cpu engine: each target as the reference would see it, by cubic convolution, less the reference.

Views of a planar array in the reference's row or column need four taps per pixel, and all others sixteen.  Images have
a margin of repeated pixels, so that no tap is ever outside.
"""

import math

import numpy as np

from gradcon.engines import model
from gradcon.engines.cpu.lanes import LANES
from gradcon.engines.cpu.memory import aligned
from gradcon.engines.cpu.rows import called, compiled, inlined, row
from gradcon.engines.cpu.warp_lanes import warp_by_four, warp_by_sixteen
from gradcon.engines.views import COLUMN, GENERAL, PLANAR
from gradcon.scene import geometry

MARGIN = 2

cubic = inlined(model.cubic)
project = inlined(geometry.project)


def with_margins(targets, kinds):
    """Return the targets as `warp_views` wants them."""
    around = ((MARGIN, MARGIN), (MARGIN, MARGIN))
    found = aligned((len(targets), math.prod(size + 2 * MARGIN for size in targets.shape[1:])))
    for place, target, kind in zip(found, targets, kinds, strict=True):
        place[:] = np.pad(target.T if kind == COLUMN else target, around, mode="edge").ravel()
    return found


@inlined
def split(position):
    """Return the whole part and the fraction, the latter in float32."""
    whole = np.floor(position)
    return np.int32(whole), np.float32(position - whole)


@inlined
def inside(i, shift, first, last):
    """Return whether i + shift is inside first .. last, without adding them, which would round a small shift away.

    The index goes through int32, which vector instructions convert; float32 holds all differences of indices exactly.
    """
    place = np.float32(np.int32(i))
    return (shift >= np.float32(first) - place) & (shift <= np.float32(last) - place)


@inlined
def sample(target, i, fv, j, fu):
    """Interpolate by sixteen taps around row i + fv, column j + fu of an image with its margin."""
    a0, a1, a2, a3 = cubic(fu)
    p0 = row(target, i + MARGIN - 1, j + MARGIN - 1)
    p1 = row(target, i + MARGIN, j + MARGIN - 1)
    p2 = row(target, i + MARGIN + 1, j + MARGIN - 1)
    p3 = row(target, i + MARGIN + 2, j + MARGIN - 1)
    r0 = a0 * p0[0] + a1 * p0[1] + a2 * p0[2] + a3 * p0[3]
    r1 = a0 * p1[0] + a1 * p1[1] + a2 * p1[2] + a3 * p1[3]
    r2 = a0 * p2[0] + a1 * p2[1] + a2 * p2[2] + a3 * p2[3]
    r3 = a0 * p3[0] + a1 * p3[1] + a2 * p3[2] + a3 * p3[3]
    b0, b1, b2, b3 = cubic(fv)
    return b0 * r0 + b1 * r1 + b2 * r2 + b3 * r3


@inlined
def warp_general_view(target, reference, w, y, M, m, frame, out):
    width, (left, right, top, bottom) = out.size, frame
    for x in range(width):
        u, v, z = project(M, m, float(x), float(y), float(w[x]))
        if z > 0 and u >= left and u <= right and v >= top and v <= bottom:
            j, fu = split(u)
            i, fv = split(v)
            out[x] = sample(target, i, fv, j, fu) - reference[x]
        else:
            out[x] = model.ZERO


@called
def warp_line_view(kind, target, reference, w, y, bx, by, frame, height, width, out):
    """Warp a row by a view in the reference's row or column; a column of its pixels then stands like a row."""
    left, right, top, bottom = frame
    along, across = (0, 1) if kind == COLUMN else (1, 0)
    at, size = (y, height) if kind == COLUMN else (0, width)
    stride = size + 2 * MARGIN
    first, step = (0 if kind == COLUMN else y) * stride + MARGIN * stride + MARGIN - 1, across * stride
    pixels, line, ours, to = row(target, 0, 0), row(w, y, 0), row(reference, y, 0), row(out, y, 0)
    whole = width // LANES * LANES
    for x in range(0, whole, LANES):
        warp_by_four(
            LANES, pixels, first + x * step, step, at + x * along, along, size, bx, by, x, y, left, right, top, bottom,
            line, ours, to,
        )  # fmt: skip
    for x in range(whole, width):
        warp_by_four(
            1, pixels, first + x * step, step, at + x * along, along, size, bx, by, x, y, left, right, top, bottom,
            line, ours, to,
        )  # fmt: skip


@called
def warp_planar_view(target, reference, w, y, bx, by, frame, height, width, out):
    """Warp a row by any other view of a planar array."""
    (left, right, top, bottom), stride = frame, width + 2 * MARGIN
    first = (MARGIN - 1) * stride + MARGIN - 1
    pixels, line, ours, to = row(target, 0, 0), row(w, y, 0), row(reference, y, 0), row(out, y, 0)
    whole = width // LANES * LANES
    for x in range(0, whole, LANES):
        warp_by_sixteen(
            LANES, pixels, first, stride, width, height, bx, by, x, y, left, right, top, bottom, line, ours, to
        )
    for x in range(whole, width):
        warp_by_sixteen(1, pixels, first, stride, width, height, bx, by, x, y, left, right, top, bottom, line, ours, to)


@compiled
def warp_views(chunk, chunks, targets, reference, w, views, kinds, M, m, frames, out):
    """Warp the listed targets by w into out[view, y, x], less the reference; where one sees nothing, that is 0.

    A target is a row of `targets`: one row of pixels behind the other, or one column if it is in the reference's
    column, with a margin on all sides.
    """
    height, width = reference.shape
    for task in range(chunk, views.size * height, chunks):
        k, y = task // height, task % height
        t = views[k]
        frame = frames[t, 0], frames[t, 1], frames[t, 2], frames[t, 3]
        kind, target, bx, by = kinds[t], targets[t : t + 1], np.float32(m[t, 0]), np.float32(m[t, 1])
        if kind == GENERAL:
            image = targets[t].reshape((height + 2 * MARGIN, width + 2 * MARGIN))
            warp_general_view(image, reference[y], w[y], y, M[t], m[t], frame, out[k, y])
        elif kind == PLANAR:
            warp_planar_view(target, reference, w, y, bx, by, frame, height, width, out[k])
        else:
            warp_line_view(kind, target, reference, w, y, bx, by, frame, height, width, out[k])
