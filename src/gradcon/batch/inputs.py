"""Hashes everything that a scene's estimate may read, so that a changed scene is computed again."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from gradcon.errors import InputError
from gradcon.files import sha256_of_file
from gradcon.io.formats.format import Hints
from gradcon.io.formats.registry import list_scene
from gradcon.io.listing import ImageFile
from gradcon.jobs.job import sha256_of

Files = dict[str, Path]  # by names relative to the scene


def scene_sha256(path: Path, files: Files) -> str:
    """Hash the names and contents of a scene's files."""
    named = sorted(
        (name.encode("utf-8", "surrogateescape").hex(), sha256_of_file(file)) for name, file in files.items()
    )
    return sha256_of([path.name if path.is_file() else "", named])


class Watch:
    """Notices when a scene is written to, by the sizes and times of its files; it does not read them.

    A file that was changed and restored counts as changed, because the estimate may have read it in between.
    """

    def __init__(self, path: Path, files: Files, output: Path) -> None:
        self.path, self.files, self.output = path, files, output
        self._before = _stamps(files)

    def changed(self) -> str | None:
        """Return a sentence if the files are no longer those that were hashed, so that the result cannot be kept."""
        try:
            if _stamps(self.files | _files_within(self.path, self.output)) == self._before:
                return None
        except InputError:  # a file is gone
            pass
        return str(InputError(self.path, "was changed while the batch was running", "run the batch again"))


def scene_files(path: Path, hints: Hints, output: Path) -> Files:
    """Return all files that a scene's estimate may read.

    These are all files in the scene's folder and below, whether they are read or not, and the images elsewhere that it
    refers to.  If the scene is a single file, it is that file; if it is a list of images (rig.toml), all files in the
    list's folder.  Hidden files and everything in `output` are left out.
    """
    files, root = _files_within(path, output), _root(path)
    try:
        listing = list_scene(path, hints)
    except InputError:
        pass  # reported when the scene is estimated
    except OSError as error:
        raise _unreadable(error.filename or path, error) from None
    else:
        images = [view.read.path for view in listing.views if isinstance(view.read, ImageFile)]
        files |= {os.path.relpath(file, root): file for file in images}  # COLMAP puts them beside the model
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
        if real in seen or Path(real) == output:  # for instance a link to a folder above
            folders.clear()
            continue
        seen.add(real)
        yield from (Path(place, name) for name in names if _counts(name) and os.path.isfile(os.path.join(place, name)))


def _counts(name: str) -> bool:
    return not name.startswith(".") or name.startswith(".z")  # a Zarr array has .zarray and .zattrs


def _stamps(files: Files) -> dict[str, tuple[int, int]]:
    try:
        found = {name: file.stat() for name, file in files.items()}
    except OSError as error:
        raise _unreadable(error.filename, error) from None
    return {name: (stat.st_size, stat.st_mtime_ns) for name, stat in found.items()}


def _refuse(error: OSError) -> None:
    raise _unreadable(error.filename, error)


def _unreadable(path: object, error: OSError) -> InputError:
    reason = (error.strerror or str(error)).lower()
    return InputError(str(path), f"cannot be read ({reason})", "check its permissions")
