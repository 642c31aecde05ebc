"""A picture of all views of a scene, each where its camera stands."""

from __future__ import annotations

import math

import numpy as np

from gradcon.io.listing import Listing, View
from gradcon.pictures.canvas import new_figure, png_of
from gradcon.scene import geometry
from gradcon.scene.colours import small_copy

MOST = 169  # views on one sheet, a grid of 13 x 13; if there are more, the sheet shows those around the reference
WIDTH = 1500  # pixels of the sheet
LARGEST, SMALLEST = 220, 24  # pixels of the longer side of a view
MARGIN = 6  # pixels between views
LABEL = 16  # pixels for the name below a view
RED = (214, 40, 40)  # of the reference

Cells = dict[tuple[int, int], View]  # by (row, column) of the sheet


def contact_sheet(listing: Listing, frame: int = 0) -> bytes:
    """Draw the views as PNG: in a grid as the cameras stand, seen from behind them, or else in their listed order."""
    cells = on_a_grid(listing) or _in_order(listing)
    rows, columns = (1 + max(cell[k] for cell in cells) for k in range(2))
    size = max(SMALLEST, min(LARGEST, WIDTH // columns - MARGIN))
    images = {cell: small_copy(view.read(frame), size) for cell, view in cells.items()}
    height, width = (max(image.shape[k] for image in images.values()) for k in range(2))
    label = LABEL if size >= 60 else 0
    down, across = height + label + MARGIN, width + MARGIN
    sheet = np.full((rows * down + MARGIN, columns * across + MARGIN, 3), 255, np.uint8)
    figure = new_figure(sheet.shape[1] / 100, sheet.shape[0] / 100, dpi=100)
    axes = figure.add_axes((0, 0, 1, 1))
    for (row, column), image in images.items():
        view = cells[row, column]
        top, left = MARGIN + row * down, MARGIN + column * across
        bottom, right = top + image.shape[0], left + image.shape[1]
        if view is listing.reference:
            sheet[top - 4 : bottom + 4, left - 4 : right + 4] = RED
        sheet[top:bottom, left:right] = image
        if label:
            letters = width // 6
            name = view.name if len(view.name) <= letters else "…" + view.name[1 - letters :]
            colour = [part / 255 for part in RED] if view is listing.reference else "black"
            where = (left + right) / 2, bottom + 5
            axes.text(*where, name, fontsize=6.5, ha="center", va="top", color=colour, parse_math=False)
    axes.imshow(sheet, interpolation="nearest", aspect="auto")
    axes.set_axis_off()
    return png_of(figure)


def on_a_grid(listing: Listing) -> Cells | None:
    """Return the views as their cameras stand, or None if that is not a grid that fits on a sheet."""
    views = listing.views
    if isinstance(listing.reference.stands, geometry.Camera):
        return None
    # A baseline points against the movement of its camera, so columns run against x and rows against y.
    places = -np.array([view.stands for view in views], dtype=np.float64)
    x, y = (np.unique(np.round(places[:, k], 6), return_inverse=True)[1] for k in range(2))
    if len(set(zip(y, x, strict=True))) < len(views) or (y.max() + 1) * (x.max() + 1) > MOST:
        return None
    return {(int(row), int(column)): view for row, column, view in zip(y, x, views, strict=True)}


def _in_order(listing: Listing) -> Cells:
    """Place the views one after the other, row by row."""
    views = listing.views
    if len(views) > MOST:
        first = min(max(views.index(listing.reference) - MOST // 2, 0), len(views) - MOST)
        views = views[first : first + MOST]
    columns = math.ceil(math.sqrt(len(views)))
    return {divmod(k, columns): view for k, view in enumerate(views)}
