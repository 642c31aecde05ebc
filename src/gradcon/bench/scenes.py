"""A scene that is quick to make at any size, to measure how the cost grows."""

from __future__ import annotations

import numpy as np

from gradcon.scene import Scene


def make_scene(size: int, on_cross: int, off_cross: int) -> Scene:
    """Return a texture on a waving surface, seen by the nearest views of a 9 x 9 grid on its cross and off it."""
    from scipy.ndimage import gaussian_filter, map_coordinates

    steps = sorted(np.ndindex(9, 9), key=lambda cell: (np.hypot(cell[0] - 4, cell[1] - 4), cell))
    around = [(v - 4, u - 4) for v, u in steps[1:]]
    chosen = [(v, u) for v, u in around if v * u == 0][:on_cross] + [(v, u) for v, u in around if v * u][:off_cross]
    noise = np.random.default_rng(0).standard_normal((size, size))
    texture = sum(gaussian_filter(noise, sigma, mode="wrap") * sigma for sigma in (0.8, 2.0, 6.0))
    texture = 127.5 + 50 * texture / texture.std()
    y, x = np.mgrid[:size, :size].astype(np.float32)
    disparity = np.sin(x / 40) * np.cos(y / 60)  # pixels per unit baseline, the same waves at any size
    images = np.empty((1 + len(chosen), size, size), np.uint8)
    for image, (v, u) in zip(images, [(0, 0), *chosen], strict=True):
        # A point at x in the reference is at x - u * disparity here.  The waves are long, so this nearly inverts it.
        seen = map_coordinates(texture, (y + v * disparity, x + u * disparity), order=1, mode="nearest")
        image[:] = np.clip(np.round(seen), 0, 255)
    return Scene(images[0], images[1:], [(-u, -v) for v, u in chosen], name="waves")
