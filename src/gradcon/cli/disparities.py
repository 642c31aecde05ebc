"""Maps of disparity that a command is given, and whether one belongs to the view that it is meant for."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from gradcon.errors import InputError
from gradcon.io.listing import ImageFile, Listing, writable

if TYPE_CHECKING:
    from gradcon.io.maps import Map

_NUMBER = re.compile(r"\d+")
_FRAME = re.compile(r", frame \d+")  # what `gradcon estimate` adds to a video's name


def read_disparity(path: Path) -> Map:
    """The disparity of a result or of a map in a file, which may not say what it is."""
    from gradcon.io.maps import choose, read_maps

    maps = read_maps(path)
    if maps[0].quantity not in (None, "disparity"):
        raise InputError(
            f"{path}: holds {maps[0].name}, not a disparity; give a map of disparity, or a result's folder."
        )
    return choose(maps, path, "disparity" if maps[0].quantity is not None else None)[0]


def refuse_another_view(map_: Map, path: Path, scene: Listing) -> None:
    """Refuse a map that says it belongs to another view of the scene than its reference.

    Another name is not always another view: an archive or an array may call the same one differently, and files may
    have been given more zeros or fewer.  A name of the same kind that the scene does not have may be of a view that was
    removed, or of files that were numbered anew; and a map that says it is of another scene, such as one of the grid's
    middle alone, may count its views differently: of these a warning is given.
    """
    reference = writable(scene.reference.name)
    if map_.reference is None or map_.reference == reference:
        return
    listed = _listed(map_.reference, scene)
    if listed == reference or (listed is None and _NUMBER.sub("0", map_.reference) != _NUMBER.sub("0", reference)):
        return
    name = writable(scene.name or scene.source.resolve().name)
    of_another = map_.scene is not None and _FRAME.sub("", map_.scene) != name
    if not of_another and (listed is not None or _is_there(map_.reference, scene)):
        instead = f"add --reference {_quoted(listed)}, or " if listed is not None else ""
        raise InputError(
            f"{path}: is a map of {map_.reference}, but the reference of {scene.source} is {reference}; "
            f"{instead}give a map of {reference}."
        )
    of = f" of {map_.scene}" if of_another else ""
    print(
        f"WARNING: {path}: is a map of {map_.reference}{of}, taken for one of {reference} of {name}.", file=sys.stderr
    )


def _listed(name: str, scene: Listing) -> str | None:
    """The scene's name for the view called `name`: the same, or with other zeros before its numbers; else None."""
    names = [writable(view.name) for view in (scene.reference, *scene.views)]
    return name if name in names else next((own for own in names if _plain(own) == _plain(name)), None)


def _plain(name: str) -> str:
    return _NUMBER.sub(lambda digits: digits[0].lstrip("0") or "0", name)


def _is_there(name: str, scene: Listing) -> bool:
    """Whether such an image lies where the reference does: of a COLMAP model, only the nearest ones are listed."""
    read = scene.reference.read
    if not isinstance(read, ImageFile):
        return False
    return os.path.isfile(str(read.path).removesuffix(scene.reference.name) + name)


def refuse_another_size(map_: Map, path: Path, shape: tuple[int, int], what: str) -> None:
    """Refuse a map whose (height, width) is not that of `what`, a part of the sentence."""
    if map_.values.shape != shape:
        (height, width), (h, w) = map_.values.shape, shape
        raise InputError(
            f"{path}: is {width} x {height} pixels, but {what} is {w} x {h}; give a map that belongs to it."
        )


def _quoted(name: str) -> str:
    """As a shell takes it for one word."""
    return name if re.fullmatch(r"[\w./+-]+", name) else f'"{name}"'
