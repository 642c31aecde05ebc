"""Small copies of a scene's views, side by side in one JPEG, so that a result can show them without the scene."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradcon.arrays import to_host
from gradcon.pictures.tiles import jpeg_of_tiles
from gradcon.scene import Scene, geometry
from gradcon.scene.colours import small_copy
from gradcon.scene.scene import MOST_THUMBNAILS
from gradcon.scene.selection import spread

FILE = "views.jpg"


def view_sheet(scene: Scene) -> tuple[bytes, dict[str, Any]]:
    """Return a sheet of the views as JPEG, and its description for result.json.

    The description has the file, the columns, the width and height of a tile, the names and baselines of the views,
    whether the sheet is in colour, and whether the baselines alone describe the geometry (`planar`).  Tile k is in
    column k % columns and row k // columns; the first is the reference.  The sheet is in colour if the scene has
    thumbnails; otherwise it shows the luma.
    """
    colour = bool(scene.thumbnails)
    chosen = sorted(scene.thumbnails) or spread(scene.baselines, MOST_THUMBNAILS)
    if colour:
        tiles = [small_copy(scene.colour), *(scene.thumbnails[k] for k in chosen)]
    else:
        luma = [scene.reference, *(scene.targets[k] for k in chosen)]
        tiles = [small_copy(np.clip(to_host(image), 0, 1)) for image in luma]
    height, width = tiles[0].shape[:2]
    columns = math.ceil(math.sqrt(len(tiles)))
    return jpeg_of_tiles(tiles, columns), {
        "file": FILE,
        "columns": columns,
        "width": width,
        "height": height,
        "names": [scene.reference_name, *(scene.target_names[k] for k in chosen)],
        "baselines": [[0.0, 0.0], *scene.baselines[chosen].tolist()],
        "colour": colour,
        "planar": all(geometry.is_planar(M, m) for M, m in zip(scene.M, scene.m, strict=True)),
    }
