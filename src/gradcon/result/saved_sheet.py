"""Read the small copies of the views that a result keeps in one JPEG."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gradcon.damage import leaves_folder
from gradcon.errors import InputError
from gradcon.files import read_bytes
from gradcon.io.images.jpeg import open_checked
from gradcon.io.maps import folder as maps
from gradcon.io.outputs import SUMMARY
from gradcon.result.fields import Fields

MAX_BYTES = 2**25


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


def read_sheet(folder: Path, summary: dict[str, Any]) -> ViewSheet | None:
    """Read the sheet that result.json describes, and check that it is whole; None if result.json describes none."""
    described = Fields(folder / SUMMARY, summary).mapping("views")
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
        image = open_checked(jpeg)
        right = image.size == size
        if right:
            image.load()
    except InputError as error:
        raise InputError(path, error.problem, error.remedy or "estimate the scene again") from None
    except Exception:
        raise InputError(path, "is not a JPEG, or is truncated", "estimate the scene again") from None
    if not right:
        raise InputError(path, f"does not have the size that {SUMMARY} states", "estimate the scene again")
    maps.refuse_stranger(path, summary)
    return ViewSheet(jpeg, columns, width, height, names, baselines, described.get("planar") is not False)
