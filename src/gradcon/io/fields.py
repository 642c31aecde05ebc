"""Checks that the readers of text files share: the names they know."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path

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
            raise InputError(where, f"unknown field {name!r:.80}", hint(name, names))
