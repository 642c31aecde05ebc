"""A picture of all views of a scene, each where its camera stands."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gradcon.io.listing import Listing, View, writable
from gradcon.pictures.canvas import new_figure, png_of
from gradcon.scene import geometry
from gradcon.scene.colours import Colours, small_copy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST = 169  # views on one sheet, a grid of 13 x 13; if there are more, the sheet shows those around the reference
WIDTH = 1500  # pixels of the sheet
LARGEST, SMALLEST = 220, 24  # pixels of the longer side of a view
MARGIN = 6  # pixels between views
LABEL = 16  # pixels for the name below a view
RED = (214, 40, 40)  # of a frame

Cell = tuple[int, int]  # (row, column) of the sheet


class Tile(NamedTuple):
    """A view on a sheet."""

    name: str
    image: Colours
    is_framed: bool


def contact_sheet(listing: Listing, frame: int = 0) -> bytes:
    """Draw the views as PNG: in a grid as the cameras stand, seen from behind them, or else in their listed order."""
    cells = on_a_grid(listing) or _in_order(listing)
    size = tile_size(cells, WIDTH)
    figure = draw_sheet(
        {
            cell: Tile(view.name, small_copy(view.image(frame), size), view is listing.reference)
            for cell, view in cells.items()
        },
        size,
    )
    return png_of(figure)


def tile_size(cells: Iterable[Cell], width: int) -> int:
    """Return the longest side of a view in pixels, so that the sheet is about `width` pixels wide."""
    return max(SMALLEST, min(LARGEST, width // (1 + max(column for _, column in cells)) - MARGIN))


def draw_sheet(tiles: Mapping[Cell, Tile], size: int, below: int = 0) -> Figure:
    """Draw views, whose longest sides have `size` pixels, with `below` pixels to spare below; names fit or go."""
    rows, columns = (1 + max(cell[k] for cell in tiles) for k in range(2))
    height, width = (max(tile.image.shape[k] for tile in tiles.values()) for k in range(2))
    label = LABEL if size >= 60 else 0
    down, across = height + label + MARGIN, width + MARGIN
    sheet = np.full((rows * down + MARGIN + below, columns * across + MARGIN, 3), 255, np.uint8)
    figure = new_figure(sheet.shape[1] / 100, sheet.shape[0] / 100, dpi=100)
    axes = figure.add_axes((0, 0, 1, 1))
    for (row, column), (name, image, is_framed) in tiles.items():
        top, left = MARGIN + row * down, MARGIN + column * across
        bottom, right = top + image.shape[0], left + image.shape[1]
        if is_framed:
            sheet[top - 4 : bottom + 4, left - 4 : right + 4] = RED
        sheet[top:bottom, left:right] = image
        if label:
            letters = width // 6
            shown = writable(name if len(name) <= letters else "…" + name[1 - letters :])
            colour = [part / 255 for part in RED] if is_framed else "black"
            where = (left + right) / 2, bottom + 5
            axes.text(*where, shown, fontsize=6.5, ha="center", va="top", color=colour, parse_math=False)
    axes.imshow(sheet, interpolation="nearest", aspect="auto")
    axes.set_axis_off()
    return figure


def on_a_grid(listing: Listing) -> dict[Cell, View] | None:
    """Return the views as their cameras stand, or None if that is not a grid that fits on a sheet."""
    baselines = [view.stands for view in listing.views if not isinstance(view.stands, geometry.Camera)]
    cells = grid_cells(baselines) if baselines else None
    return dict(zip(cells, listing.views, strict=True)) if cells else None


def grid_cells(baselines: ArrayLike) -> list[Cell] | None:
    """Return the cell of each camera in a grid, or None if the grid does not fit on a sheet."""
    # A baseline points against the movement of its camera, so columns run against x and rows against y.
    places = -np.asarray(baselines, dtype=np.float64)
    x, y = (np.unique(np.round(places[:, k], 6), return_inverse=True)[1] for k in range(2))
    cells = [(int(row), int(column)) for row, column in zip(y, x, strict=True)]
    return None if len(set(cells)) < len(cells) or (y.max() + 1) * (x.max() + 1) > MOST else cells


def cells_in_order(count: int) -> list[Cell]:
    """Return cells one after the other, row by row, in about as many rows as columns."""
    columns = math.ceil(math.sqrt(count))
    return [divmod(k, columns) for k in range(count)]


def _in_order(listing: Listing) -> dict[Cell, View]:
    """Place the views one after the other."""
    views = listing.views
    if len(views) > MOST:
        first = min(max(views.index(listing.reference) - MOST // 2, 0), len(views) - MOST)
        views = views[first : first + MOST]
    return dict(zip(cells_in_order(len(views)), views, strict=True))
