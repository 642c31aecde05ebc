"""A map and what its values mean.  Every format writes the same description of a map and reads it back."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.damage import short_of_memory
from gradcon.errors import InputError
from gradcon.scene.numbers import finite_number

MAP_FORMAT = "gradcon-map-1"  # stated in every description that is JSON
QUANTITIES = ("disparity", "uncertainty", "depth")
OLD_NAMES = {"confidence": "uncertainty"}  # quantities that version 0.1 wrote under another name
DESCRIPTION = ("quantity", "unit", "sign", "reference", "scene")  # the texts of a Map
STEPS = ("scale", "offset")
MAX_PIXELS = 2**28
WRITE_AGAIN = "write the map again"


def current_name(quantity: str) -> str:
    """Return the present name of a quantity, which version 0.1 may have written under another one."""
    return OLD_NAMES.get(quantity, quantity)


@dataclass(frozen=True)
class Steps:
    """How values were made from 16-bit greys, offset + scale * grey, so that a PNG can hold the same greys again."""

    scale: float
    offset: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.scale) and self.scale > 0 and math.isfinite(self.offset)):
            problem = f"cannot have the scale {self.scale} and the offset {self.offset}"
            raise InputError("steps", problem, "give a positive scale and a finite offset")


@dataclass(frozen=True, eq=False)
class Map:
    """A map of one view, and what its values mean; None stands for what is not known.

    Attributes
    ----------
    values : (height, width) float32
        In `unit`; NaN marks unknown values.
    quantity : {"disparity", "uncertainty", "depth"} or None
    unit : str or None
        For example "pixels per unit baseline" or "mm".
    sign : str or None
        For a disparity, "positive is nearer".
    reference : str or None
        Name of the view to which the map belongs.
    scene : str or None
        Name of the scene.
    steps : Steps or None
        Scale and offset, in `unit`, of the 16-bit PNG from which the values come.
    """

    values: NDArray[np.float32]
    quantity: str | None = None
    unit: str | None = None
    sign: str | None = None
    reference: str | None = None
    scene: str | None = None
    steps: Steps | None = None

    def __post_init__(self) -> None:
        values = np.asarray(self.values)
        if values.dtype != np.float32 or values.ndim != 2 or values.size == 0:
            problem = f"are {values.dtype} of the shape {values.shape}"
            raise InputError("values", problem, "give float32 values of (height, width)")
        object.__setattr__(self, "values", np.ascontiguousarray(values, dtype=np.float32))
        if self.quantity not in (None, *QUANTITIES):
            raise InputError("quantity", f"cannot be {self.quantity!r}", f"use one of {', '.join(QUANTITIES)}")
        for name, text in self.texts().items():
            if not isinstance(text, str) or "\0" in text or not _is_unicode(text):
                raise InputError(name, f"must be text, not {text!r:.60}", "describe the map again")

    @property
    def name(self) -> str:
        """The map's name in a sentence, or in a file of several maps."""
        return self.quantity or "map"

    def texts(self) -> dict[str, str]:
        """Return the known parts of the description."""
        return {name: getattr(self, name) for name in DESCRIPTION if getattr(self, name) is not None}

    def description(self) -> str:
        """Return everything except the values, as JSON in ASCII."""
        steps = {} if self.steps is None else {"scale": self.steps.scale, "offset": self.steps.offset}
        return json.dumps({"format": MAP_FORMAT, **self.texts(), **steps})

    def known(self) -> list[str]:
        """Return the names of everything that is known besides the values, for messages."""
        return [*self.texts(), *(["scale and offset of a PNG"] if self.steps else [])]


def described(values: NDArray[np.float32], fields: Mapping[str, Any]) -> Map:
    """Build a map from the values and fields in a file; an InputError names the field, but not the file."""
    texts = {name: fields[name] for name in DESCRIPTION if fields.get(name) is not None}
    if isinstance(quantity := texts.get("quantity"), str):
        texts["quantity"] = current_name(quantity)
    return Map(values, **texts, steps=steps_of(fields))


def steps_of(fields: Mapping[str, Any]) -> Steps | None:
    """Return the scale and offset among a description's fields, which must have both or neither."""
    given = [fields.get(name) for name in STEPS]
    if given == [None, None]:
        return None
    scale, offset = (finite_number(value) for value in given)
    if scale is None or offset is None or scale <= 0:
        raise InputError("", f"its scale and offset make no sense ({given[0]!r:.60}, {given[1]!r:.60})")
    return Steps(scale, offset)


def parse_description(text: str) -> dict[str, Any]:
    """Parse the fields of a description; there are none if another program wrote the text."""
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return fields if isinstance(fields, dict) and fields.get("format") == MAP_FORMAT else {}


def plain_number(text: str) -> float | str:
    """Parse a number, or return a text that is not one as it is, for `described` to refuse."""
    try:
        return float(text)
    except ValueError:
        return text


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


@contextmanager
def reading(path: Path, kind: str) -> Iterator[None]:
    """Add the file to every InputError, and turn whatever a library raises for a damaged map into one."""
    try:
        yield
    except MemoryError:
        raise short_of_memory(path) from None
    except InputError as error:
        where = f"{path}, {error.where}" if error.where else path
        raise InputError(where, error.problem, error.remedy or WRITE_AGAIN) from None
    except Exception:
        problem = f"cannot be read as {kind}, because it is truncated or corrupt"
        raise InputError(path, problem, WRITE_AGAIN) from None
