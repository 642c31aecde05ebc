"""What a surface hides in another view; this tells near from far."""

import numpy as np

from gradcon.engines.cpu.rows import compiled


@compiled
def front(w, bx, by, out):
    """Write to each pixel of the view at baseline (bx, by) the largest w of the reference pixels that land on it."""
    height, width = w.shape
    out[:] = -np.inf
    for y in range(height):
        for x in range(width):
            u, v = int(np.rint(x + bx * w[y, x])), int(np.rint(y + by * w[y, x]))
            if 0 <= u < width and 0 <= v < height:
                out[v, u] = max(out[v, u], w[y, x])
