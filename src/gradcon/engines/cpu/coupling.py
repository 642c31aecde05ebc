"""How the views of a row couple to its disparity, and the gradients g and G along that coupling.

The reference's derivatives and the difference of the view's and the reference's are given, smoothed to a scale.
"""

import numpy as np

from gradcon.engines import model
from gradcon.engines.cpu.rows import called_lent as called
from gradcon.engines.cpu.rows import inlined_lent as inlined
from gradcon.engines.cpu.rows import row
from gradcon.engines.cpu.warp import inside
from gradcon.engines.cpu.warp import project as project_pixel
from gradcon.engines.views import PLANAR
from gradcon.scene import geometry

coupling = inlined(geometry.coupling)
along = inlined(model.along)
mean_gradient = inlined(model.mean_gradient)
gradient_inconsistency = inlined(model.gradient_inconsistency)


@called
def row_gradients(b, x0, left, right, w, difference, derivative, g, G, n):
    """g and G of a view in the reference's row, b to its right, from derivatives along x."""
    for x in range(n):
        c = b * np.float32(inside(x0 + x, b * w[x], left, right))
        d_r = c * derivative[x]
        d_t = c * difference[x] + d_r
        g[x] = mean_gradient(d_t, d_r)
        G[x] = gradient_inconsistency(d_t, d_r)


@called
def column_gradients(b, x0, left, right, y, top, bottom, w, difference, derivative, g, G, n):
    """g and G of a view in the reference's column, b below it, from derivatives along y."""
    for x in range(n):
        in_column = (x0 + x >= left) & (x0 + x <= right)
        c = b * np.float32(in_column & inside(y, b * w[x], top, bottom))
        d_r = c * derivative[x]
        d_t = c * difference[x] + d_r
        g[x] = mean_gradient(d_t, d_r)
        G[x] = gradient_inconsistency(d_t, d_r)


@inlined
def coupling_row(kind, M, m, left, right, top, bottom, t, w, y, x0, n, cx, cy):
    """cx, cy = c_t of any other view along n pixels of row y, from x0: 0 where the view does not see them."""
    line = row(w, y, x0)
    if kind == PLANAR:
        planar_coupling(np.float32(m[t, 0]), np.float32(m[t, 1]), x0, y, left, right, top, bottom, line, cx, cy, n)
    else:
        general_coupling(M[t], m[t], x0, y, left, right, top, bottom, line, cx, cy, n)


@called
def planar_coupling(bx, by, x0, y, left, right, top, bottom, w, cx, cy, n):
    for x in range(n):
        seen = np.float32(inside(x0 + x, bx * w[x], left, right) & inside(y, by * w[x], top, bottom))
        cx[x] = bx * seen
        cy[x] = by * seen


@called
def general_coupling(M, m, x0, y, left, right, top, bottom, w, cx, cy, n):
    for x in range(n):
        u, v, z = project_pixel(M, m, float(x0 + x), float(y), float(w[x]))
        seen = z > 0 and u >= left and u <= right and v >= top and v <= bottom
        a, b = coupling(M, m, u, v) if seen else (0.0, 0.0)
        cx[x] = np.float32(a)
        cy[x] = np.float32(b)


@called
def project(cx, cy, dx, dy, out, n):
    """out = <(dx, dy), c>."""
    for x in range(n):
        out[x] = along(cx[x], cy[x], dx[x], dy[x])


@called
def gradients(difference, d_r, g, G, n):
    """g and G from the reference's directional derivative d_r and the difference d_t - d_r."""
    for x in range(n):
        d_t = difference[x] + d_r[x]
        g[x] = mean_gradient(d_t, d_r[x])
        G[x] = gradient_inconsistency(d_t, d_r[x])
