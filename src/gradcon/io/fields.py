"""Checks that the readers of text files share: known names, finite numbers, paths that stay in their folder."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import Any

from gradcon.errors import InputError


def hint(word: str, known: Iterable[str]) -> str:
    """Suggest what to write instead of an unknown name: the closest known name, or the list of all."""
    names = list(known)
    close = difflib.get_close_matches(word, names, n=1)
    return f"did you mean {close[0]!r}?" if close else f"use one of {', '.join(names)}"


def refuse_unknown(where: str | Path, given: Iterable[str], known: Iterable[str]) -> None:
    """Reject the first name in `given` that is not in `known`."""
    names = list(known)
    for name in given:
        if name not in names:
            raise InputError(where, f"unknown field {name!r}", hint(name, names))


def finite_number(value: Any) -> float | None:
    """Convert a parsed int or float to a finite float; return None for anything else, including a bool."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def leaves_folder(name: str) -> bool:
    """Return whether a relative path (with slashes) could leave its folder on some system, or names no file."""
    path = PurePosixPath(name)
    return any(odd in name for odd in ("\\", ":", "\0")) or ".." in path.parts or path.is_absolute() or not path.name
