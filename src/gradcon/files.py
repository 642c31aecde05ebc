"""Reading whole files and writing them all-or-nothing; every failure is a sentence that names the file."""

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
_TEMPORARY = re.compile(r"\..+\.[0-9a-f]{12}\.tmp")  # what `write_files` writes to before it renames


def file_size(path: Path, limit: int = MAX_FILE_BYTES) -> int:
    """Size of a regular file that is neither empty nor absurdly large; anything else is an InputError."""
    try:
        if path.is_dir():
            raise InputError(f"{path}: is a folder where a file is expected; give a file.")
        if not path.exists():
            raise InputError(f"{path}: there is no such file; check its name and folder.")
        if not path.is_file():
            raise InputError(f"{path}: is not a regular file; copy what it holds into one.")
        size = path.stat().st_size
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise _unreadable(path, error) from None
    if size == 0:
        raise InputError(f"{path}: is empty; copy or export it again.")
    if size > limit:
        raise InputError(f"{path}: is {size:,} bytes, more than the {limit:,} that such a file may have.")
    return size


def read_bytes(path: Path, limit: int = MAX_FILE_BYTES) -> bytes:
    """All of a file's bytes, after `file_size` has looked at it."""
    file_size(path, limit)
    try:
        return path.read_bytes()
    except (OSError, MemoryError) as error:
        raise _unreadable(path, error) from None


def read_text(path: Path, limit: int = 2**20) -> str:
    """A small UTF-8 text file."""
    try:
        return read_bytes(path, limit).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not UTF-8 text; save it as plain text.") from None


def files_in(folder: Path) -> list[Path]:
    """Everything that lies in a folder, sorted by name."""
    try:
        return sorted(folder.iterdir())
    except OSError as error:
        raise InputError(f"{folder}: cannot be listed ({error.strerror}); check the path and permissions.") from None


def make_folder(folder: Path) -> list[Path]:
    """Create `folder` and its parents where they are missing; return the created ones, deepest first."""
    try:
        missing = [part for part in (folder, *folder.parents) if not part.exists()]
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise InputError(f"{folder}: cannot create this folder ({_reason(error)}); choose another.") from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(f"{folder}: cannot write into this folder; change its permissions or choose another.")
    return missing


def write_files(folder: Path, files: Iterable[tuple[str, bytes]], lasting: bool = False) -> Path:
    """Write (name, content) pairs into `folder`, or into folders that are in it already, all of them or none.

    Each goes to a temporary name beside its own and is renamed once all are there, so that an error or Ctrl-C
    leaves neither a partial file nor a temporary one.  `files` may be a generator: one content is held at a
    time.  `lasting` waits until the disk has them, so that not even a power cut leaves a file of this name empty.
    """
    created = make_folder(folder)
    written: list[tuple[Path, Path]] = []
    final = folder
    try:
        for name, content in files:
            final = folder / name
            if final.is_dir():  # or some files would be renamed before this one cannot be
                raise IsADirectoryError(errno.EISDIR, "a folder of this name is there")
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
            raise InputError(
                f"{final}: cannot be written ({_reason(error)}); free the place or choose another folder."
            ) from None
        raise
    return folder


def remove_leftovers(folder: Path) -> None:
    """Remove the temporary files of `write_files` that were cut short by the end of their process."""
    for path in folder.glob(".*.tmp"):
        if _TEMPORARY.fullmatch(path.name):
            path.unlink(missing_ok=True)


def write_file(path: Path, content: bytes, lasting: bool = False) -> None:
    """Write one file, atomically."""
    if not path.name:
        raise InputError(f"{path}: is not the name of a file; give one.")
    write_files(path.parent, [(path.name, content)], lasting)


def _remove_empty(folders: list[Path]) -> None:
    for folder in folders:
        try:
            folder.rmdir()
        except OSError:  # something else was put there meanwhile
            return


def _unreadable(path: Path, error: Exception) -> InputError:
    return InputError(f"{path}: cannot be read ({_reason(error)}); check its name and permissions.")


def _reason(error: Exception) -> str:
    return (getattr(error, "strerror", None) or str(error) or type(error).__name__).lower()


def to_json(value: Any) -> str:
    """Strict JSON: NaN and infinities become null, NumPy's numbers and arrays plain ones."""
    text = json.dumps(_plain(value), indent=2, allow_nan=False, ensure_ascii=False)
    return text.encode("utf-8", "backslashreplace").decode()  # names that are no text become JSON's own escapes


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
