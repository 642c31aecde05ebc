"""A map and what its values mean; every format writes the same description of it, and reads it back."""

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

from gradcon.errors import InputError
from gradcon.io.fields import finite_number

MAP_FORMAT = "gradcon-map-1"  # in every description that is JSON
QUANTITIES = ("disparity", "uncertainty", "depth")
DESCRIPTION = ("quantity", "unit", "sign", "reference", "scene")  # the texts of a Map
STEPS = ("scale", "offset")
MAX_PIXELS = 2**28


@dataclass(frozen=True)
class Steps:
    """Values that were 16-bit greys once: offset + scale * grey, so that a PNG can hold them again as they are."""

    scale: float
    offset: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.scale) and self.scale > 0 and math.isfinite(self.offset)):
            raise InputError(f"a map cannot have steps of {self.scale} from {self.offset} on.")


@dataclass(frozen=True, eq=False)
class Map:
    """A map of one view, and what its values mean; None where that is not known.

    Attributes
    ----------
    values : (height, width) float32
        In `unit`; NaN is unknown.
    quantity : {"disparity", "uncertainty", "depth"} or None
    unit : str or None
        Such as "pixels per unit baseline" or "mm".
    sign : str or None
        Of a disparity: "positive is nearer".
    reference : str or None
        Name of the view that the map belongs to.
    scene : str or None
        Its name.
    steps : Steps or None
        Where the values come from a 16-bit PNG: its scale and offset, in `unit`.
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
            raise InputError(f"a map has (height, width) float32 values, not {values.dtype} {values.shape}.")
        object.__setattr__(self, "values", np.ascontiguousarray(values, dtype=np.float32))
        if self.quantity not in (None, *QUANTITIES):
            raise InputError(f"a map cannot be of {self.quantity!r}, only of {', '.join(QUANTITIES)}.")
        for name, text in self.texts().items():
            if not isinstance(text, str) or "\0" in text or not _is_unicode(text):
                raise InputError(f"the {name} of a map is to be text, not {text!r}.")

    @property
    def name(self) -> str:
        """What it is called in a sentence, or in a file of several maps."""
        return self.quantity or "map"

    def texts(self) -> dict[str, str]:
        """The description, as far as it is known."""
        return {name: getattr(self, name) for name in DESCRIPTION if getattr(self, name) is not None}

    def description(self) -> str:
        """All but the values, as JSON in ASCII."""
        steps = {} if self.steps is None else {"scale": self.steps.scale, "offset": self.steps.offset}
        return json.dumps({"format": MAP_FORMAT, **self.texts(), **steps})

    def known(self) -> list[str]:
        """Names of what is known besides the values, for sentences."""
        return [*self.texts(), *(["scale and offset of a PNG"] if self.steps else [])]


def described(values: NDArray[np.float32], fields: Mapping[str, Any]) -> Map:
    """The map of values and fields that a file holds; raises InputError with the reason alone."""
    texts = {name: fields[name] for name in DESCRIPTION if fields.get(name) is not None}
    return Map(values, **texts, steps=steps_of(fields))


def steps_of(fields: Mapping[str, Any]) -> Steps | None:
    """Scale and offset among a description's fields; both or none."""
    given = [fields.get(name) for name in STEPS]
    if given == [None, None]:
        return None
    scale, offset = (finite_number(value) for value in given)
    if scale is None or offset is None or scale <= 0:
        raise InputError(f"its scale and offset make no sense ({given[0]!r}, {given[1]!r})")
    return Steps(scale, offset)


def parse_description(text: str) -> dict[str, Any]:
    """The fields of a description; none where the text is somebody else's."""
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return fields if isinstance(fields, dict) and fields.get("format") == MAP_FORMAT else {}


def plain_number(text: str) -> float | str:
    """A number that stands as text, or the text itself where it is none, for `described` to refuse."""
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
    """Whatever a library raises at a damaged map becomes a sentence that names the file; refusals get its name."""
    try:
        yield
    except MemoryError:
        raise
    except InputError as reason:
        raise InputError(f"{path}: {str(reason).rstrip('.')}; write the map again.") from None
    except Exception:
        raise InputError(
            f"{path}: cannot be read as {kind}: it is truncated or corrupt; write the map again."
        ) from None
