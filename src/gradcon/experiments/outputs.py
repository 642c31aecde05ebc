"""Writing into a folder without overwriting the user's own files there.

`manifest.json` lists the files that were written, with their hashes.  Any other file that would be overwritten, or one
that was changed since, is reported before the long work starts rather than after it.
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
    """Raise an InputError if one of `names` exists in `folder` and is not as `write` left it."""
    ours = _manifest(folder)
    for name in names:
        path = folder / name
        if not path.exists() and not path.is_symlink():
            continue
        if not path.is_file() or _sha256(path.read_bytes()) not in ours.get(name, []):
            raise InputError(
                path,
                "was not written by `gradcon reproduce`, or was changed since, and would be overwritten",
                "move it away, or choose another folder",
            )


def write(folder: Path, files: dict[str, bytes], keep: Collection[str] = ()) -> None:
    """Write `files` into `folder`, all or none, and list them in the manifest.

    Files that were written earlier and are neither among `files` nor in `keep` are removed, unless they were changed.
    """
    refuse_foreign(folder, files)
    ours = _manifest(folder)
    new = {name: [_sha256(content)] for name, content in files.items()}
    # List both the old and the new hashes while writing: if it is interrupted, either file is still known as ours.
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
        problem = "is not the list of files that `gradcon reproduce` writes"
        raise InputError(path, problem, "move it away, or choose another folder") from None


def _encode(files: dict[str, list[str]]) -> bytes:
    return (to_json({"format": MANIFEST_FORMAT, "files": files}) + "\n").encode()


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
