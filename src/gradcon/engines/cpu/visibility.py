"""Which pixels a surface hides in another view, and how different they look there; this tells near from far."""

import numpy as np

from gradcon.engines.cpu.rows import compiled, inlined


@inlined
def front(w, bx, by, out):
    """Write to each pixel of the view at baseline (bx, by) the largest w of the reference pixels that land on it."""
    height, width = w.shape
    out[:] = -np.inf
    for y in range(height):
        for x in range(width):
            u, v = int(np.rint(x + bx * w[y, x])), int(np.rint(y + by * w[y, x]))
            if 0 <= u < width and 0 <= v < height:
                out[v, u] = max(out[v, u], w[y, x])


@compiled
def hidden_difference(w, bx, by, step, warped, reference):
    """Return the sum of |warped - reference| and the count of pixels on which a surface of larger w lands."""
    height, width = w.shape
    nearest = np.empty((height, width))
    front(w, bx, by, nearest)
    total, count = 0.0, 0
    for y in range(height):
        for x in range(width):
            to_x, to_y = x + bx * w[y, x], y + by * w[y, x]
            if not (0 <= to_x <= width - 1 and 0 <= to_y <= height - 1):
                continue
            if nearest[int(np.rint(to_y)), int(np.rint(to_x))] > w[y, x] + step:
                total += abs(float(warped[y, x]) - float(reference[y, x]))
                count += 1
    return total, count
