"""The members of zip archives: list their names, and refuse those that lead out of the archive."""

from __future__ import annotations

import zipfile
from pathlib import Path

from gradcon.damage import leaves_folder
from gradcon.errors import InputError
from gradcon.npz import open_zip


def zip_names(path: Path) -> list[str]:
    """List the members of a zip archive, or only the first one if the rest is damaged; any other file has none."""
    try:
        if not path.is_file():
            return []
        with open(path, "rb") as handle:
            head = handle.read(30)
            if not head.startswith(b"PK\x03\x04") or len(head) < 30:
                return []
            first = handle.read(int.from_bytes(head[26:28], "little")).decode("utf-8", "replace")
        with open_zip(path) as archive:
            return archive.namelist()
    except (zipfile.BadZipFile, InputError):  # reported when it is opened
        return [first]
    except (OSError, ValueError, NotImplementedError):
        return []


def refuse_escape(name: str, path: Path) -> None:
    """Refuse a member whose name leads out of the archive."""
    if leaves_folder(name.replace("\\", "/")):
        raise InputError(path, f"its member {name!r} leaves the archive", "write the archive again")
