"""Small copies of a scene's views, side by side in one JPEG, so that a result can show them without the scene."""

from __future__ import annotations

import io
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.arrays import to_host
from gradcon.errors import InputError
from gradcon.pictures.colours import to_rgb
from gradcon.scene import Scene, geometry

MOST = 25  # views on the sheet
LONGEST_SIDE = 512  # of a view's copy, in pixels
QUALITY = 85  # of the JPEG
FILE = "views.jpg"


def view_sheet(scene: Scene) -> tuple[bytes, dict[str, Any]]:
    """The sheet, and what is on it: file, columns, width and height of a tile, names, baselines, whether in colour,
    and whether baselines are all there is to the geometry (`planar`).

    Tile k is in column k % columns and row k // columns; the first is the reference.  In colour if all views can be
    read again, for a scene keeps only their luma.
    """
    from PIL import Image

    chosen = spread(scene.baselines, MOST - 1)
    images = _in_colour(scene, chosen)
    colour = images is not None
    if images is None:
        luma = [to_host(scene.reference), *(to_host(scene.targets[k]) for k in chosen)]
        images = [to_rgb(np.clip(image, 0, 1)) for image in luma]
    height, width = scene.shape
    shrink = min(1.0, LONGEST_SIDE / max(height, width))
    size = max(1, round(shrink * width)), max(1, round(shrink * height))
    columns = math.ceil(math.sqrt(len(images)))
    sheet = Image.new("RGB", (columns * size[0], -(-len(images) // columns) * size[1]))
    for k, image in enumerate(images):
        copy = Image.fromarray(image)
        small = copy if copy.size == size else copy.resize(size, Image.Resampling.BOX)
        sheet.paste(small, (k % columns * size[0], k // columns * size[1]))
    buffer = io.BytesIO()
    sheet.save(buffer, "JPEG", quality=QUALITY)
    return buffer.getvalue(), {
        "file": FILE,
        "columns": columns,
        "width": size[0],
        "height": size[1],
        "names": [scene.reference_name, *(scene.target_names[k] for k in chosen)],
        "baselines": [[0.0, 0.0], *scene.baselines[chosen].tolist()],
        "colour": colour,
        "planar": all(geometry.is_planar(M, m) for M, m in zip(scene.M, scene.m, strict=True)),
    }


def spread(baselines: NDArray[np.float64], most: int) -> list[int]:
    """At most so many targets, all over where the cameras stand: each is the farthest from those before.

    In the scene's order, the nearest to the reference first.
    """
    if len(baselines) <= most:
        return list(range(len(baselines)))
    distance = np.hypot(*baselines.T)
    chosen: list[int] = []
    while len(chosen) < most:
        k = int(np.argmax(np.round(distance, 9)))
        chosen.append(k)
        distance = np.minimum(distance, np.hypot(*(baselines - baselines[k]).T))
    return sorted(chosen)


def _in_colour(scene: Scene, chosen: list[int]) -> list[NDArray[np.uint8]] | None:
    images = [scene.colour]
    for k in chosen:
        read = scene.sources[k]
        if read is None:
            return None
        try:
            image = np.asarray(read())
        except (InputError, OSError):  # it is no longer there
            return None
        if image.shape[:2] != scene.shape:
            return None
        images.append(image)
    return [to_rgb(image) for image in images]
