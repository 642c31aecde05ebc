"""A small picture of a result: what the reference camera sees, and the disparity beside it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.arrays import to_host
from gradcon.pictures.colour_maps import DEFAULT_MAP
from gradcon.pictures.colour_tables import colour_table
from gradcon.pictures.maps import shown_range
from gradcon.pictures.tiles import jpeg_of_tiles
from gradcon.scene.colours import to_rgb

FILE = "thumbnail.jpg"
HEIGHT = 160  # pixels
WIDEST = 320  # pixels of either half


def thumbnail(colour: NDArray[Any], disparity: Any) -> bytes:
    """Draw the reference view and its disparity as one JPEG; bright is near, as in disparity.png."""
    from PIL import Image

    disparity = to_host(disparity).astype(np.float64)
    low, high = shown_range(disparity)
    shares = np.nan_to_num(np.clip((disparity - low) / (high - low), 0, 1))
    height, width = disparity.shape
    size = (max(1, min(WIDEST, round(HEIGHT * width / height))), HEIGHT)
    method = Image.Resampling.BOX if height > HEIGHT else Image.Resampling.BICUBIC
    table = colour_table(DEFAULT_MAP)
    halves = [to_rgb(colour), table[np.minimum(shares * len(table), len(table) - 1).astype(int)]]
    small = [np.asarray(Image.fromarray(half).resize(size, method)) for half in halves]
    return jpeg_of_tiles([np.moveaxis(half, -1, 0) for half in small], columns=2)
