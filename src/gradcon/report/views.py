"""Read the small copies of the views that a result keeps in one JPEG."""

from __future__ import annotations

import io
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gradcon.errors import InputError
from gradcon.files import read_bytes
from gradcon.io.fields import leaves_folder
from gradcon.io.outputs import SUMMARY
from gradcon.report.fields import Fields

MAX_BYTES, MAX_PIXELS = 2**25, 2**26


@dataclass(frozen=True)
class ViewSheet:
    """A sprite sheet: tile k is at column k % columns, row k // columns; tile 0 is the reference."""

    jpeg: bytes
    columns: int
    width: int
    height: int
    names: list[str]
    baselines: list[list[float]]
    planar: bool  # whether the baselines alone tell where a view sees a point


def read_views(folder: Path, described: dict[str, Any]) -> ViewSheet | None:
    """Read the sheet that result.json describes, and check that it is whole; None if result.json describes none."""
    from PIL import Image

    if not described:
        return None
    about = Fields(folder / SUMMARY, described, "views.")
    names = about.texts("names")
    baselines = about.pairs("baselines", len(names))
    columns, width, height = about.count("columns"), about.count("width"), about.count("height")
    file = about.text("file", "views.jpg")
    if not names or leaves_folder(file):
        about.refuse("file" if names else "names", "names no views")
    size = min(columns, len(names)) * width, math.ceil(len(names) / columns) * height
    path = folder / file
    jpeg = read_bytes(path, MAX_BYTES)
    try:
        with Image.open(io.BytesIO(jpeg), formats=["JPEG"]) as image:
            right = image.size == size and math.prod(size) <= MAX_PIXELS
            if right:
                image.load()
    except MemoryError:
        raise
    except Exception:
        raise InputError(path, "is not a JPEG, or is truncated", "estimate the scene again") from None
    if not right:
        raise InputError(path, f"does not have the size that {SUMMARY} states", "estimate the scene again")
    return ViewSheet(jpeg, columns, width, height, names, baselines, described.get("planar") is not False)
