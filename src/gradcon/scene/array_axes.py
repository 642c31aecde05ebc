"""Decide which axes of an array count views and which count pixels; refuse one that cannot be a light field."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gradcon.damage import refuse_large
from gradcon.errors import InputError
from gradcon.scene.numbers import whole_number

Shape = tuple[int, ...]

MAX_VIEWS = 2**14
SMALLEST = 6  # pixels along a side of a view: a shorter axis probably counts cameras
_LAYOUTS = "[v, u, y, x], [v, u, y, x, channel], or for one row [u, y, x] or [u, y, x, 3]"


def count_axes(
    shape: Shape, dtype: np.dtype[Any], source: Path | str, listed: bool = False, *, grid: bool = False
) -> int:
    """Return the number of leading axes that count views: 2 for a grid, 1 for a row.

    Four axes are a grid of grey views, unless the last one is as long as a colour pixel.

    Parameters
    ----------
    shape, dtype
        Those of the array.
    source : Path or str
        The file, for messages.
    listed : bool
        Whether the views come with baselines, so that only the first axis counts them.
    grid : bool
        Whether four axes are always a grid.

    Raises
    ------
    InputError
        The array cannot be a light field.
    """
    channels = shape[-1] if shape else 0
    counting = {3: 1, 4: 1} if listed else {3: 1, 4: 1 if channels in (3, 4) else 2, 5: 2}
    axes = counting.get(len(shape), 0)
    if not axes or (len(shape) == axes + 3 and not 1 <= channels <= 4):
        layouts = "[t, y, x] or [t, y, x, channel], as baselines are given" if listed else _LAYOUTS
        raise InputError(source, f"an array of the shape {shape} is not a light field", f"store {layouts}")
    if len(shape) == 3 and channels in (1, 2, 3, 4):
        problem = f"an array of the shape {shape} is one image, not a light field"
        raise InputError(source, problem, f"store {_LAYOUTS}")
    if dtype.kind not in "buif" or dtype.itemsize > 8:  # wider floats differ from machine to machine
        raise InputError(source, f"holds values of the type {dtype}", "store pixels as integers or real floats")
    view, views = image_bytes(shape[axes:], dtype), int(np.prod(shape[:axes], dtype=object))
    if not view > 0 or not 0 < views <= MAX_VIEWS:
        size = f"more than {MAX_VIEWS:,} views" if view and views else "empty"
        problem = f"claims the shape {shape}, which is {size}"
        raise InputError(source, problem, f"check the program that wrote it, and that its axes are {_LAYOUTS}")
    refuse_large(source, view)
    if axes == 2 and not grid and channels_come_first(shape):
        problem = f"an array of the shape {shape} may be {_counted(shape[0])} first"
        remedy = "move the colours to the end, [u, y, x, 3], or for a grid of grey views add a last axis of length 1"
        raise InputError(source, problem, remedy)
    _refuse_specks(shape, axes, source)
    return axes


def channels_come_first(shape: Shape) -> bool:
    """Return whether four axes may be [u, 3, y, x], as neural networks order them, rather than a grid of grey views."""
    return len(shape) == 4 and shape[1] in (3, 4) and shape[0] != shape[1]


def _counted(views: int) -> str:
    return f"{views} views with their colours" if views != 1 else "one view with its colours"


def _refuse_specks(shape: Shape, axes: int, source: Path | str) -> None:
    """Refuse [y, x, v, u], which would be thousands of views with a few pixels each."""
    height, width = shape[axes : axes + 2]
    views = int(np.prod(shape[:axes], dtype=object))
    if min(height, width) < SMALLEST or views > height * width:
        problem = f"an array of the shape {shape} would be {views:,} views of {width} x {height} pixels"
        raise InputError(source, problem, f"order its axes as {_LAYOUTS}")


def image_bytes(shape: Shape, dtype: np.dtype[Any]) -> int:
    """Return the exact size of an array in bytes; NumPy's own product would overflow for some false headers."""
    return int(np.prod((*shape, dtype.itemsize), dtype=object))


def cell_of(reference: Any, name: str) -> tuple[int, int]:
    """Return the row and column of the reference view; refuse anything but two whole numbers."""
    cell = [whole_number(part) for part in reference] if isinstance(reference, Sequence) else []
    if len(cell) != 2 or cell[0] is None or cell[1] is None:
        raise InputError(name, f"the reference {reference!r:.60} is not a place in the grid", "give (row, column)")
    return cell[0], cell[1]
