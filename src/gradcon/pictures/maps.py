"""Pictures of maps, with a colour bar."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradcon.errors import InputError
from gradcon.io.listing import writable
from gradcon.pictures.colour_maps import DEFAULT_MAP, range_for
from gradcon.pictures.colour_tables import colour_table
from gradcon.pictures.map_plate import draw_plate
from gradcon.scene.units import DISPARITY_SIGN, DISPARITY_UNIT

LABELS = (f"disparity ({DISPARITY_UNIT}; {DISPARITY_SIGN})", f"disparity ({DISPARITY_UNIT})", "disparity")


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
    shown = range_for(cmap, *shown_range(values))
    aspect = min(max(values.shape[0] / values.shape[1], 0.25), 3.0)  # or a strip would be too thin to see
    return draw_plate(values, shown, colour_table(cmap), aspect, writable(title), LABELS)
