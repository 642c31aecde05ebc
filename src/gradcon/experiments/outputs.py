"""Writing into a folder that may hold a user's own files: none of them is overwritten.

`manifest.json` lists what was written there, with hashes.  A file that is in the way and is not in the list, or was
changed since, is refused by name, before the long work rather than after it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable
from pathlib import Path

from gradcon.errors import InputError
from gradcon.files import read_bytes, to_json, write_file, write_files

MANIFEST = "manifest.json"
MANIFEST_FORMAT = "gradcon-manifest-1"


def refuse_foreign(folder: Path, names: Iterable[str]) -> None:
    """An InputError if one of `names` exists in `folder` and was not written by `write`."""
    ours = _manifest(folder)
    for name in names:
        path = folder / name
        if not path.exists() and not path.is_symlink():
            continue
        if not path.is_file() or _sha256(path.read_bytes()) not in ours.get(name, []):
            raise InputError(
                f"{path}: is not as `gradcon reproduce` wrote it, and would be overwritten; "
                "move it away, or choose another folder."
            )


def write(folder: Path, files: dict[str, bytes], keep: Collection[str] = ()) -> None:
    """Write `files` into `folder`, all or none, and note them.

    What was written there earlier and is neither among them nor in `keep` is removed, unless it was changed since.
    """
    refuse_foreign(folder, files)
    ours = _manifest(folder)
    new = {name: [_sha256(content)] for name, content in files.items()}
    # First both, then the new alone: if this is cut short in between, either file is known as ours.
    write_file(folder / MANIFEST, _encode({name: ours.get(name, []) + new.get(name, []) for name in ours | new}))
    write_files(folder, files.items())
    for name in ours.keys() - new.keys() - set(keep):
        path = folder / Path(name).name
        if path.is_file() and _sha256(path.read_bytes()) in ours.pop(name):
            path.unlink()
    write_file(folder / MANIFEST, _encode(ours | new))


def _manifest(folder: Path) -> dict[str, list[str]]:
    path = folder / MANIFEST
    if not path.exists():
        return {}
    try:
        kept = json.loads(read_bytes(path))
        if kept["format"] != MANIFEST_FORMAT:
            raise ValueError
        return {str(name): [str(one) for one in hashes] for name, hashes in kept["files"].items()}
    except (ValueError, LookupError, TypeError, AttributeError):
        raise InputError(
            f"{path}: is not the list of files that `gradcon reproduce` writes; choose another folder."
        ) from None


def _encode(files: dict[str, list[str]]) -> bytes:
    return (to_json({"format": MANIFEST_FORMAT, "files": files}) + "\n").encode()


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
