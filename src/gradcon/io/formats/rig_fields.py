"""The values of a rig.toml's fields, checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.errors import InputError
from gradcon.scene.numbers import finite_number


def needed(table: Mapping[str, Any], field: str, where: str) -> Any:
    if field not in table:
        raise InputError(where, f"the field {field!r} is missing", "add it")
    return table[field]


def text_of(value: Any, field: str, where: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InputError(where, f"the field {field!r} must be text in quotes, not {value!r:.60}", "correct it")
    return value


def numbers(value: Any, shape: tuple[int, ...], field: str, where: str) -> NDArray[np.float64]:
    flat = _flat(value, shape)
    if flat is None:
        wanted = "two numbers" if shape == (2,) else " x ".join(map(str, shape)) + " finite numbers"
        raise InputError(where, f"the field {field!r} must be {wanted}, not {value!r:.60}", "correct it")
    return np.array(flat).reshape(shape)


def _flat(value: Any, shape: tuple[int, ...]) -> list[float] | None:
    """Flatten nested lists of numbers; return None if they do not have that shape."""
    if not shape:
        number = finite_number(value)
        return None if number is None else [number]
    if not isinstance(value, list) or len(value) != shape[0]:
        return None
    parts = [_flat(part, shape[1:]) for part in value]
    return None if any(part is None for part in parts) else [number for part in parts for number in part or ()]
