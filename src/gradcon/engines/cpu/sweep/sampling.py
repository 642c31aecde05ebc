"""How a target differs from the reference along one row, at one disparity.

Along a row all pixels look at the same height in the target.  So the target is interpolated down its columns into one
row of floats first, and along that row afterwards.  In a planar array both take the same four taps at every pixel,
which leaves loops without branches.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradcon.engines import model
from gradcon.engines.cpu.rows import inlined, row
from gradcon.engines.sweep import Views

WHOLE = 1e-5  # a position this close to a pixel's is the pixel's

cubic = inlined(model.cubic)


class Sources(NamedTuple):
    """The views of a sweep as the kernels take them."""

    colours: NDArray  # ((1 + T) * channels * height, width), in the views' own type
    reference: NDArray[np.float32]  # (channels * height, width), from 0 to 1
    epipoles: NDArray[np.float64]
    scale: np.float32
    gaps: bool  # whether targets may have NaN; then all taps count, even those with the weight 0
    channels: int
    height: int
    width: int


def sources_of(views: Views) -> Sources:
    count, channels, height, width = views.colours.shape
    colours = np.ascontiguousarray(views.colours).reshape(-1, width)
    scale = np.float32(views.scale)
    reference = colours[: channels * height] * scale
    gaps = colours.dtype.kind == "f"
    epipoles = np.ascontiguousarray(views.epipoles, np.float64).reshape(count - 1, 3)
    return Sources(colours, reference.astype(np.float32, copy=False), epipoles, scale, gaps, channels, height, width)


@inlined
def new_line(sources):
    """Return room for one row of each channel, with the pixels -1, width and width + 1 beside it."""
    return np.empty((sources.channels, sources.width + 3), np.float32)


@inlined
def split(position):
    """Return the whole part of a position, and its fraction."""
    whole = np.floor(position + WHOLE)
    fraction = position - whole
    return np.int64(whole), np.float32(fraction if fraction > WHOLE else 0.0)


@inlined
def clamp(i, n):
    return min(max(i, 0), n - 1)


@inlined
def interpolate_down(sources, t, i, f, first, last, line):
    """Write height i + f of target t to `line`, for the columns from first - 1 to before last + 2 or the frame's."""
    height, width = sources.height, sources.width
    left, right = max(first - 1, 0), min(last + 2, width)
    n = right - left
    b0, b1, b2, b3 = cubic(f)
    scale = sources.scale
    b0, b1, b2, b3 = b0 * scale, b1 * scale, b2 * scale, b3 * scale
    for c in range(sources.channels):
        top = ((1 + t) * sources.channels + c) * height
        out = row(line, c, left + 1)
        p1 = row(sources.colours, top + i, left)
        if f == 0 and not sources.gaps:
            for x in range(n):
                out[x] = scale * np.float32(p1[x])
        else:
            p0 = row(sources.colours, top + clamp(i - 1, height), left)
            p2 = row(sources.colours, top + clamp(i + 1, height), left)
            p3 = row(sources.colours, top + clamp(i + 2, height), left)
            for x in range(n):
                out[x] = (
                    b0 * np.float32(p0[x]) + b1 * np.float32(p1[x]) + b2 * np.float32(p2[x]) + b3 * np.float32(p3[x])
                )
        if left == 0:
            line[c, 0] = line[c, 1]
        if right == width:
            line[c, width + 1] = line[c, width]
            line[c, width + 2] = line[c, width]


@inlined
def subtract_shifted(sources, y, first, last, j, f, line, out):
    """Add |line - reference| to `out`, where pixel x looks at column x + j + f; out[0] is at column first."""
    n = last - first
    a0, a1, a2, a3 = cubic(f)
    for c in range(sources.channels):
        p0, p1 = row(line, c, first + j), row(line, c, first + j + 1)
        p2, p3 = row(line, c, first + j + 2), row(line, c, first + j + 3)
        reference = row(sources.reference, c * sources.height + y, first)
        if f == 0 and not sources.gaps:
            for x in range(n):
                out[x] += abs(p1[x] - reference[x])
        else:
            for x in range(n):
                out[x] += abs(a0 * p0[x] + a1 * p1[x] + a2 * p2[x] + a3 * p3[x] - reference[x])


@inlined
def subtract_scaled(sources, y, first, last, shift, z, line, out):
    """Add |line - reference| to `out`, where pixel x looks at column (x + shift) / z."""
    for c in range(sources.channels):
        pixels = row(line, c, 0)
        reference = row(sources.reference, c * sources.height + y, first)
        for x in range(last - first):
            position = min(max((first + x + shift) / z, 0.0), sources.width - 1.0)
            j = np.int64(position)
            a0, a1, a2, a3 = cubic(np.float32(position - j))
            value = a0 * pixels[j] + a1 * pixels[j + 1] + a2 * pixels[j + 2] + a3 * pixels[j + 3]
            out[x] += abs(value - reference[x])


@inlined
def seen_columns(sources, t, w, y, x0, x1):
    """Return the columns from x0 to before x1 that target t sees inside its frame, as first and last + 1."""
    shift, z = sources.epipoles[t, 0] * w, 1.0 + sources.epipoles[t, 2] * w
    if z <= 0:
        return x0, x0
    i, f = split((y + sources.epipoles[t, 1] * w) / z)
    if i < 0 or i + (f > 0) > sources.height - 1:
        return x0, x0
    first = max(x0, np.int64(np.ceil(-shift - WHOLE)))
    last = min(x1, np.int64(np.floor((sources.width - 1) * z - shift + WHOLE)) + 1)
    return first, max(first, last)


@inlined
def add_difference(sources, t, w, y, first, last, line, out):
    """Add |I_t - I_r|, summed over the channels, for the columns that target t sees; out[0] is at column first."""
    shift, z = sources.epipoles[t, 0] * w, 1.0 + sources.epipoles[t, 2] * w
    i, f = split((y + sources.epipoles[t, 1] * w) / z)
    j, g = split(shift)
    left, right = first + j, last + j
    if z != 1:
        left = np.int64(np.floor((first + shift) / z))
        right = np.int64(np.floor((last - 1 + shift) / z)) + 1
    interpolate_down(sources, t, i, f, left, right, line)
    if z == 1:
        subtract_shifted(sources, y, first, last, j, g, line, out)
    else:
        subtract_scaled(sources, y, first, last, shift, z, line, out)
