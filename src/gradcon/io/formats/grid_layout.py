"""Doubts about an image that holds all views: does it consist of tiles or of micro-images?

Two measurements tell the layouts apart, whatever the user said.  In an image of tiles, each tile resembles the next; in
an image of micro-images it does not, but adjacent pixels differ more, or less, where one micro-image ends and the next
one begins than they do inside.  With the similarity s and the ratio b of these differences, s - ln b is positive for
tiles and negative for micro-images, in synthetic and real scenes, with small and large disparities.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.scene.luma import to_luma

Field = NDArray[np.float64]
LARGEST = 384  # pixels along each side of what is compared, in the middle of a tile
WINDOW = 1024  # pixels along each side of the part of the image where adjacent pixels are compared
REACH = 0.25  # of the side: the largest movement between neighbouring tiles
SMALLEST = 24  # pixels along a side of a tile; smaller ones tell nothing
TILES, MICRO_IMAGES = 0.08, -0.05  # s - ln b beyond these is clear
SIMILAR, UNEVEN = 0.1, 1.05  # what s or b must show by itself


def layout_doubts(image: NDArray[Any], grid: tuple[int, int], micro_images: bool) -> list[str]:
    """Return a sentence if the image clearly has the other layout than the one that was given."""
    if min(image.shape[0] // grid[0], image.shape[1] // grid[1]) < SMALLEST:
        return []
    similar, uneven = tile_similarity(image, grid), lens_unevenness(image, grid)
    score, size = similar - np.log(uneven), f"{grid[0]} x {grid[1]}"
    if micro_images and score > TILES and similar > SIMILAR:
        return [
            f"the image seems to consist of {size} tiles rather than of micro-images, because it resembles itself "
            "shifted by a tile; leave --micro-images (micro_images) out"
        ]
    if not micro_images and score < MICRO_IMAGES and uneven > UNEVEN:
        return [
            f"the image seems to consist of micro-images of {size} pixels rather than of tiles, because neighbouring "
            "tiles do not resemble each other; add --micro-images (micro_images=True)"
        ]
    return []


def tile_similarity(image: NDArray[Any], grid: tuple[int, int]) -> float:
    """Return by how much more the middle tile resembles its neighbour than what lies half-way between the two."""
    size = [length // count for length, count in zip(image.shape[:2], grid, strict=True)]
    corner = [length * (count // 2) for length, count in zip(size, grid, strict=True)]
    found = []
    for axis in (0, 1):
        if grid[axis] > 1:
            before, between = list(corner), list(corner)
            before[axis] -= size[axis]
            between[axis] -= size[axis] // 2
            here, there, other = (_changes(image, place, size, grid[axis], axis) for place in (corner, before, between))
            found.append(_correlation(here, there) - max(0.0, _correlation(here, other), _correlation(there, other)))
    return max(found)


def lens_unevenness(image: NDArray[Any], grid: tuple[int, int]) -> float:
    """Return the ratio, at least 1, of the differences of adjacent pixels between micro-images and inside them."""
    starts = [
        max(0, length - 2 * LARGEST) // 2 // period * period for length, period in zip(image.shape, grid, strict=False)
    ]
    middle = to_luma(image[tuple(slice(start, start + 2 * LARGEST) for start in starts)]).astype(np.float64)
    found = [1.0]
    for axis, period in enumerate(grid):
        steps = np.abs(np.diff(middle, axis=axis)).mean(axis=1 - axis)
        if 2 <= period <= len(steps):
            typical = np.median(steps[: len(steps) // period * period].reshape(-1, period), axis=0)
            low, high = sorted((float(typical[-1]), float(np.median(typical[:-1]))))
            found.append(high / low if low > 0 else 1.0)
    return max(found)


def _changes(image: NDArray[Any], corner: list[int], size: list[int], period: int, axis: int) -> Field:
    """Return the changes along an axis in the middle of a tile, without what repeats with every micro-image."""
    from scipy import ndimage

    inset = [max(0, length - LARGEST) // 2 for length in size]
    part = tuple(slice(at + cut, at + length - cut) for at, cut, length in zip(corner, inset, size, strict=True))
    smooth = ndimage.uniform_filter1d(to_luma(image[part]).astype(np.float64), period, axis)
    changes: Field = np.diff(smooth, axis=axis)
    return changes


def _correlation(a: Field, b: Field) -> float:
    """Return the largest correlation over all movements within reach."""
    a, b = ((part - part.mean()) for part in (a, b))
    norm = np.sqrt((a**2).sum() * (b**2).sum())
    if not norm > 0:
        return 0.0
    shape = [2 * length for length in a.shape]
    found = np.fft.irfft2(np.fft.rfft2(a, shape) * np.conj(np.fft.rfft2(b, shape)), shape)
    reach = [int(REACH * length) for length in a.shape]
    near = np.ix_(*(np.r_[-r : r + 1] for r in reach))
    return float(found[near].max() / norm)
