"""The smallest difference between the reference and the targets at any label."""

import numpy as np

from gradcon.engines.cpu.rows import compiled, row
from gradcon.engines.cpu.sweep.sampling import add_difference, new_line, seen_columns


@compiled
def smallest_difference(chunk, chunks, sources, label, labels, step, every, out):
    """Write rows 0, every, 2 every, ... of the smallest mean difference; a chunk takes every chunks-th of them."""
    width = sources.width
    line, rows = new_line(sources), np.empty((3, width), np.float32)
    single, total, count = row(rows, 0, 0), row(rows, 1, 0), row(rows, 2, 0)
    share = np.float32(1.0 / sources.channels)
    for k in range(chunk, out.shape[0], chunks):
        lowest = row(out, k, 0)
        for x in range(width):
            lowest[x] = np.float32(np.inf)
        for n in range(labels):
            w = (label + n) * step
            rows[1:] = 0
            for t in range(sources.epipoles.shape[0]):
                first, last = seen_columns(sources, t, w, k * every, 0, width)
                if first == last:
                    continue
                rows[0] = 0
                add_difference(sources, t, w, k * every, first, last, line, single)
                for x in range(last - first):
                    seen = not np.isnan(single[x])
                    total[first + x] += single[x] if seen else np.float32(0)
                    count[first + x] += np.float32(seen)
            for x in range(width):
                mean = share * total[x] / count[x]  # NaN if no target sees the pixel
                lowest[x] = mean if mean < lowest[x] else lowest[x]
