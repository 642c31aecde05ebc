"""What a format of scenes is: how a path is recognised as one, how it is listed, and what may be told about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from gradcon.errors import InputError
from gradcon.io.listing import Listing


@dataclass(frozen=True)
class Hints:
    """What the user told about a scene besides its path; see `gradcon.open_scene`."""

    reference: Any = None  # text; a (row, column) becomes it
    pattern: str | None = None
    size_factor: float | None = None
    grid: tuple[int, int] | None = None
    micro_images: bool = False
    neighbours: int | None = None

    def __post_init__(self) -> None:
        if isinstance(self.reference, (tuple, list)):
            object.__setattr__(self, "reference", ",".join(str(k) for k in self.reference))

    def given(self) -> set[str]:
        return {field.name for field in fields(self) if getattr(self, field.name) is not field.default}


@dataclass(frozen=True)
class Format:
    """A format of scenes.

    `recognise` says why a path is of this format ("holds input_Cam040.png"), or None where it is not; `list` makes a
    Listing of it; `takes` names the hints that mean something to it, besides the reference.
    """

    name: str
    recognise: Callable[[Path, Hints], str | None]
    list: Callable[[Path, Hints], Listing]
    takes: frozenset[str] = frozenset()

    def refuse_other_hints(self, path: Path, hints: Hints) -> None:
        for name in sorted(hints.given() - self.takes - {"reference"}):
            raise InputError(
                f"{path}: is {self.name}, so {name} (--{name.replace('_', '-')}) means nothing here; leave it out."
            )
