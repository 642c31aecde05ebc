"""One large image that holds all views: tiled beside each other, or pixel by pixel under each micro-lens.

Of R x C views (`--grid RxC`), the view in row v and column u is the tile in that row and column; or with
`--micro-images`, where each micro-lens shows R x C pixels, it is made of the pixel (v, u) under every one of them.
"""

from __future__ import annotations

import operator
import re
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.errors import InputError
from gradcon.io.format import Format, Hints
from gradcon.io.images import read_image
from gradcon.io.listing import Listing, View, find_reference, stands_at

MAX_VIEWS = 10_000
_CELL = re.compile(r"\s*(?:view\s*)?\(?\s*([0-9]{1,6})\s*,\s*([0-9]{1,6})\s*\)?\s*", re.ASCII)


def list_grid_image(path: Path, hints: Hints) -> Listing:
    """The views of the image, which is read once and kept as long as the listing."""
    rows, columns = _checked_grid(hints.grid)
    image = read_image(path)
    _refuse_uneven(image.shape[:2], (rows, columns), path)
    take = _under_micro_lenses if hints.micro_images else _tile
    grid = {
        (v, u): View(_name(v, u), stands_at(v, u), partial(take, image, (rows, columns), (v, u)))
        for v, u in np.ndindex(rows, columns)
    }
    told = hints.reference
    if told is not None and (match := _CELL.fullmatch(told)):
        told = _name(int(match[1]), int(match[2]))
        if told not in {view.name for view in grid.values()}:
            raise InputError(
                f"{path}: the reference {told} is outside the {rows} x {columns} grid, whose rows and columns are "
                "counted from 0; give another."
            )
    return Listing(
        source=path,
        views=list(grid.values()),
        reference=find_reference(grid.values(), told, _name(rows // 2, columns // 2), path),
        metadata={"format": "grid image", "grid": [rows, columns], "micro_images": bool(hints.micro_images)},
        name=path.stem,
    )


def _recognise(path: Path, hints: Hints) -> str | None:
    if hints.grid is None or not path.is_file():
        return None
    return "a grid was given" + (" of pixels under each micro-lens" if hints.micro_images else "")


FORMAT = Format("an image that holds all views", _recognise, list_grid_image, frozenset({"grid", "micro_images"}))


def _name(row: int, column: int) -> str:
    return f"view ({row}, {column})"


def _tile(image: NDArray[Any], grid: tuple[int, int], cell: tuple[int, int], frame: int) -> NDArray[Any]:
    height, width = image.shape[0] // grid[0], image.shape[1] // grid[1]
    y, x = cell[0] * height, cell[1] * width
    return image[y : y + height, x : x + width].copy()  # so that a scene does not keep the whole image


def _under_micro_lenses(image: NDArray[Any], grid: tuple[int, int], cell: tuple[int, int], frame: int) -> NDArray[Any]:
    return image[cell[0] :: grid[0], cell[1] :: grid[1]].copy()


def _checked_grid(grid: Any) -> tuple[int, int]:
    try:
        rows, columns = (operator.index(number) for number in grid)
    except (TypeError, ValueError):
        raise InputError(f"grid: {grid!r:.60} is not a number of rows and one of columns; give two.") from None
    if min(rows, columns) < 1 or rows * columns < 2:
        raise InputError(f"grid: {rows} x {columns} is no grid of views; give two positive numbers, not both 1.")
    if rows * columns > MAX_VIEWS:
        raise InputError(f"grid: {rows} x {columns} is more than the {MAX_VIEWS:,} views that one image may hold.")
    return rows, columns


def _refuse_uneven(shape: tuple[int, ...], grid: tuple[int, int], path: Path) -> None:
    if not any(length % count for length, count in zip(shape, grid, strict=True)):
        return
    height, width = (length - length % count for length, count in zip(shape, grid, strict=True))
    cure = f"crop it to {width} x {height}, or " if width and height else ""
    rows, columns = (_divisors_near(count, length) for length, count in zip(shape, grid, strict=True))
    raise InputError(
        f"{path}: is {shape[1]} x {shape[0]} pixels, which {grid[0]} rows and {grid[1]} columns do not divide; {cure}"
        f"give a grid that does, such as {rows} rows and {columns} columns."
    )


def _divisors_near(count: int, length: int) -> str:
    """The number itself where it divides the length, or else the next ones that do, below and above."""
    divisors = [number for number in range(1, length + 1) if length % number == 0]
    below = [number for number in divisors if number <= count][-1:]
    above = [number for number in divisors if number > count][:1]
    return " or ".join(map(str, below if below == [count] else below + above))
