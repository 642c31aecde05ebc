"""Read whole files, and write several at once, all or none; every failure is an InputError that names the file."""

from __future__ import annotations

import errno
import json
import math
import os
import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gradcon.errors import InputError

MAX_FILE_BYTES = 2**32
_TEMPORARY = re.compile(r"\..+\.[0-9a-f]{12}\.tmp")  # the names that `write_files` uses before it renames


def file_size(path: Path, limit: int = MAX_FILE_BYTES) -> int:
    """Return the size of a regular file; refuse one that is missing, empty or larger than `limit`."""
    try:
        if path.is_dir():
            raise InputError(path, "is a folder where a file is expected", "give a file")
        if not path.exists():
            raise InputError(path, "there is no such file", "check its name and folder")
        if not path.is_file():
            raise InputError(path, "is not a regular file", "copy its content into one")
        size = path.stat().st_size
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise _unreadable(path, error) from None
    if size == 0:
        raise InputError(path, "is empty", "copy or export it again")
    if size > limit:
        raise InputError(path, f"is {size:,} bytes", f"give a file of at most {limit:,} bytes")
    return size


def read_bytes(path: Path, limit: int = MAX_FILE_BYTES) -> bytes:
    """Return the content of a file that passes the checks of `file_size`."""
    file_size(path, limit)
    try:
        return path.read_bytes()
    except (OSError, MemoryError) as error:
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
        raise InputError(folder, f"cannot be listed ({_reason(error)})", "check the path and permissions") from None


def make_folder(folder: Path) -> list[Path]:
    """Create `folder` and its missing parents; return those that were created, deepest first."""
    try:
        missing = [part for part in (folder, *folder.parents) if not part.exists()]
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise InputError(folder, f"cannot create this folder ({_reason(error)})", "choose another") from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(folder, "cannot write into this folder", "change its permissions or choose another")
    return missing


def write_files(folder: Path, files: Iterable[tuple[str, bytes]], lasting: bool = False) -> Path:
    """Write all of the (name, content) pairs into `folder`, or none of them; return the folder.

    A name may lead into a folder that exists inside `folder`.  Each file is written under a temporary name next to its
    own, and all are renamed once all are written, so that an error or Ctrl-C leaves neither partial nor temporary
    files.  `files` may be a generator, so that one content at a time is in memory.  With `lasting`, the function waits
    until the disk has the data, so that not even a power cut leaves an empty file.
    """
    created = make_folder(folder)
    written: list[tuple[Path, Path]] = []
    final = folder
    try:
        for name, content in files:
            final = folder / name
            if final.is_dir():  # find out now, before any file has been renamed
                raise IsADirectoryError(errno.EISDIR, "a folder has this name")
            temporary = final.with_name(f".{final.name}.{secrets.token_hex(6)}.tmp")
            written.append((temporary, final))
            with open(temporary, "xb") as handle:
                handle.write(content)
                if lasting:
                    handle.flush()
                    os.fsync(handle.fileno())
        for temporary, final in written:
            os.replace(temporary, final)
    except BaseException as error:
        for temporary, _ in written:
            temporary.unlink(missing_ok=True)
        _remove_empty(created)
        if isinstance(error, OSError):
            remedy = "make room for it or choose another folder"
            raise InputError(final, f"cannot be written ({_reason(error)})", remedy) from None
        raise
    return folder


def remove_leftovers(folder: Path) -> None:
    """Remove the temporary files of a `write_files` whose process was killed."""
    for path in folder.glob(".*.tmp"):
        if _TEMPORARY.fullmatch(path.name):
            path.unlink(missing_ok=True)


def write_file(path: Path, content: bytes, lasting: bool = False) -> None:
    """Write one file atomically."""
    if not path.name:
        raise InputError(path, "is not the name of a file", "give one")
    write_files(path.parent, [(path.name, content)], lasting)


def _remove_empty(folders: list[Path]) -> None:
    for folder in folders:
        try:
            folder.rmdir()
        except OSError:  # something else was put there in the meantime
            return


def _unreadable(path: Path, error: Exception) -> InputError:
    return InputError(path, f"cannot be read ({_reason(error)})", "check its name and permissions")


def _reason(error: Exception) -> str:
    return (getattr(error, "strerror", None) or str(error) or type(error).__name__).lower()


def to_json(value: Any) -> str:
    """Encode as strict JSON: NaN and infinities become null, and NumPy's numbers and arrays become plain ones."""
    text = json.dumps(_plain(value), indent=2, allow_nan=False, ensure_ascii=False)
    return text.encode("utf-8", "backslashreplace").decode()  # a file name that is not valid text becomes escapes


def _plain(value: Any) -> Any:
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(item) for item in value]
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)
