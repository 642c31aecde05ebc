"""Small copies of a scene's views, side by side in one JPEG, so that a result can show them without the scene."""

from __future__ import annotations

import io
import math
from typing import Any

import numpy as np

from gradcon.arrays import to_host
from gradcon.scene import Scene, geometry
from gradcon.scene.colours import small_copy
from gradcon.scene.scene import MOST_THUMBNAILS
from gradcon.scene.selection import spread

QUALITY = 85  # of the JPEG
FILE = "views.jpg"


def view_sheet(scene: Scene) -> tuple[bytes, dict[str, Any]]:
    """The sheet, and what is on it: file, columns, width and height of a tile, names, baselines, whether in colour,
    and whether baselines are all there is to the geometry (`planar`).

    Tile k is in column k % columns and row k // columns; the first is the reference.  The sheet is in colour if the
    scene has thumbnails; otherwise it shows the luma.
    """
    from PIL import Image

    colour = bool(scene.thumbnails)
    chosen = sorted(scene.thumbnails) or spread(scene.baselines, MOST_THUMBNAILS)
    if colour:
        images = [small_copy(scene.colour), *(scene.thumbnails[k] for k in chosen)]
    else:
        luma = [scene.reference, *(scene.targets[k] for k in chosen)]
        images = [small_copy(np.clip(to_host(image), 0, 1)) for image in luma]
    height, width = images[0].shape[:2]
    columns = math.ceil(math.sqrt(len(images)))
    sheet = Image.new("RGB", (columns * width, -(-len(images) // columns) * height))
    for k, image in enumerate(images):
        sheet.paste(Image.fromarray(image), (k % columns * width, k // columns * height))
    buffer = io.BytesIO()
    sheet.save(buffer, "JPEG", quality=QUALITY)
    return buffer.getvalue(), {
        "file": FILE,
        "columns": columns,
        "width": width,
        "height": height,
        "names": [scene.reference_name, *(scene.target_names[k] for k in chosen)],
        "baselines": [[0.0, 0.0], *scene.baselines[chosen].tolist()],
        "colour": colour,
        "planar": all(geometry.is_planar(M, m) for M, m in zip(scene.M, scene.m, strict=True)),
    }
