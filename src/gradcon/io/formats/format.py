"""A scene format: how a path is recognised, how its views are listed, and which hints it understands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from gradcon.errors import InputError
from gradcon.io.listing import Listing


@dataclass(frozen=True)
class Hints:
    """What the user says about a scene besides its path; see `gradcon.open_scene` for each field."""

    reference: Any = None  # a name; a (row, column) pair is converted to "row,column"
    pattern: str | None = None
    size_factor: float | None = None
    grid: tuple[int, int] | None = None
    micro_images: bool = False
    neighbours: int | None = None
    slide: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.reference, (tuple, list)):
            object.__setattr__(self, "reference", ",".join(str(k) for k in self.reference))

    def given(self) -> set[str]:
        """Return the names of the hints that differ from their defaults."""
        return {field.name for field in fields(self) if getattr(self, field.name) is not field.default}


@dataclass(frozen=True)
class Format:
    """A scene format.

    `recognise` returns the reason why a path has this format ("it holds a rig.toml"), or None if it does not.  `list`
    returns the path's Listing.  `takes` names the hints that the format understands, besides the reference.
    """

    name: str
    recognise: Callable[[Path, Hints], str | None]
    list: Callable[[Path, Hints], Listing]
    takes: frozenset[str] = frozenset()

    def refuse_other_hints(self, path: Path, hints: Hints) -> None:
        """Reject hints that this format does not understand."""
        for name in sorted(hints.given() - self.takes - {"reference"}):
            option = f"{name} (--{name.replace('_', '-')})"
            raise InputError(path, f"is {self.name}, so {option} means nothing here", "leave it out")
