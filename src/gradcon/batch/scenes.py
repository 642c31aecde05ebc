"""Finds the scenes at the given paths, and names their folders in the output."""

from __future__ import annotations

import os
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from gradcon.errors import InputError
from gradcon.files import files_in
from gradcon.io.formats.format import Hints
from gradcon.io.formats.frames import IMAGE_SUFFIXES
from gradcon.io.formats.pattern import compile_pattern
from gradcon.io.formats.registry import FORMATS
from gradcon.io.formats.rig import RIG
from gradcon.io.outputs import is_output
from gradcon.npz import open_zip

LONGEST_NAME = 60  # characters of up to four bytes; file systems allow 255 bytes
_UNSAFE = re.compile(r"[^\w.+-]+")


class SceneFolder(NamedTuple):
    """A scene of a batch and the name of its result's folder."""

    path: Path  # absolute
    folder: str  # within the batch's folder


def find_scenes(paths: Iterable[Path], hints: Hints, output: Path) -> list[Path]:
    """Find the scenes at the paths, each once; a folder that is not a scene but holds some stands for them.

    A path that neither is nor holds a scene is kept: it is reported, with the results of the others, as one that cannot
    be opened.
    """
    if hints.pattern is not None:
        compile_pattern(hints.pattern)  # report a mistake in it once, not for every scene
    found: dict[Path, None] = {}
    for path in paths:
        try:
            there = path.resolve(strict=True)
        except (OSError, ValueError, RuntimeError):
            raise InputError(path, "there is no such folder or file", "check the path") from None
        inside = [] if _may_be_scene(there, hints) or not there.is_dir() else _inside(there, hints)
        if output.resolve() in (there, *inside):
            raise InputError(output, "is one of the scenes' folders", "choose another folder for the results")
        found |= dict.fromkeys(inside or [there])
    if not found:
        raise InputError("scenes", "none is given", "name folders or files of views")
    return list(found)


def unrecognised(paths: Iterable[Path], scenes: Sequence[Path]) -> list[Path]:
    """Return the folders of images that lie beside the scenes at the paths but were not recognised as scenes."""
    folders = [path.resolve() for path in paths if path.is_dir() and path.resolve() not in scenes]
    beside = [child.resolve() for folder in folders for child in files_in(folder) if _counts(child)]
    return [child for child in dict.fromkeys(beside) if child not in scenes and _holds_images(child)]


def is_scene(path: Path, hints: Hints) -> bool:
    """Return whether a path looks like a scene; it may still turn out to be damaged."""
    if hints.pattern is not None:  # any folder with a matching file is a scene
        expression = compile_pattern(hints.pattern)
        return path.is_dir() and any(expression.fullmatch(file.name) for file in files_in(path))
    return any(known.recognise(path, hints) for known in FORMATS)


def _may_be_scene(path: Path, hints: Hints) -> bool:
    """Return whether a path is a scene or cannot be read, which is then reported with the results of the others."""
    try:
        return is_scene(path, hints)
    except (InputError, OSError):
        return True


def _inside(folder: Path, hints: Hints) -> list[Path]:
    there = [child.resolve() for child in files_in(folder) if _counts(child)]
    return [child for child in there if _may_be_scene(child, hints) and not _holds_maps(child)]


def _counts(child: Path) -> bool:
    """Return whether a path is neither hidden nor a broken link."""
    return not child.name.startswith(".") and (os.path.isdir(child) or os.path.isfile(child))


def _holds_images(folder: Path) -> bool:
    try:
        images = [file for file in files_in(folder) if file.suffix.lower() in IMAGE_SUFFIXES] if folder.is_dir() else []
    except InputError:
        return False
    return len(images) > 1 and not is_output(folder)


def _holds_maps(path: Path) -> bool:
    """Return whether a file is a result that was converted to an archive."""
    if path.suffix.lower() != ".npz":
        return False
    try:
        with open_zip(path) as archive:
            return "disparity.npy" in archive.namelist()
    except (OSError, ValueError, NotImplementedError, zipfile.BadZipFile):  # reported when it is opened
        return False


def name_folders(
    paths: Sequence[Path],
    taken: Mapping[str, str],
    reserved: Iterable[str],
    holds: Callable[[str, Path], bool] = lambda folder, path: False,
) -> list[SceneFolder]:
    """Name a folder for each scene: its own name, preceded by those of the folders above it if two would be the same.

    A scene that already has a folder (`taken`, by folder) keeps it.  So does a scene that was moved: its path is new,
    but the scene that had the folder is gone, and the folder `holds` the new one's result.
    """
    owned = {path: folder for folder, path in taken.items()}
    used = {name.casefold() for name in [*reserved, *taken]}  # some file systems ignore the case of letters
    new = [path for path in paths if str(path) not in owned]
    own_names = Counter(_name(path, 1).casefold() for path in new)
    entries: list[SceneFolder] = []
    moved: set[str] = set()
    for path in paths:
        if str(path) in owned:
            entries.append(SceneFolder(path, owned[str(path)]))
            continue
        before = _name(path, 1)
        if before in taken and before not in moved and not os.path.exists(taken[before]) and holds(before, path):
            moved.add(before)  # the first of two copies gets the folder
            entries.append(SceneFolder(path, before))
            continue
        depth = 2 if own_names[_name(path, 1).casefold()] > 1 else 1
        while (name := _name(path, depth)).casefold() in used and depth < len(path.parts):
            depth += 1
        number = 2
        while name.casefold() in used:
            name, number = f"{_name(path, 1)}-{number}", number + 1
        used.add(name.casefold())
        entries.append(SceneFolder(path, name))
    return entries


def _name(path: Path, depth: int) -> str:
    """Join the names of the scene and of `depth - 1` folders above it, so that any file system accepts the result."""
    own = path.parent if path.name.lower() == RIG else path
    parts = [*own.parts[:-1], own.stem if path.is_file() and own is path else own.name]
    name = _UNSAFE.sub("_", "-".join(part for part in parts[-depth:] if part != path.anchor)).strip(".")
    return name[-LONGEST_NAME:].lstrip(".") or "scene"
