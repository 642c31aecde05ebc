"""Maps in 16-bit grey PNG, which every program opens: value = offset + scale * grey, and grey 0 is unknown.

Scale, offset and what the values mean stand in text chunks; a PNG without them does not say what its grey values are,
and is refused.  Sixteen bits round: `encode` takes a scale at which nothing is lost where there is one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradcon.errors import InputError
from gradcon.io import png

KEY = "gradcon:"  # before each of the names below, as the keyword of a text chunk
SCALE, OFFSET = "scale", "offset"
DESCRIPTION = ("quantity", "unit", "sign", "reference", "scene")
LEGEND_KEYWORD, LEGEND = "Description", "value = gradcon:offset + gradcon:scale * grey; grey 0 is unknown"
GREYS = 65535  # the largest grey; 1 is the smallest that stands for a value


def encode_png_map(values: ArrayLike, scale: float, offset: float, description: Mapping[str, str | None]) -> bytes:
    """A 16-bit grey PNG of a map, with what its grey values mean in text chunks.

    Parameters
    ----------
    values : (height, width) array
        NaN is written as grey 0, unknown; every other value as the grey g for which offset + scale * g is nearest.
    scale, offset : float
        In the values' unit; `scale` is positive.
    description : mapping of str
        Any of quantity ("disparity", "depth", "confidence"), unit, sign, reference and scene; None is left out.

    Raises
    ------
    InputError
        A value, such as an infinity, has no grey from 1 to 65535; set it to NaN, or choose another scale and offset.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 2 or array.size == 0:
        raise InputError(f"a map to be written has (height, width) values, not {array.shape}.")
    if not (math.isfinite(scale) and scale > 0 and math.isfinite(offset)):
        raise InputError(f"a PNG of a map cannot have the scale {scale} and the offset {offset}.")
    grey = np.rint((array - offset) / scale)
    outside = ~np.isnan(array) & ~((grey >= 1) & (grey <= GREYS))
    if outside.any():
        raise InputError(
            f"{int(outside.sum())} values of a map, such as {array[outside][0]:g}, do not fit into a PNG whose greys "
            f"stand for {offset + scale:g} to {offset + GREYS * scale:g}."
        )
    for name in description:
        if name not in DESCRIPTION:
            raise InputError(f"a map has no {name!r} to describe it by; there are {', '.join(DESCRIPTION)}.")
    texts = {SCALE: repr(float(scale)), OFFSET: repr(float(offset))}
    texts |= {name: text for name, text in description.items() if text is not None}
    keyed = {KEY + name: text for name, text in texts.items()} | {LEGEND_KEYWORD: LEGEND}
    return png.encode(np.where(np.isnan(array), 0, grey).astype(np.uint16), keyed)


def from_greys(greys: NDArray[np.uint16], scale: float, offset: float) -> NDArray[np.float32]:
    """What the greys stand for; NaN for 0."""
    return np.where(greys == 0, np.nan, offset + scale * greys.astype(np.float64)).astype(np.float32)
