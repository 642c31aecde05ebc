"""Warping for the cpu engine: each target as the reference would see it, by cubic convolution.

An array's views in the reference's row or column need four taps a pixel, all others sixteen; their images carry a
margin of repeated pixels, so that no tap is ever outside.
"""

import math

import numpy as np
from numba import njit, prange

from gradcon import geometry, model
from gradcon.engines._cpu_rows import FAST

ROW, COLUMN, PLANAR, GENERAL = 0, 1, 2, 3  # kinds of view, by what moves a pixel: B_x w, B_y w, B w, (M, m)
MARGIN = 2

cubic = njit(cache=True, fastmath=FAST, nogil=True)(model.cubic)
project = njit(cache=True, nogil=True)(geometry.project)
coupling = njit(cache=True, nogil=True)(geometry.coupling)


@njit(cache=True, fastmath=FAST, nogil=True)
def split(position):
    """Whole and fractional part, the latter in float32."""
    whole = math.floor(position)
    return int(whole), np.float32(position - whole)


@njit(cache=True, fastmath=FAST, nogil=True)
def warp_row_view(target, reference, w, y, b, out):
    width = out.size
    line = target[y + MARGIN]
    for x in range(width):
        shift = b * w[x]
        u = x + shift
        if u >= 0 and u <= width - 1:
            whole, f = split(shift)
            j = x + whole + MARGIN
            a0, a1, a2, a3 = cubic(f)
            out[x] = a0 * line[j - 1] + a1 * line[j] + a2 * line[j + 1] + a3 * line[j + 2]
        else:
            out[x] = reference[x]


@njit(cache=True, fastmath=FAST, nogil=True)
def warp_column_view(target, reference, w, y, b, height, out):
    for x in range(out.size):
        shift = b * w[x]
        v = y + shift
        if v >= 0 and v <= height - 1:
            whole, f = split(shift)
            i, j = y + whole + MARGIN, x + MARGIN
            a0, a1, a2, a3 = cubic(f)
            out[x] = a0 * target[i - 1, j] + a1 * target[i, j] + a2 * target[i + 1, j] + a3 * target[i + 2, j]
        else:
            out[x] = reference[x]


@njit(cache=True, fastmath=FAST, nogil=True)
def sample(target, i, fv, j, fu):
    """Sixteen taps around row i + fv, column j + fu of an image with its margin."""
    a0, a1, a2, a3 = cubic(fu)
    b0, b1, b2, b3 = cubic(fv)
    i += MARGIN
    j += MARGIN
    r0 = a0 * target[i - 1, j - 1] + a1 * target[i - 1, j] + a2 * target[i - 1, j + 1] + a3 * target[i - 1, j + 2]
    r1 = a0 * target[i, j - 1] + a1 * target[i, j] + a2 * target[i, j + 1] + a3 * target[i, j + 2]
    r2 = a0 * target[i + 1, j - 1] + a1 * target[i + 1, j] + a2 * target[i + 1, j + 1] + a3 * target[i + 1, j + 2]
    r3 = a0 * target[i + 2, j - 1] + a1 * target[i + 2, j] + a2 * target[i + 2, j + 1] + a3 * target[i + 2, j + 2]
    return b0 * r0 + b1 * r1 + b2 * r2 + b3 * r3


@njit(cache=True, fastmath=FAST, nogil=True)
def warp_planar_view(target, reference, w, y, bx, by, height, out):
    width = out.size
    for x in range(width):
        shift_x, shift_y = bx * w[x], by * w[x]
        u, v = x + shift_x, y + shift_y
        if u >= 0 and u <= width - 1 and v >= 0 and v <= height - 1:
            whole_x, fu = split(shift_x)
            whole_y, fv = split(shift_y)
            out[x] = sample(target, y + whole_y, fv, x + whole_x, fu)
        else:
            out[x] = reference[x]


@njit(cache=True, nogil=True)
def warp_general_view(target, reference, w, y, M, m, height, out):
    width = out.size
    for x in range(width):
        u, v, z = project(M, m, float(x), float(y), float(w[x]))
        if z > 0 and u >= 0 and u <= width - 1 and v >= 0 and v <= height - 1:
            j, fu = split(u)
            i, fv = split(v)
            out[x] = sample(target, i, fv, j, fu)
        else:
            out[x] = reference[x]


@njit(cache=True, fastmath=FAST, nogil=True)
def coupling_row(kind, M, m, w, y, x0, height, width, cx, cy):
    """c_t along pixels x0, x0 + 1, ... of row y: 0 where the view does not see them.

    A view in the reference's row leaves cy alone, one in its column cx: they are not needed.
    """
    bx, by = np.float32(m[0]), np.float32(m[1])
    nothing = np.float32(0)
    if kind == ROW:
        for x in range(w.size):
            u = x0 + x + bx * w[x]
            cx[x] = bx if u >= 0 and u <= width - 1 else nothing
    elif kind == COLUMN:
        for x in range(w.size):
            v = y + by * w[x]
            cy[x] = by if v >= 0 and v <= height - 1 else nothing
    elif kind == PLANAR:
        for x in range(w.size):
            u, v = x0 + x + bx * w[x], y + by * w[x]
            seen = u >= 0 and u <= width - 1 and v >= 0 and v <= height - 1
            cx[x] = bx if seen else nothing
            cy[x] = by if seen else nothing
    else:
        for x in range(w.size):
            u, v, z = project(M, m, float(x0 + x), float(y), float(w[x]))
            seen = z > 0 and u >= 0 and u <= width - 1 and v >= 0 and v <= height - 1
            cx[x], cy[x] = coupling(M, m, u, v) if seen else (0.0, 0.0)


@njit(cache=True, nogil=True, parallel=True, error_model="numpy")
def warp_views(targets, reference, w, views, kinds, M, m, out):
    """Warp the listed targets by w into out[view, y, x]."""
    height, width = reference.shape
    for task in prange(views.size * height):
        k, y = task // height, task % height
        t = views[k]
        line, row, result = reference[y], w[y], out[k, y]
        bx, by = np.float32(m[t, 0]), np.float32(m[t, 1])
        if kinds[t] == ROW:
            warp_row_view(targets[t], line, row, y, bx, result)
        elif kinds[t] == COLUMN:
            warp_column_view(targets[t], line, row, y, by, height, result)
        elif kinds[t] == PLANAR:
            warp_planar_view(targets[t], line, row, y, bx, by, height, result)
        else:
            warp_general_view(targets[t], line, row, y, M[t], m[t], height, result)
