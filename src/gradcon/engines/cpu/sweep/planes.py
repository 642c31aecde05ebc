"""Planes that are fitted to a disparity map around each pixel."""

import numpy as np

from gradcon.engines.cpu.rows import compiled, inlined, row
from gradcon.engines.cpu.sweep.colours import add_colour_difference
from gradcon.engines.cpu.sweep.exponential import exp
from gradcon.engines.sweep import LEAST_WEIGHT, RIDGE

# Rows of the table S: the colour difference, sums along one row of neighbours, and sums over all of them.  The names
# are the factors of what is summed: the weight, the offsets u and v, and the disparity z above the pixel's own.
DI, ROW_1, ROW_U, ROW_UU, ROW_Z, ROW_ZU, S_1, S_U, S_V, S_UU, S_UV, S_VV, S_Z, S_ZU, S_ZV, ROWS = range(16)


@inlined
def add_neighbour(w, y, dy, dx, u, exponent, by_colour, by_disparity, S):
    """Add the neighbours at one offset to the sums along their row."""
    width = w.shape[1]
    here, there, difference = row(w, y, 0), row(w, y + dy, dx), row(S, DI, 0)
    s_1, s_u, s_uu = row(S, ROW_1, 0), row(S, ROW_U, 0), row(S, ROW_UU, 0)
    s_z, s_zu = row(S, ROW_Z, 0), row(S, ROW_ZU, 0)
    for x in range(max(0, -dx), min(width, width - dx)):
        z = there[x] - here[x]
        dI = by_colour * difference[x]
        dz = by_disparity * z
        weight = exp(exponent - dI * dI - dz * dz)
        s_1[x] += weight
        s_u[x] += weight * u
        s_uu[x] += weight * u * u
        s_z[x] += weight * z
        s_zu[x] += weight * z * u


@inlined
def add_row(v, S, width):
    """Add the sums along a row of neighbours to those over all."""
    r_1, r_u, r_uu = row(S, ROW_1, 0), row(S, ROW_U, 0), row(S, ROW_UU, 0)
    r_z, r_zu = row(S, ROW_Z, 0), row(S, ROW_ZU, 0)
    s_1, s_u, s_v, s_uu, s_uv = row(S, S_1, 0), row(S, S_U, 0), row(S, S_V, 0), row(S, S_UU, 0), row(S, S_UV, 0)
    s_vv, s_z, s_zu, s_zv = row(S, S_VV, 0), row(S, S_Z, 0), row(S, S_ZU, 0), row(S, S_ZV, 0)
    for x in range(width):
        s_1[x] += r_1[x]
        s_u[x] += r_u[x]
        s_v[x] += v * r_1[x]
        s_uu[x] += r_uu[x]
        s_uv[x] += v * r_u[x]
        s_vv[x] += v * v * r_1[x]
        s_z[x] += r_z[x]
        s_zu[x] += r_zu[x]
        s_zv[x] += v * r_z[x]


@inlined
def solve_row(w, y, S, out):
    """Write the planes' values at the pixels of row y."""
    here, result = row(w, y, 0), row(out, y, 0)
    s_1, s_u, s_v, s_uu, s_uv = row(S, S_1, 0), row(S, S_U, 0), row(S, S_V, 0), row(S, S_UU, 0), row(S, S_UV, 0)
    s_vv, s_z, s_zu, s_zv = row(S, S_VV, 0), row(S, S_Z, 0), row(S, S_ZU, 0), row(S, S_ZV, 0)
    ridge, least = np.float32(RIDGE), np.float32(LEAST_WEIGHT)
    for x in range(w.shape[1]):
        share = np.float32(1) / s_1[x]
        u, v, z = share * s_u[x], share * s_v[x], share * s_z[x]
        uu, vv = share * s_uu[x] - u * u + ridge, share * s_vv[x] - v * v + ridge
        uv = share * s_uv[x] - u * v
        zu, zv = share * s_zu[x] - z * u, share * s_zv[x] - z * v
        determinant = uu * vv - uv * uv
        slopes = ((zu * vv - zv * uv) * u + (zv * uu - zu * uv) * v) / determinant
        result[x] = here[x] + (z - slopes if s_1[x] >= least else np.float32(0))


@compiled
def fit_planes(chunk, chunks, guide, w, radius, stride, colour, distance, disparity, out):
    """Fit a plane around each pixel; a chunk takes every chunks-th row."""
    height, width = w.shape
    S = np.empty((ROWS, width), np.float32)
    by_colour, by_disparity = np.float32(1 / (colour * guide.channels)), np.float32(np.sqrt(0.5) / disparity)
    for y in range(chunk, height, chunks):
        S[S_1:] = 0
        for dy in range(-radius, radius + 1, stride):
            if not 0 <= y + dy < height:
                continue
            S[ROW_1:S_1] = 0
            for dx in range(-radius, radius + 1, stride):
                S[DI] = 0
                add_colour_difference(guide, y, dy, dx, max(0, -dx), min(width, width - dx), row(S, DI, 0))
                exponent = np.float32(-0.5 * (dx * dx + dy * dy) / (distance * distance))
                add_neighbour(w, y, dy, dx, np.float32(dx / radius), exponent, by_colour, by_disparity, S)
            add_row(np.float32(dy / radius), S, width)
        solve_row(w, y, S, out)
