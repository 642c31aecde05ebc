"""The members of zip archives: list their names, and refuse those that lead out of the archive."""

from __future__ import annotations

import zipfile
from pathlib import Path, PurePosixPath

from gradcon.errors import InputError


def zip_names(path: Path) -> list[str]:
    """List the members of a zip archive, or only the first one if the rest is damaged; any other file has none."""
    try:
        with open(path, "rb") as handle:
            head = handle.read(30)
            if not head.startswith(b"PK\x03\x04") or len(head) < 30:
                return []
            first = handle.read(int.from_bytes(head[26:28], "little")).decode("utf-8", "replace")
        with zipfile.ZipFile(path) as archive:
            return archive.namelist()
    except zipfile.BadZipFile:
        return [first]
    except (OSError, ValueError, NotImplementedError):
        return []


def refuse_escape(name: str, path: Path) -> None:
    """Refuse a member whose name leads out of the archive."""
    parts = PurePosixPath(name.replace("\\", "/")).parts
    if ".." in parts or name.startswith(("/", "\\")) or ":" in name or "\0" in name:
        raise InputError(path, f"its member {name!r} leaves the archive", "write the archive again")
