"""Read whole files; whatever cannot be read is refused by an InputError that names it."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

from gradcon.damage import refuse_large
from gradcon.errors import InputError
from gradcon.files.reason import reason

MAX_FILE_BYTES = 2**32


def as_path(path: Any, what: str = "path") -> Path:
    """Return what a user gives as a path; refuse what is none, and a name that the file system does not allow.

    Without this check, Python's questions about the path, such as `Path.exists`, would raise for some of these names.
    """
    try:
        given = Path(path)
    except TypeError:
        raise InputError(what, f"a {type(path).__name__} is not a path", "give the name of a file or folder") from None
    try:
        os.lstat(given)
    except (FileNotFoundError, NotADirectoryError):
        pass  # it may be about to be written
    except ValueError as error:
        problem = f"there can be no such folder or file ({reason(error)})"
        raise InputError(given, problem, "check its name") from None
    except OSError as error:
        raise _unreadable(given, error) from None
    return given


def several(paths: Any, what: str) -> list[Any]:
    """Return the paths that a user gives in a list, or one path alone, as a list; each of them is to be checked."""
    if isinstance(paths, (str, os.PathLike)):
        return [paths]
    try:
        return list(paths)
    except TypeError:
        problem = f"a {type(paths).__name__} is neither a path nor a list of paths"
        raise InputError(what, problem, "give the names of folders or files") from None


def file_size(path: Path, limit: int | None = None) -> int:
    """Return the size of a regular file; refuse one that is missing, empty or larger than `limit`."""
    size = _regular(path)
    if size == 0:
        raise InputError(path, "is empty", "copy or export it again")
    if limit is not None and size > limit:
        raise InputError(path, f"is {size:,} bytes", f"give a file of at most {limit:,} bytes")
    return size


def read_bytes(path: Path, limit: int | None = None) -> bytes:
    """Return the content of a file that passes the checks of `file_size` and fits into memory."""
    refuse_large(path, file_size(path, limit))
    try:
        return path.read_bytes()
    except (OSError, MemoryError) as error:
        raise _unreadable(path, error) from None


def sha256_of_file(path: Path) -> str:
    """Return the SHA-256 of a regular file, which may be empty or of any size; it is not held in memory."""
    _regular(path)
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise _unreadable(path, error) from None


def read_text(path: Path, limit: int = 2**20) -> str:
    """Return the content of a small UTF-8 text file."""
    try:
        return read_bytes(path, limit).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(path, "is not UTF-8 text", "save it as plain text") from None


def files_in(folder: Path) -> list[Path]:
    """Return the paths of everything in a folder, sorted by name."""
    try:
        return sorted(folder.iterdir())
    except OSError as error:
        raise InputError(folder, f"cannot be listed ({reason(error)})", "check the path and permissions") from None


def _regular(path: Path) -> int:
    """Return the size of a regular file, and refuse anything else: to open a pipe would be to wait for ever."""
    try:
        if path.is_dir():
            raise InputError(path, "is a folder where a file is expected", "give a file")
        if not path.exists():
            raise InputError(path, "there is no such file", "check its name and folder")
        if not path.is_file():
            raise InputError(path, "is not a regular file", "copy its content into one")
        return path.stat().st_size
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise _unreadable(path, error) from None


def _unreadable(path: Path, error: Exception) -> InputError:
    return InputError(path, f"cannot be read ({reason(error)})", "check its name and permissions")
