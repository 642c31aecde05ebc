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

Files = dict[str, Path]  # by names relative to the scene


def scene_sha256(path: Path, files: Files) -> str:
    """Of the names and contents of a scene's files."""
    named = sorted((name.encode("utf-8", "surrogateescape").hex(), _sha256(file)) for name, file in files.items())
    return sha256_of([path.name if path.is_file() else "", named])


class Watch:
    """Tells whether a scene was written to, by the sizes and times of its files, which are not read for that.

    A file that was changed and put back counts: what was between may have been read.
    """

    def __init__(self, path: Path, files: Files, output: Path) -> None:
        self.path, self.files, self.output = path, files, output
        self._before = _stamps(files)

    def changed(self) -> str | None:
        """Why a result cannot be kept under the hash of the files as they were when this was made."""
        try:
            if _stamps(self.files | _files_within(self.path, self.output)) == self._before:
                return None
        except InputError:  # one is gone
            pass
        return f"{self.path}: was changed after it was looked at; run it again."


def scene_files(path: Path, hints: Hints, output: Path) -> Files:
    """All that a scene's estimate may read.

    These are all files in its folder and below, whether they are read or not, and images that it names elsewhere; of a
    scene that is one file, that file; of a list of images (rig.toml), all in the list's folder, below which its images
    are.  Hidden files do not count, and neither does what lies in `output`.
    """
    files, root = _files_within(path, output), _root(path)
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


def _root(path: Path) -> Path:
    return path.parent if path.suffix.lower() == ".toml" else path


def _files_within(path: Path, output: Path) -> Files:
    root = _root(path)
    return {os.path.relpath(file, root): file for file in _walk(root, output.resolve())}


def _walk(root: Path, output: Path) -> Iterator[Path]:
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


def _stamps(files: Files) -> dict[str, tuple[int, int]]:
    try:
        found = {name: file.stat() for name, file in files.items()}
    except OSError as error:
        raise _unreadable(error.filename, error) from None
    return {name: (stat.st_size, stat.st_mtime_ns) for name, stat in found.items()}


def _refuse(error: OSError) -> None:
    raise _unreadable(error.filename, error)


def _unreadable(path: object, error: OSError) -> InputError:
    return InputError(f"{path}: cannot be read ({(error.strerror or str(error)).lower()}); check its permissions.")
