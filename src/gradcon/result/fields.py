"""Typed access to the fields of result.json: a missing or null field has a default, any other mistake is refused."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, NoReturn

from gradcon.errors import InputError
from gradcon.scene.calibration import Calibration
from gradcon.scene.numbers import finite_number


class Fields:
    """A JSON object in the file at `path`; `prefix` is the name of the object itself, with a dot."""

    def __init__(self, path: Path, fields: dict[str, Any], prefix: str = "") -> None:
        self.path, self.fields, self.prefix = path, fields, prefix

    def text(self, name: str, default: str) -> str:
        value = self.fields.get(name, default)
        if not isinstance(value, str | None):
            self.refuse(name, "is not text")
        return default if value is None else value

    def mapping(self, name: str) -> dict[str, Any]:
        value = self.fields.get(name)
        if not isinstance(value, dict | None):
            self.refuse(name, "is not an object")
        return value or {}

    def items(self, name: str) -> list[Any]:
        value = self.fields.get(name)
        if not isinstance(value, list | None):
            self.refuse(name, "is not a list")
        return value or []

    def texts(self, name: str) -> list[str]:
        values = self.items(name)
        if not all(isinstance(value, str) for value in values):
            self.refuse(name, "is not a list of texts")
        return values

    def pairs(self, name: str, count: int) -> list[list[float]]:
        values = self.items(name)
        numbers = [
            [finite_number(part) for part in pair] if isinstance(pair, list) and len(pair) == 2 else [None]
            for pair in values
        ]
        if len(values) != count or any(None in pair for pair in numbers):
            self.refuse(name, f"is not a list of {count} pairs of numbers")
        return numbers  # type: ignore[return-value]  # the check above leaves no None

    def count(self, name: str) -> int:
        value = self.fields.get(name)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 < value <= 2**20:
            self.refuse(name, "is not a number of pixels or tiles")
        return int(value)

    def refuse(self, name: str, what: str) -> NoReturn:
        raise InputError(self.path, f"its field {self.prefix + name!r} {what}", "estimate the scene again")


def calibration_of_fields(fields: Fields) -> Calibration | None:
    """Return the calibration that result.json states, if any."""
    given = fields.mapping("calibration")
    if not given:
        return None
    try:
        unit = given.get("unit", "")
        return Calibration(given.get("product", math.nan), given.get("K"), given.get("offset", 0.0), unit)  # type: ignore[arg-type]
    except (InputError, TypeError):
        fields.refuse("calibration", "is not a valid calibration")
