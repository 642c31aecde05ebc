"""Maps of disparity that a command is given, and whether one belongs to the view that it is meant for."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from gradcon.errors import InputError
from gradcon.io.listing import Listing, writable

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
    """Refuse a map that says it belongs to another view than the scene's reference.

    Another name is not always another view: an archive or an array may call the same one differently.  It is where
    the scene has a view of that name, or names its views in the same way, numbers apart.  A map that says it is of
    another scene, such as one of the grid's middle alone, may count its views differently: of that a warning is given.
    """
    reference = writable(scene.reference.name)
    if map_.reference is None or map_.reference == reference:
        return
    listed = map_.reference in {writable(view.name) for view in scene.views}
    if not listed and _NUMBER.sub("0", map_.reference) != _NUMBER.sub("0", reference):
        return
    name = writable(scene.name or scene.source.resolve().name)
    if map_.scene is None or _FRAME.sub("", map_.scene) == name:
        raise InputError(
            f"{path}: is a map of {map_.reference}, but the reference of {scene.source} is {reference}; "
            f"add --reference {_quoted(map_.reference)}, or give a map of {reference}."
        )
    print(
        f"WARNING: {path}: is a map of {map_.reference} of {map_.scene}, taken for one of {reference} of {name}.",
        file=sys.stderr,
    )


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
