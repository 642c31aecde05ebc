"""Warping for the cpu engine: each target as the reference would see it, by cubic convolution, less the reference.

Views of a planar array in the reference's row or column need four taps per pixel, and all others sixteen.  Images have
a margin of repeated pixels, so that no tap is ever outside.
"""

import numpy as np

from gradcon.engines import model
from gradcon.engines.cpu.rows import compiled, inlined, row
from gradcon.engines.views import COLUMN, PLANAR, ROW
from gradcon.scene import geometry

MARGIN = 2

cubic = inlined(model.cubic)
project = inlined(geometry.project)


@inlined
def split(position):
    """Return the whole part and the fraction, the latter in float32."""
    whole = np.floor(position)
    return np.int32(whole), np.float32(position - whole)


@inlined
def inside(i, shift, first, last):
    """Return whether i + shift is inside first .. last, without adding them, which would round a small shift away.

    Indices go through int32, which vector instructions convert.
    """
    return (shift >= np.float32(np.int32(first - i))) & (shift <= np.float32(np.int32(last - i)))


@inlined
def clamp(index, n):
    """Bring an index inside 0 .. n - 1, as an unsigned number, which needs no check for counting from the end."""
    return np.uint32(np.minimum(np.maximum(np.int32(index), np.int32(0)), np.int32(n - 1)))


@inlined
def warp_row_view(target, reference, w, y, b, frame, out):
    """Warp without branches: a pixel that is not seen samples some place inside, and then takes 0."""
    width, (left, right, top, bottom) = out.size, frame
    in_row = (y >= top) & (y <= bottom)
    line = target[y + MARGIN]
    l0, l1, l2, l3 = line[MARGIN - 1 :], line[MARGIN:], line[MARGIN + 1 :], line[MARGIN + 2 :]
    for x in range(width):
        shift = b * w[x]
        whole, f = split(shift)
        j = clamp(x + whole, width)
        a0, a1, a2, a3 = cubic(f)
        seen = in_row & inside(x, shift, left, right)
        out[x] = a0 * l0[j] + a1 * l1[j] + a2 * l2[j] + a3 * l3[j] - reference[x] if seen else model.ZERO


@inlined
def warp_column_view(target, reference, w, y, b, frame, height, out):
    width, (left, right, top, bottom) = out.size, frame
    pixels = target.reshape(target.size)
    stride = np.int32(target.shape[1])
    l0 = pixels[(MARGIN - 1) * stride + MARGIN :]
    l1, l2, l3 = l0[stride:], l0[2 * stride :], l0[3 * stride :]
    for x in range(width):
        shift = b * w[x]
        whole, f = split(shift)
        j = clamp(y + whole, height) * np.uint32(stride) + np.uint32(x)
        a0, a1, a2, a3 = cubic(f)
        seen = (x >= left) & (x <= right) & inside(y, shift, top, bottom)
        out[x] = a0 * l0[j] + a1 * l1[j] + a2 * l2[j] + a3 * l3[j] - reference[x] if seen else model.ZERO


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
def warp_planar_view(target, reference, w, y, bx, by, frame, out):
    width, (left, right, top, bottom) = out.size, frame
    for x in range(width):
        shift_x, shift_y = bx * w[x], by * w[x]
        if inside(x, shift_x, left, right) & inside(y, shift_y, top, bottom):
            whole_x, fu = split(shift_x)
            whole_y, fv = split(shift_y)
            out[x] = sample(target, y + whole_y, fv, x + whole_x, fu) - reference[x]
        else:
            out[x] = model.ZERO


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


@compiled
def warp_views(chunk, chunks, targets, reference, w, views, kinds, M, m, frames, out):
    """Warp the listed targets by w into out[view, y, x], less the reference; where one sees nothing, that is 0."""
    height = reference.shape[0]
    for task in range(chunk, views.size * height, chunks):
        k, y = task // height, task % height
        t = views[k]
        line, disparity, result = reference[y], w[y], out[k, y]
        frame = frames[t, 0], frames[t, 1], frames[t, 2], frames[t, 3]
        bx, by = np.float32(m[t, 0]), np.float32(m[t, 1])
        if kinds[t] == ROW:
            warp_row_view(targets[t], line, disparity, y, bx, frame, result)
        elif kinds[t] == COLUMN:
            warp_column_view(targets[t], line, disparity, y, by, frame, height, result)
        elif kinds[t] == PLANAR:
            warp_planar_view(targets[t], line, disparity, y, bx, by, frame, result)
        else:
            warp_general_view(targets[t], line, disparity, y, M[t], m[t], frame, result)
