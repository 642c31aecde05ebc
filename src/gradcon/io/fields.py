"""Checks shared by the parsers of text files: names against a known set, numbers that are numbers."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Any

from gradcon.errors import InputError


def hint(word: str, known: Iterable[str]) -> str:
    """What to do about a name that is not known: the closest one, or the list of all."""
    names = list(known)
    close = difflib.get_close_matches(word, names, n=1)
    return f"did you mean {close[0]!r}?" if close else f"use one of: {', '.join(names)}."


def refuse_unknown(where: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Refuse the first name in `given` that is not in `known`."""
    names = list(known)
    for name in given:
        if name not in names:
            raise InputError(f"{where}: unknown field {name!r}; {hint(name, names)}")


def finite_number(value: Any) -> float | None:
    """A finite float from a parsed int or float, or None where it is not one (a bool is not a number)."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def leaves_folder(name: str) -> bool:
    """Whether a relative path, with slashes, may lead out of its folder on any system, or names no file at all."""
    path = PurePosixPath(name)
    return any(odd in name for odd in ("\\", ":", "\0")) or ".." in path.parts or path.is_absolute() or not path.name
