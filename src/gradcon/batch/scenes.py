"""Which scenes there are at the given paths, and what their folders in the output are called."""

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
from gradcon.io.format import Hints
from gradcon.io.formats import FORMATS
from gradcon.io.frames import IMAGE_SUFFIXES
from gradcon.io.outputs import is_output
from gradcon.io.pattern import compile_pattern
from gradcon.io.rig import RIG

LONGEST_NAME = 60  # letters, of up to four bytes: file systems take 255 bytes
_UNSAFE = re.compile(r"[^\w.+-]+")


class SceneFolder(NamedTuple):
    """A scene of a batch."""

    path: Path  # absolute
    folder: str  # of its result, in the batch's


def find_scenes(paths: Iterable[Path], hints: Hints, output: Path) -> list[Path]:
    """The scenes at the paths, each once: a folder that is none, but holds scenes, stands for these.

    What is no scene and holds none is kept: that it cannot be opened is said with the results of the others.
    """
    if hints.pattern is not None:
        compile_pattern(hints.pattern)  # a mistake in it is none of the scenes'
    found: dict[Path, None] = {}
    for path in paths:
        try:
            there = path.resolve(strict=True)
        except (OSError, ValueError, RuntimeError):
            raise InputError(f"{path}: there is no such folder or file; check the path.") from None
        inside = [] if _may_be_scene(there, hints) or not there.is_dir() else _inside(there, hints)
        if output.resolve() in (there, *inside):
            raise InputError(f"{output}: is the folder to write into, and of the scenes; give another for the results.")
        found |= dict.fromkeys(inside or [there])
    if not found:
        raise InputError("scenes: none is given; name folders or files of views.")
    return list(found)


def unrecognised(paths: Iterable[Path], scenes: Sequence[Path]) -> list[Path]:
    """Folders of images beside the scenes that `find_scenes` has found at the paths, of which it could make nothing."""
    folders = [path.resolve() for path in paths if path.is_dir() and path.resolve() not in scenes]
    beside = [child.resolve() for folder in folders for child in files_in(folder) if _counts(child)]
    return [child for child in dict.fromkeys(beside) if child not in scenes and _holds_images(child)]


def is_scene(path: Path, hints: Hints) -> bool:
    """Whether a path is taken for a scene; it may still turn out to be a damaged one."""
    if hints.pattern is not None:  # by which every folder is a scene
        expression = compile_pattern(hints.pattern)
        return path.is_dir() and any(expression.fullmatch(file.name) for file in files_in(path))
    return any(known.recognise(path, hints) for known in FORMATS)


def _may_be_scene(path: Path, hints: Hints) -> bool:
    """Or it cannot be looked at: then this is said with the results of the others."""
    try:
        return is_scene(path, hints)
    except (InputError, OSError):
        return True


def _inside(folder: Path, hints: Hints) -> list[Path]:
    there = [child.resolve() for child in files_in(folder) if _counts(child)]
    return [child for child in there if _may_be_scene(child, hints) and not _holds_maps(child)]


def _counts(child: Path) -> bool:
    """Neither hidden, nor a broken link."""
    return not child.name.startswith(".") and (os.path.isdir(child) or os.path.isfile(child))


def _holds_images(folder: Path) -> bool:
    try:
        images = [file for file in files_in(folder) if file.suffix.lower() in IMAGE_SUFFIXES] if folder.is_dir() else []
    except InputError:
        return False
    return len(images) > 1 and not is_output(folder)


def _holds_maps(path: Path) -> bool:
    """Whether it is a result that was converted to an archive."""
    if path.suffix.lower() != ".npz":
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            return "disparity.npy" in archive.namelist()
    except (OSError, ValueError, NotImplementedError, zipfile.BadZipFile):  # said when it is opened
        return False


def name_folders(
    paths: Sequence[Path],
    taken: Mapping[str, str],
    reserved: Iterable[str],
    holds: Callable[[str, Path], bool] = lambda folder, path: False,
) -> list[SceneFolder]:
    """A folder for each scene: named like it, with the names of folders above it where two would be the same.

    A scene that has one (`taken`, by folder) keeps it, and so does one that was only moved: where the scene that had a
    folder is gone, and the folder `holds` the result of the one that is here now.
    """
    owned = {path: folder for folder, path in taken.items()}
    used = {name.casefold() for name in [*reserved, *taken]}  # some file systems do not tell cases apart
    new = [path for path in paths if str(path) not in owned]
    own_names = Counter(_name(path, 1).casefold() for path in new)
    entries: list[SceneFolder] = []
    moved: set[str] = set()
    for path in paths:
        if str(path) in owned:
            entries.append(SceneFolder(path, owned[str(path)]))
            continue
        before = _name(path, 1)
        if before in taken and before not in moved and not Path(taken[before]).exists() and holds(before, path):
            moved.add(before)  # of two copies of it, to the first
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
    """Of the scene and depth - 1 folders above it, for any file system."""
    own = path.parent if path.name.lower() == RIG else path
    parts = [*own.parts[:-1], own.stem if path.is_file() and own is path else own.name]
    name = _UNSAFE.sub("_", "-".join(part for part in parts[-depth:] if part != path.anchor)).strip(".")
    return name[-LONGEST_NAME:].lstrip(".") or "scene"
