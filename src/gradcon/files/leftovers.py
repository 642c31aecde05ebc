"""Know the temporary files of processes that were killed, and remove them when nobody writes there."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import shutil
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path
from types import ModuleType

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

_LONGEST = 200  # bytes of a name that is lengthened; file systems allow 255
_TEMPORARY = re.compile(r"\.(.+)\.[0-9a-f]{12}\.tmp")  # the names that `temporary_name` makes


def temporary_name(path: Path) -> Path:
    """Return a new hidden name beside `path`, by which `remove_leftovers` knows what a killed process has left."""
    return path.with_name(f".{_short(path.name)}.{secrets.token_hex(6)}.tmp")


def _short(name: str) -> str:
    """Return the name, or a hash of one that could not be lengthened."""
    content = os.fsencode(name)
    return name if len(content) <= _LONGEST else hashlib.sha256(content).hexdigest()


def leftovers(folder: Path, names: Collection[str] | None = None) -> list[Path]:
    """Return what killed processes left in a folder under temporary names: for these names, or for all."""
    try:
        there = [(Path(entry.path), _TEMPORARY.fullmatch(entry.name)) for entry in os.scandir(folder)]
    except OSError:
        return []
    short = None if names is None else set(map(_short, names))
    return [path for path, match in there if match and (short is None or match[1] in short)]


def remove_leftovers(folder: Path, names: Collection[str] | None = None) -> None:
    """Remove what killed processes left; to be called when no other process writes into the folder."""
    for path in leftovers(folder, names):
        remove(path)


def remove(path: Path) -> None:
    """Remove a file or a folder as far as that is possible."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink(missing_ok=True)


class FolderLocks:
    """Shared locks on the folders that this process writes into; they end with the process.

    A temporary file in a folder that no other process has locked was left by one that was killed.  Where folders cannot
    be locked (Windows, some network drives), nothing is ever removed.
    """

    def __init__(self) -> None:
        self._held: dict[Path, int] = {}

    def __enter__(self) -> FolderLocks:
        return self

    def __exit__(self, *_: object) -> None:
        for handle in self._held.values():
            os.close(handle)

    def share(self, folder: Path) -> None:
        if fcntl is None or folder in self._held:
            return
        with suppress(OSError):
            handle = os.open(folder, os.O_RDONLY)
            self._held[folder] = handle
            fcntl.flock(handle, fcntl.LOCK_SH)

    def remove_leftovers(self, paths: Iterable[Path]) -> None:
        """Remove the temporary files of these paths, in folders where no other process is writing."""
        names: dict[Path, set[str]] = {}
        for path in paths:
            names.setdefault(path.parent, set()).add(path.name)
        for folder, handle in self._held.items():
            if fcntl is not None and folder in names and leftovers(folder, names[folder]):
                with suppress(OSError):  # another process is writing there, and its files are no leftovers
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    remove_leftovers(folder, names[folder])
