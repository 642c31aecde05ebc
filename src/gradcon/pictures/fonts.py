"""The letters of pictures that Pillow draws."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

Font = Any  # one of Pillow's
FILE = Path("mpl-data", "fonts", "ttf", "DejaVuSans.ttf")  # in the folder of matplotlib


@cache
def font_of(size: int) -> Font:
    """Return matplotlib's font, which knows the letters of many languages, or else Pillow's; `size` is in pixels."""
    from PIL import ImageFont

    found = find_spec("matplotlib")  # this does not import it
    for folder in (found.submodule_search_locations if found is not None else None) or ():
        if Path(folder, FILE).is_file():
            return ImageFont.truetype(str(Path(folder, FILE)), size, layout_engine=ImageFont.Layout.BASIC)
    return ImageFont.load_default(size)


def shortened(text: str, font: Font, room: float) -> str:
    """Return a text that fits into so many pixels, without its end if need be."""
    if font.getlength(text) <= room:
        return text
    while text and font.getlength(f"{text}…") > room:
        text = text[:-1]
    return f"{text}…"
