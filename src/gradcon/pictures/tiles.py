"""Images of one size, side by side in one JPEG."""

from __future__ import annotations

import io
from collections.abc import Sequence

from gradcon.scene.colours import Colours

QUALITY = 85  # of the JPEG


def jpeg_of_tiles(tiles: Sequence[Colours], columns: int) -> bytes:
    """Encode images as one JPEG: tile k is in column k % columns and row k // columns."""
    from PIL import Image

    height, width = tiles[0].shape[:2]
    sheet = Image.new("RGB", (columns * width, -(-len(tiles) // columns) * height))
    for k, tile in enumerate(tiles):
        sheet.paste(Image.fromarray(tile), (k % columns * width, k // columns * height))
    buffer = io.BytesIO()
    sheet.save(buffer, "JPEG", quality=QUALITY)
    return buffer.getvalue()
