"""How each view of a scene differs from the reference, each map where its camera stands."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from gradcon.arrays import to_host
from gradcon.pictures.canvas import png_of
from gradcon.pictures.contact_sheet import Tile, draw_sheet, tile_size
from gradcon.pictures.scene_card import cells_of
from gradcon.scene import Scene
from gradcon.scene.colours import Colours, rgb_of_planes, small_copy

WIDTH = 1100  # pixels of the sheet
BAR = 62  # pixels for the colour bar below
COLOURS = "magma"
OUTSIDE = "0.5"  # the colour of what a view does not see
LEAST = 16.0  # levels of 255 at the end of the bar, so that noise looks dark
BRIGHTEST = 99.0  # percentile of all maps at the end of the bar


def residual_sheet(scene: Scene, maps: NDArray[np.float32], odd: Collection[str]) -> bytes:
    """Draw the reference, and how each target differs from it, as PNG.

    Parameters
    ----------
    scene : Scene
    maps : (T, height, width) array
        The differences in levels of 255, in the order of the scene's targets; NaN where a target sees nothing.
    odd : collection of str
        Targets to draw a frame around.
    """
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    finite = maps[np.isfinite(maps)]
    norm = Normalize(0, max(LEAST, float(np.percentile(finite, BRIGHTEST)) if finite.size else 0))
    shades = ScalarMappable(norm, colormaps[COLOURS].with_extremes(bad=OUTSIDE))
    cells = cells_of(scene)
    size = tile_size(cells, WIDTH)
    reference = small_copy(rgb_of_planes(to_host(scene.colours[0]), scene.colour_scale), size)
    tiles = {cells[0]: Tile(f"{scene.reference_name} (reference)", reference, is_framed=False)}
    for cell, name, values in zip(cells[1:], scene.target_names, maps, strict=False):
        image = shades.to_rgba(np.ma.masked_invalid(values), bytes=True)[..., :3]
        tiles[cell] = Tile(name, _resized(image, reference.shape[:2]), name in odd)
    figure = draw_sheet(tiles, size, below=BAR)
    height = figure.get_figheight() * figure.dpi
    place = figure.add_axes((0.1, 42 / height, 0.8, 12 / height))
    bar = figure.colorbar(shades, cax=place, orientation="horizontal", extend="max")
    bar.set_label("difference in levels of 255", fontsize=8)
    bar.ax.tick_params(labelsize=7)
    return png_of(figure)


def _resized(image: Colours, shape: tuple[int, int]) -> Colours:
    """Return a map at the size of the reference; a pixel of a small copy stays a square."""
    from PIL import Image

    height, width = shape
    return np.asarray(Image.fromarray(image).resize((width, height), Image.Resampling.NEAREST))
