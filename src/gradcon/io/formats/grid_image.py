"""A single image that holds all views: as tiles, or as micro-images with one pixel of each view.

With `--grid RxC` there are R x C views.  The view in row v and column u is the tile in that row and column.  With
`--micro-images`, each micro-lens covers R x C pixels, and the view consists of pixel (v, u) under every micro-lens.
"""

from __future__ import annotations

import operator
from dataclasses import replace
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from gradcon.errors import InputError
from gradcon.io.formats.format import Format, Hints
from gradcon.io.formats.grid_layout import layout_doubts
from gradcon.io.formats.lightfield_array import Index, grid_places, make_listing
from gradcon.io.images import read_image
from gradcon.io.listing import Listing
from gradcon.scene.array_axes import MAX_VIEWS


def list_grid_image(path: Path, hints: Hints) -> Listing:
    """List the views of the image, which is read once and kept for the lifetime of the listing."""
    rows, columns = checked_grid(hints.grid)
    image = read_image(path)
    _refuse_uneven(image.shape[:2], (rows, columns), path)
    height, width = image.shape[0] // rows, image.shape[1] // columns

    def read(index: Index) -> NDArray[Any]:
        v, u = index
        if hints.micro_images:
            view = image[v::rows, u::columns]
        else:
            view = image[v * height : (v + 1) * height, u * width : (u + 1) * width]
        return view.copy()  # so that a scene does not keep the whole image

    places, middle = grid_places((rows, columns)), (rows // 2, columns // 2)
    metadata = {"format": "grid image", "grid": [rows, columns], "micro_images": bool(hints.micro_images)}
    more: dict[str, Any] = {"own": middle, "middle": places[middle], "metadata": metadata, "name": path.stem}
    doubts = layout_doubts(image, (rows, columns), bool(hints.micro_images))
    return replace(make_listing(path, places, read, hints, **more), doubts=doubts)


def _recognise(path: Path, hints: Hints) -> str | None:
    if hints.grid is None or not path.is_file():
        return None
    return "a grid was given" + (" of pixels under each micro-lens" if hints.micro_images else "")


GRID_IMAGE = Format("an image that holds all views", _recognise, list_grid_image, frozenset({"grid", "micro_images"}))


def checked_grid(grid: Any) -> tuple[int, int]:
    """Return the (rows, columns) that the user gave, or refuse what is not a grid."""
    try:
        rows, columns = (operator.index(number) for number in grid)
    except (TypeError, ValueError):
        problem = f"{grid!r:.60} is not a number of rows and a number of columns"
        raise InputError("grid", problem, "give two whole numbers") from None
    if min(rows, columns) < 1 or rows * columns < 2:
        problem = f"{rows} x {columns} is not a grid of views"
        raise InputError("grid", problem, "give two positive numbers, not both 1")
    if rows * columns > MAX_VIEWS:
        problem = f"{rows} x {columns} is more than the {MAX_VIEWS:,} views that one image may hold"
        raise InputError("grid", problem, "give a smaller grid")
    return rows, columns


def _refuse_uneven(shape: tuple[int, ...], grid: tuple[int, int], path: Path) -> None:
    if not any(length % count for length, count in zip(shape, grid, strict=True)):
        return
    height, width = (length - length % count for length, count in zip(shape, grid, strict=True))
    crop = f"crop it to {width} x {height}, or " if width and height else ""
    rows, columns = (_divisors_near(count, length) for length, count in zip(shape, grid, strict=True))
    raise InputError(
        path,
        f"is {shape[1]} x {shape[0]} pixels, which {grid[0]} rows and {grid[1]} columns do not divide evenly",
        f"{crop}give a grid that does, such as {rows} rows and {columns} columns",
    )


def _divisors_near(count: int, length: int) -> str:
    """Name the count if it divides the length, otherwise the nearest divisors below and above it."""
    divisors = [number for number in range(1, length + 1) if length % number == 0]
    below = [number for number in divisors if number <= count][-1:]
    above = [number for number in divisors if number > count][:1]
    return " or ".join(map(str, below if below == [count] else below + above))
