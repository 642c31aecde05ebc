"""A folder of numbered images (IMG_0001.jpg ...) or videos that form a grid: row by row from the top left.

Only the order of the numbers counts, so they may start anywhere and have gaps.
"""

from __future__ import annotations

from pathlib import Path

from gradcon.errors import InputError
from gradcon.io.formats.format import Format, Hints
from gradcon.io.formats.frames import open_views
from gradcon.io.formats.grid_image import checked_grid
from gradcon.io.formats.image_folder import images_or_videos_in
from gradcon.io.listing import Listing, View, find_reference, stands_at


def list_numbered(folder: Path, hints: Hints) -> Listing:
    """List the views; the reference is the middle one unless `hints` gives another by its name or (row, column)."""
    rows, columns = checked_grid(hints.grid)
    files = images_or_videos_in(folder)
    reads, frames = open_views(files)
    cells = [divmod(k, columns) for k in range(len(files))]
    views = [View(path.name, stands_at(*cell), read) for path, cell, read in zip(files, cells, reads, strict=True)]
    by_place = {f"{row},{column}": view.name for (row, column), view in zip(cells, views, strict=True)}
    told = by_place.get(hints.reference or "", hints.reference)
    chosen = find_reference(views, told, by_place[f"{rows // 2},{columns // 2}"], folder)
    metadata = {"format": "numbered images", "grid": [rows, columns]}
    return Listing(folder, views, chosen, metadata=metadata, frames=frames)


def other_count(folder: Path, hints: Hints) -> InputError:
    """Explain that a folder does not hold as many images as the grid that the user gave has views."""
    rows, columns = checked_grid(hints.grid)
    found = len(images_or_videos_in(folder))
    problem = f"holds {found} image{'s' * (found != 1)}, but a grid of {rows} x {columns} has {rows * columns} views"
    return InputError(folder, problem, "give the rows and columns that the images form, and move other images away")


def _recognise(path: Path, hints: Hints) -> str | None:
    if hints.grid is None or hints.slide or not path.is_dir():
        return None
    rows, columns = checked_grid(hints.grid)
    files = images_or_videos_in(path)
    if len(files) != rows * columns:  # it may be a folder of images that hold all views each
        return None
    return f"a grid was given, and it holds that many images, row by row from {files[0].name} to {files[-1].name}"


NUMBERED_GRID = Format("a folder of images in the order of a grid", _recognise, list_numbered, frozenset({"grid"}))
