"""Small copies of a scene's views, side by side in one JPEG, so that a result can show them without the scene."""

from __future__ import annotations

import math
from typing import Any

from gradcon.arrays import to_host
from gradcon.pictures.tiles import jpeg_of_tiles
from gradcon.scene import Scene, geometry
from gradcon.scene.colours import small_planes
from gradcon.scene.selection import spread

FILE = "views.jpg"
MOST_TARGETS = 24  # with the reference, they fill a sheet of 5 x 5


def view_sheet(scene: Scene) -> tuple[bytes, dict[str, Any]]:
    """Return a sheet of the views as JPEG, and its description for result.json.

    The description has the file, the columns, the width and height of a tile, the names and baselines of the views,
    whether the sheet is in colour, and whether the baselines alone describe the geometry (`planar`).  Tile k is in
    column k % columns and row k // columns; the first is the reference.
    """
    chosen = spread(scene.baselines, MOST_TARGETS)
    planes = (to_host(scene.colours[k]) for k in (0, *(1 + k for k in chosen)))
    tiles = [small_planes(view, scene.colour_scale) for view in planes]
    height, width = tiles[0].shape[1:]
    columns = math.ceil(math.sqrt(len(tiles)))
    return jpeg_of_tiles(tiles, columns), {
        "file": FILE,
        "columns": columns,
        "width": width,
        "height": height,
        "names": [scene.reference_name, *(scene.target_names[k] for k in chosen)],
        "baselines": [[0.0, 0.0], *scene.baselines[chosen].tolist()],
        "colour": scene.colours.shape[1] == 3,
        "planar": all(geometry.is_planar(M, m) for M, m in zip(scene.M, scene.m, strict=True)),
    }
