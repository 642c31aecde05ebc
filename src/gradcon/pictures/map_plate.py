"""A map in colours with a title and a colour bar, drawn by Pillow.

Matplotlib draws the same, but takes half a second to be imported and to lay out a figure, which is longer than all else
that follows an estimate.  The picture has a palette, because one byte per pixel is compressed three times as fast.
"""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gradcon.pictures.axis_ticks import ticks
from gradcon.pictures.fonts import font_of, shortened

if TYPE_CHECKING:
    from PIL.Image import Image

Table = NDArray[np.uint8]  # (256, 3): the colours from the lowest value to the highest
Indices = NDArray[np.uint8]  # of the palette
Range = tuple[float, float]

# All in pixels.
WIDTH, MAP_WIDTH = 750, 580
LEFT, TOP, BOTTOM, GAP = 12, 38, 14, 22
BAR_WIDTH, TICK, PAD = 26, 5, 4
TITLE_SIZE, TEXT_SIZE = 17, 14  # of the letters

COLOURS, GREYS = 240, 16  # of the palette; the greys are for letters, and the last one is white
WHITE = COLOURS + GREYS - 1
MOST_TICKS = 9
COMPRESSION = 4  # of 9: 6 takes twice the time for a file that is 4 % smaller


def draw_plate(
    values: NDArray[Any], shown: Range, table: Table, aspect: float, title: str, labels: Sequence[str]
) -> bytes:
    """Draw a map as PNG.

    Parameters
    ----------
    values : (height, width) array
        The map; what is not finite stays white.
    shown : (float, float)
        The values of the first and the last colour.
    table : (256, 3) uint8
        The colours.
    aspect : float
        The height of the map on the picture, divided by its width.
    title : str
        The text above the map.
    labels : sequence of str
        What to write beside the colour bar; the first that is short enough is taken.
    """
    from PIL import Image, PngImagePlugin

    height = max(1, round(MAP_WIDTH * aspect))
    letters = Image.new("L", (WIDTH, TOP + height + BOTTOM), 255)
    _write_title(letters, title)
    _write_scale(letters, LEFT + MAP_WIDTH + GAP, height, shown, labels)
    indices = np.asarray(letters) // np.uint8(256 // GREYS) + np.uint8(COLOURS)
    indices[TOP : TOP + height, LEFT : LEFT + MAP_WIDTH] = _indices(_resized(values, (height, MAP_WIDTH)), shown)
    bar = slice(TOP + 1, TOP + height - 1), slice(LEFT + MAP_WIDTH + GAP + 1, LEFT + MAP_WIDTH + GAP + BAR_WIDTH - 1)
    indices[bar] = np.linspace(COLOURS - 1, 0, max(height - 2, 0)).round().astype(np.uint8)[:, None]
    picture = Image.fromarray(indices)
    picture.putpalette(_palette(table).tobytes())
    buffer, about = io.BytesIO(), PngImagePlugin.PngInfo()
    about.add_text("Software", "gradcon")
    picture.save(buffer, "PNG", compress_level=COMPRESSION, pnginfo=about)
    return buffer.getvalue()


def _palette(table: Table) -> Table:
    """Return the colours of the map, evenly chosen, and then the greys."""
    chosen = table[np.linspace(0, len(table) - 1, COLOURS).round().astype(int)]
    greys = np.linspace(0, 255, GREYS).round().astype(np.uint8)
    return np.concatenate([chosen, np.repeat(greys[:, None], 3, axis=1)])


def _indices(values: NDArray[Any], shown: Range) -> Indices:
    """Return the colour of each value."""
    low, high = shown
    finite = np.isfinite(values)
    share = (np.where(finite, values, low) - low) / (high - low if high > low else 1.0)
    return np.where(finite, np.clip(share * COLOURS, 0, COLOURS - 1), WHITE).astype(np.uint8)


def _resized(values: NDArray[Any], size: tuple[int, int]) -> NDArray[Any]:
    """Return a map at another size, without interpolation."""
    rows, columns = ((2 * np.arange(n) + 1) * m // (2 * n) for n, m in zip(size, values.shape, strict=True))
    return values[rows[:, None], columns]


def _write_title(letters: Image, title: str) -> None:
    from PIL import ImageDraw

    font = font_of(TITLE_SIZE)
    text = shortened(" ".join(title.split()), font, MAP_WIDTH + 2 * LEFT)
    ImageDraw.Draw(letters).text((LEFT + MAP_WIDTH / 2, TOP / 2), text, 0, font, anchor="mm")


def _write_scale(letters: Image, left: int, height: int, shown: Range, labels: Sequence[str]) -> None:
    """Write the frame of the colour bar, its ticks and its label."""
    from PIL import Image, ImageDraw

    draw, font = ImageDraw.Draw(letters), font_of(TEXT_SIZE)
    (low, high), right, bottom = shown, left + BAR_WIDTH, TOP + height
    draw.rectangle((left, TOP, right - 1, bottom - 1), outline=0)
    end = right
    for value, text in ticks(low, high, min(MOST_TICKS, max(2, height // (2 * TEXT_SIZE)))):
        y = bottom - 1 - round((value - low) / (high - low if high > low else 1.0) * (height - 1))
        draw.line((right, y, right + TICK - 1, y), fill=0)
        draw.text((right + TICK + PAD, y), text, 0, font, anchor="lm")
        end = max(end, right + TICK + PAD + math.ceil(font.getlength(text)))
    label = next((text for text in labels if font.getlength(text) <= letters.height), labels[-1])
    strip = Image.new("L", (math.ceil(font.getlength(label)), 2 * TEXT_SIZE), 255)
    ImageDraw.Draw(strip).text((0, TEXT_SIZE), label, 0, font, anchor="lm")
    turned = strip.transpose(Image.Transpose.ROTATE_90)
    letters.paste(turned, (min(end + PAD, WIDTH - turned.width), max(0, (TOP + bottom - turned.height) // 2)))
