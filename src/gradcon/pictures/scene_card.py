"""The views of a scene that has been read, where their cameras stand, and its facts."""

from __future__ import annotations

import numpy as np

from gradcon.arrays import to_host
from gradcon.pictures.canvas import png_of
from gradcon.pictures.card import Card, Fact
from gradcon.pictures.contact_sheet import MOST, Cell, Tile, cells_in_order, draw_sheet, grid_cells, tile_size
from gradcon.scene import Scene
from gradcon.scene.colours import rgb_of_planes, small_copy
from gradcon.scene.units import DISPARITY_UNIT

WIDTH = 640  # pixels of the sheet


def scene_card(scene: Scene) -> Card:
    """Draw the views of a scene, and state its facts."""
    cells = cells_of(scene)
    size = tile_size(cells, WIDTH)
    tiles = {}
    for k, cell in enumerate(cells):  # the reference is the first; the nearest targets follow
        image = small_copy(rgb_of_planes(to_host(scene.colours[k]), scene.colour_scale), size)
        tiles[cell] = Tile([scene.reference_name, *scene.target_names][k], image, is_framed=k == 0)
    return Card(png_of(draw_sheet(tiles, size)), f"The views of {scene.name}", _facts(scene))


def cells_of(scene: Scene) -> list[Cell]:
    """Return the cells of the reference and of the targets that fit on a sheet."""
    in_a_grid = grid_cells(np.vstack([[0.0, 0.0], scene.baselines])) if scene.is_planar else None
    return in_a_grid or cells_in_order(min(len(scene.colours), MOST))


def _facts(scene: Scene) -> list[Fact]:
    height, width = scene.shape
    lengths = np.hypot(*scene.baselines.T)
    colours = "in colour" if scene.colours.shape[1] == 3 else "grey"
    calibration, truth = scene.calibration, scene.known_truth
    facts = [
        ("scene", scene.name),
        ("views", f"{len(scene.colours)} of {width} x {height}, {colours}"),
        ("reference", scene.reference_name),
        ("baselines", f"{lengths.min():.4g} to {lengths.max():.4g} long"),
    ]
    if truth is not None:
        facts.append(("truth", f"{np.nanmin(truth):.3f} to {np.nanmax(truth):.3f} {DISPARITY_UNIT}"))
    if calibration is not None:
        facts.append(("depth", f"calibrated, in {calibration.unit or 'an unknown unit'}"))
    return facts
