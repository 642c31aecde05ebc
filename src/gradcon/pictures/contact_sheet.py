"""A picture of all views of a scene, each where its camera stands."""

from __future__ import annotations

import io
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.io.listing import Listing, View
from gradcon.scene import geometry
from gradcon.scene.colours import to_rgb

MOST = 169  # views on one sheet: a grid of 13 x 13; of more, those around the reference
WIDTH, THUMBNAIL, MARGIN = 1500, 220, 6  # pixels: of the sheet, of a view at most, between views


def contact_sheet(listing: Listing, frame: int = 0) -> bytes:
    """A PNG: views of a grid as the cameras stand, seen from behind them; others in the order they are listed."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    cells = on_a_grid(listing) or _listed(listing)
    rows, columns = (1 + max(cell[k] for cell in cells) for k in range(2))
    size = max(24, min(THUMBNAIL, WIDTH // columns - MARGIN))
    thumbnails = {cell: _thumbnail(view.read(frame), size) for cell, view in cells.items()}
    height, width = (max(image.shape[k] for image in thumbnails.values()) for k in range(2))
    label = 16 if size >= 60 else 0  # pixels for the name
    down, across = height + label + MARGIN, width + MARGIN
    sheet = np.full((rows * down + MARGIN, columns * across + MARGIN, 3), 255, np.uint8)
    figure = Figure(figsize=(sheet.shape[1] / 100, sheet.shape[0] / 100), dpi=100)
    axes = figure.add_axes((0, 0, 1, 1))
    for (row, column), image in thumbnails.items():
        top, left = MARGIN + row * down, MARGIN + column * across
        view = cells[row, column]
        if view is listing.reference:
            sheet[top - 4 : top + image.shape[0] + 4, left - 4 : left + image.shape[1] + 4] = (214, 40, 40)
        sheet[top : top + image.shape[0], left : left + image.shape[1]] = image
        if label:
            text = view.name if len(view.name) <= width // 6 else "…" + view.name[1 - width // 6 :]
            colour = "#d62828" if view is listing.reference else "black"
            where = left + image.shape[1] / 2, top + image.shape[0] + 5
            axes.text(*where, text, fontsize=6.5, ha="center", va="top", color=colour, parse_math=False)
    axes.imshow(sheet, interpolation="nearest", aspect="auto")
    axes.set_axis_off()
    buffer = io.BytesIO()
    FigureCanvasAgg(figure).print_png(buffer, metadata={"Software": "gradcon"})
    return buffer.getvalue()


def on_a_grid(listing: Listing) -> dict[tuple[int, int], View] | None:
    """Views by (row, column) as their cameras stand, where that is a grid that a sheet can show."""
    views = listing.views
    if isinstance(listing.reference.stands, geometry.Camera):
        return None
    # Baselines point against the cameras' movement, so columns run against x, and rows against y.
    places = -np.array([view.stands for view in views], dtype=np.float64)
    x, y = (np.unique(np.round(places[:, k], 6), return_inverse=True)[1] for k in range(2))
    if len(set(zip(y, x, strict=True))) < len(views) or (y.max() + 1) * (x.max() + 1) > MOST:
        return None
    return {(int(row), int(column)): view for row, column, view in zip(y, x, views, strict=True)}


def _listed(listing: Listing) -> dict[tuple[int, int], View]:
    """Views by (row, column) of the sheet, one after the other."""
    views = listing.views
    if len(views) > MOST:
        middle = min(max(views.index(listing.reference) - MOST // 2, 0), len(views) - MOST)
        views = views[middle : middle + MOST]
    columns = math.ceil(math.sqrt(len(views)))
    return {divmod(k, columns): view for k, view in enumerate(views)}


def _thumbnail(image: NDArray[Any], size: int) -> NDArray[np.uint8]:
    """RGB of at most `size` pixels a side; each pixel is the mean of a block."""
    factor = max(1, -(-max(image.shape[:2]) // size))
    down, across = (min(factor, n) for n in image.shape[:2])  # a strip keeps a pixel across
    height, width = image.shape[0] // down, image.shape[1] // across
    rgb = to_rgb(image).astype(np.float32)[: height * down, : width * across]
    return np.rint(rgb.reshape(height, down, width, across, 3).mean(axis=(1, 3))).astype(np.uint8)
