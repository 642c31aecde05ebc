"""Maps in 16-bit grey PNG, which every program opens: value = offset + scale * grey, and grey 0 is unknown.

Text chunks hold scale, offset and the description.  A PNG without them is refused, because it does not say what its
greys mean.  Sixteen bits may round values, but `encode` chooses a scale at which nothing is lost if there is one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradcon.errors import InputError
from gradcon.files import read_bytes
from gradcon.io.images import png
from gradcon.io.maps.map import DESCRIPTION, STEPS, Map, Steps, described, plain_number, reading, steps_of

KEY = "gradcon:"  # put before each name to make the keyword of a text chunk
SCALE, OFFSET = STEPS
LEGEND_KEYWORD, LEGEND = "Description", "value = gradcon:offset + gradcon:scale * grey; grey 0 is unknown"
GREYS = 65535  # the largest grey; the smallest one that stands for a value is 1


def encode_png_map(values: ArrayLike, scale: float, offset: float, description: Mapping[str, str | None]) -> bytes:
    """Encode a map as a 16-bit grey PNG whose text chunks say what its greys mean.

    Parameters
    ----------
    values : (height, width) array
        NaN is written as grey 0, unknown, and every other value as the grey g whose offset + scale * g is nearest.
    scale, offset : float
        In the unit of the values; `scale` is positive.
    description : mapping of str
        Any of quantity ("disparity", "depth", "uncertainty"), unit, sign, reference and scene; None is left out.

    Raises
    ------
    InputError
        A value, such as infinity, has no grey from 1 to 65535; set it to NaN, or choose another scale and offset.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 2 or array.size == 0:
        raise InputError("values", f"have the shape {array.shape}", "give (height, width) values")
    if not (math.isfinite(scale) and scale > 0 and math.isfinite(offset)):
        problem = f"a PNG cannot have the scale {scale} and the offset {offset}"
        raise InputError("scale", problem, "give a positive scale and a finite offset")
    grey = np.rint((array - offset) / scale)
    outside = ~np.isnan(array) & ~((grey >= 1) & (grey <= GREYS))
    if outside.any():
        greys = f"a PNG whose greys stand for {offset + scale:g} to {offset + GREYS * scale:g}"
        problem = f"{int(outside.sum())} of them, such as {array[outside][0]:g}, do not fit into {greys}"
        raise InputError("values", problem, "set them to NaN, or choose another scale and offset")
    for name in description:
        if name not in DESCRIPTION:
            raise InputError("description", f"{name!r} does not describe a map", f"use {', '.join(DESCRIPTION)}")
    return _encode(np.where(np.isnan(array), 0, grey).astype(np.uint16), Steps(scale, offset), description)


def _encode(greys: NDArray[np.uint16], steps: Steps, description: Mapping[str, str | None]) -> bytes:
    texts = {SCALE: repr(float(steps.scale)), OFFSET: repr(float(steps.offset))}
    texts |= {name: text for name, text in description.items() if text is not None}
    keyed = {KEY + name: text for name, text in texts.items()} | {LEGEND_KEYWORD: LEGEND}
    return png.encode(greys, keyed)


def from_greys(greys: NDArray[np.uint16], scale: float, offset: float) -> NDArray[np.float32]:
    """Return the values that greys stand for; NaN for 0."""
    with np.errstate(over="ignore"):  # a value that is too large for float32 becomes infinite
        return np.where(greys == 0, np.nan, offset + scale * greys.astype(np.float64)).astype(np.float32)


def read(path: Path) -> Map:
    """Read the map in a PNG that says what its greys mean."""
    data = read_bytes(path)
    with reading(path, "PNG"):
        if not data.startswith(png.SIGNATURE):
            raise InputError("", "is not a PNG")
        header, texts = png.read_text(data)
        if (header.depth, header.colour) != (16, png.GREY):
            raise InputError("", "is a picture, not a map of 16-bit greys")
        fields = {name: text for name in (*DESCRIPTION, *STEPS) if (text := texts.get(KEY + name)) is not None}
        if not {SCALE, OFFSET} <= set(fields):
            problem = f"does not say what its grey values mean (it has no texts {KEY}{SCALE}, {KEY}{OFFSET})"
            raise InputError("", problem)
        numbers = {name: plain_number(fields[name]) for name in STEPS}
        steps = steps_of(numbers)
        assert steps is not None
        values = from_greys(png.decode(data), steps.scale, steps.offset)
        if np.isinf(values).any():
            raise InputError("", "has a scale or offset that makes values infinite")
        return described(values, fields | numbers)


def encode(map_: Map) -> bytes:
    """Encode a map with its own steps if they fit, or else the finest that do; infinite values become unknown."""
    steps = steps_for(map_)
    finite = np.where(np.isfinite(map_.values), map_.values.astype(np.float64), np.nan)
    return _encode(to_greys(finite, steps), steps, map_.texts())


def losses(map_: Map) -> list[str]:
    """Say how sixteen bits change the values, and which texts are too long to be read back."""
    values, steps = map_.values.astype(np.float64), steps_for(map_)
    found = []
    finite = np.isfinite(values)
    kept = from_greys(to_greys(np.where(finite, values, np.nan), steps), steps.scale, steps.offset)
    changed = finite & (kept != map_.values)
    if changed.any():
        worst = float(np.abs(kept.astype(np.float64) - values)[changed].max())
        unit = f" {map_.unit}" if map_.unit else ""
        found.append(
            f"rounds {int(changed.sum())} of {values.size} values to steps of {steps.scale:.3g}{unit}, "
            f"by up to {worst:.2g}"
        )
    if infinite := int(np.isinf(values).sum()):
        found.append(f"turns {infinite} infinite values into unknown ones")
    room = png.MAX_TEXT - 100  # the rest is for the keyword
    if long := [name for name, text in map_.texts().items() if len(text.encode()) > room]:
        found.append(f"cannot carry {', '.join(long)}, of more than {room:,} bytes")
    return found


def steps_for(map_: Map) -> Steps:
    """Choose scale and offset for a map: its own if they hold all values exactly, or a power of two, or the finest.

    A power of two is exact for whole numbers, halves and so on, which ground truths often are.
    """
    finite = map_.values[np.isfinite(map_.values)].astype(np.float64)
    if finite.size == 0:
        return map_.steps or Steps(1.0, 0.0)
    if map_.steps is not None and _fits(finite, map_.steps):
        return map_.steps
    low, high = float(finite.min()), float(finite.max())
    if low == high:  # use grey 1 or 2, whichever makes the value exact
        return Steps(abs(low), 0.0 if low > 0 else 2 * low) if low else Steps(1.0, -1.0)
    finest = (high - low) / (GREYS - 1)
    power = 2.0 ** math.ceil(math.log2(finest))
    exact = Steps(power, low - power)
    return exact if _fits(finite, exact) else Steps(finest, low - finest)


def to_greys(values: NDArray[np.float64], steps: Steps) -> NDArray[np.uint16]:
    """Return the nearest greys; 0 for NaN.

    Steps finer than float32 may put a value slightly outside the range, so greys are clipped.
    """
    greys = np.clip(np.rint((values - steps.offset) / steps.scale), 1, GREYS)
    return np.where(np.isnan(values), 0, greys).astype(np.uint16)


def _fits(finite: NDArray[np.float64], steps: Steps) -> bool:
    """Return whether every value is exactly the value of a grey."""
    kept = from_greys(to_greys(finite, steps), steps.scale, steps.offset)
    return bool((kept == finite.astype(np.float32)).all())
