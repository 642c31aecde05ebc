"""What a disparity costs in some views: how their colours differ from the reference's."""

import numpy as np

from gradcon.engines.cpu.compiling import compiled, inlined
from gradcon.scene import geometry

project = inlined(geometry.project)


@compiled
def costs(reference, views, M, m, w, most, out):
    """Write the cost of the disparities w to `out`: the mean of the smaller half of the views' differences.

    An occluded view differs at the right disparity too, so the larger half does not count.

    Parameters
    ----------
    reference, views : (C, height, width) and (T, C, height, width) float32
    M, m : (T, 3, 3) and (T, 3) float64
    w : (height, width) float32
    most : float32
        A difference counts at most so much.
    out : (height, width) float32
    """
    count, channels, height, width = views.shape
    sorted_ = np.empty(count, np.float32)
    for y in range(height):
        for x in range(width):
            found = 0
            for t in range(count):
                u, v, z = project(M[t], m[t], np.float64(x), np.float64(y), np.float64(w[y, x]))
                if not (z > 0 and u >= 0 and v >= 0 and u <= width - 1 and v <= height - 1):
                    continue
                j, i = min(int(u), max(width - 2, 0)), min(int(v), max(height - 2, 0))
                right, below = min(j + 1, width - 1), min(i + 1, height - 1)
                f, g = np.float32(u - j), np.float32(v - i)
                difference = np.float32(0)
                for c in range(channels):
                    image = views[t, c]
                    top = (1 - f) * image[i, j] + f * image[i, right]
                    bottom = (1 - f) * image[below, j] + f * image[below, right]
                    difference += abs((1 - g) * top + g * bottom - reference[c, y, x])
                difference = min(difference / channels, most)
                k = found
                while k > 0 and sorted_[k - 1] > difference:
                    sorted_[k] = sorted_[k - 1]
                    k -= 1
                sorted_[k] = difference
                found += 1
            half = (found + 1) // 2
            total = np.float32(0)
            for k in range(half):
                total += sorted_[k]
            out[y, x] = total / half if half > 0 else np.float32(0)
