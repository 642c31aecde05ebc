"""A small picture of a result: what the reference camera sees, and the disparity beside it."""

from __future__ import annotations

import io

import numpy as np

from gradcon.arrays import to_host
from gradcon.result import Result
from gradcon.scene.colours import to_rgb

FILE = "thumbnail.jpg"
HEIGHT = 160  # pixels
WIDEST = 320  # of either half


def thumbnail(result: Result) -> bytes:
    """A JPEG; bright is near, as in disparity.png."""
    from matplotlib import colormaps
    from PIL import Image

    disparity = to_host(result.disparity)
    low, high = np.nanpercentile(disparity, (0.5, 99.5)) if np.isfinite(disparity).any() else (0.0, 1.0)
    shown = (disparity - low) / max(high - low, 1e-6)
    picture = colormaps["viridis"](np.nan_to_num(np.clip(shown, 0, 1)), bytes=True)[..., :3]
    height, width = disparity.shape
    size = (max(1, min(WIDEST, round(HEIGHT * width / height))), HEIGHT)
    sheet = Image.new("RGB", (2 * size[0], size[1]))
    for k, pixels in enumerate((to_rgb(result.scene.colour), picture)):
        half = Image.fromarray(np.ascontiguousarray(pixels))
        sheet.paste(
            half.resize(size, Image.Resampling.BOX if height > HEIGHT else Image.Resampling.BICUBIC), (k * size[0], 0)
        )
    buffer = io.BytesIO()
    sheet.save(buffer, "JPEG", quality=85)
    return buffer.getvalue()
