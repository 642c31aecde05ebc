"""Pictures of maps, with a colour bar."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradcon.errors import InputError
from gradcon.io.listing import writable
from gradcon.pictures.canvas import new_figure, png_of
from gradcon.pictures.colour_maps import DEFAULT_MAP, colour_map, range_for
from gradcon.scene.units import DISPARITY_SIGN, DISPARITY_UNIT


def shown_range(values: NDArray[Any], percentiles: tuple[float, float] = (0.5, 99.5)) -> tuple[float, float]:
    """Return the range of values that a picture shows, which leaves out a few outliers and is never empty."""
    finite = values[np.isfinite(values)]
    low, high = map(float, np.percentile(finite, percentiles)) if finite.size else (0.0, 1.0)
    return low, max(high, low + 1e-6)


def disparity_picture(disparity: ArrayLike, title: str, cmap: str = DEFAULT_MAP) -> bytes:
    """Draw a disparity map as PNG, in the colours of one of COLOUR_MAPS."""
    values = np.asarray(disparity, dtype=np.float32)
    if values.ndim != 2 or values.size == 0:
        raise InputError(
            "disparity", f"has the shape {values.shape}, which is not that of a map", "give (height, width) values"
        )
    low, high = range_for(cmap, *shown_range(values))
    aspect = min(max(values.shape[0] / values.shape[1], 0.25), 3.0)
    figure = new_figure(7.5, 0.7 + 6.0 * aspect, layout="constrained")
    axes = figure.add_subplot()
    shown = np.ma.masked_invalid(values)
    image = axes.imshow(shown, cmap=colour_map(cmap), vmin=low, vmax=high, interpolation="nearest")
    if values.shape[0] / values.shape[1] != aspect:  # a strip would be too thin to see, so it fills the frame
        axes.set_aspect("auto")
    axes.set_axis_off()
    axes.set_title(writable(title), parse_math=False)
    figure.colorbar(image, ax=axes, label=f"disparity ({DISPARITY_UNIT}; {DISPARITY_SIGN})")
    return png_of(figure)
