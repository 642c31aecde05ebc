"""The hash of all that a scene's estimate may read, so that a changed scene is computed again."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from gradcon.errors import InputError
from gradcon.io.format import Hints
from gradcon.io.formats import list_scene
from gradcon.io.listing import ImageFile
from gradcon.jobs.job import sha256_of

Stamps = dict[str, tuple[int, int, int]]  # by a file's name: how to tell that it was written to, without reading it


def scene_sha256(path: Path, files: dict[str, Path]) -> str:
    """Of the names and contents of a scene's files."""
    named = sorted((name.encode("utf-8", "surrogateescape").hex(), _sha256(file)) for name, file in files.items())
    return sha256_of([path.name if path.is_file() else "", named])


def stamps(files: dict[str, Path]) -> Stamps:
    """Of a scene's files."""
    return {name: _stamp(file) for name, file in files.items()}


def scene_files(path: Path, hints: Hints, output: Path) -> dict[str, Path]:
    """All that a scene's estimate may read, by names relative to the scene.

    These are all files in its folder and below, whether they are read or not, and images that it names elsewhere; of a
    scene that is one file, that file; of a list of images (rig.toml), all in the list's folder, below which its images
    are.  Hidden files do not count, and neither does what lies in `output`.
    """
    root = path.parent if path.suffix.lower() == ".toml" else path
    files = {os.path.relpath(file, root): file for file in _files(root, output.resolve())}
    try:
        listing = list_scene(path, hints)
    except InputError:
        pass  # said when the scene is estimated
    except OSError as error:
        raise _unreadable(error.filename or path, error) from None
    else:
        images = [view.read.path for view in listing.views if isinstance(view.read, ImageFile)]
        files |= {os.path.relpath(file, root): file for file in images}  # of COLMAP they are beside the model
    return files


def _files(root: Path, output: Path) -> Iterator[Path]:
    if not root.is_dir():
        yield root
        return
    seen: set[str] = set()
    for place, folders, names in os.walk(root, followlinks=True, onerror=_refuse):
        real = os.path.realpath(place)
        folders[:] = [name for name in folders if _counts(name)]
        if real in seen or Path(real) == output:  # a link to a folder above, for instance
            folders.clear()
            continue
        seen.add(real)
        yield from (Path(place, name) for name in names if _counts(name) and os.path.isfile(os.path.join(place, name)))


def _counts(name: str) -> bool:
    return not name.startswith(".") or name.startswith(".z")  # the .zarray and .zattrs of a Zarr array


def _sha256(path: Path) -> str:
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise _unreadable(path, error) from None


def _stamp(path: Path) -> tuple[int, int, int]:
    try:
        found = path.stat()
    except OSError as error:
        raise _unreadable(path, error) from None
    return found.st_size, found.st_mtime_ns, found.st_ino


def _refuse(error: OSError) -> None:
    raise _unreadable(error.filename, error)


def _unreadable(path: object, error: OSError) -> InputError:
    return InputError(f"{path}: cannot be read ({(error.strerror or str(error)).lower()}); check its permissions.")
