"""A sample: a small valid input, how it is read, and which of its files are mutated."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

TEXTS = (".json", ".toml", ".cfg", ".txt", ".zarray", ".zattrs", ".zgroup", ".zmetadata")


@dataclass(frozen=True)
class Sample:
    """Files by their names relative to a folder.

    Attributes
    ----------
    files : mapping of str to bytes
    reader : str
        A name of `readers.READERS`.
    opened : str
        What the reader gets: one of the files, or "" for the folder.
    mutated : tuple of str
        The files to mutate; the others stay valid.
    repair : str
        A name of `repairs.REPAIRS`, or "".
    """

    files: Mapping[str, bytes]
    reader: str
    opened: str = ""
    mutated: tuple[str, ...] = ()
    repair: str = ""

    def __post_init__(self) -> None:
        if not self.mutated:
            object.__setattr__(self, "mutated", tuple(self.files))


def is_text(name: str) -> bool:
    """Return whether a file is mutated word by word."""
    return name.endswith(TEXTS)


def files_in(folder: Path) -> dict[str, bytes]:
    """Return the content of all files below a folder."""
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def written(write: Callable[[Path], object]) -> dict[str, bytes]:
    """Return the files that `write` leaves in an empty folder."""
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder))
        return files_in(Path(folder))


def in_memory(write: Callable[[io.BytesIO], object]) -> bytes:
    """Return what `write` puts into a file."""
    buffer = io.BytesIO()
    write(buffer)
    return buffer.getvalue()


def first_names(files: Iterable[str], count: int = 1) -> tuple[str, ...]:
    """Return a few of the files, for samples whose files are all alike."""
    return tuple(sorted(files))[:count]
