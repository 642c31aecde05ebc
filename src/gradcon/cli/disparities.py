"""Disparity maps that a command is given, and whether they belong to the reference of its scene."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from gradcon.cli.app import say
from gradcon.errors import InputError
from gradcon.io.listing import ImageFile, Listing, writable

if TYPE_CHECKING:
    from gradcon.io.maps import Map
    from gradcon.scene import Scene

_NUMBER = re.compile(r"\d+")
_FRAME = re.compile(r", frame \d+")  # `gradcon estimate` adds it to the name of a video


def read_disparity(path: Path) -> Map:
    """Read the disparity of a result or of a file, which need not state its quantity."""
    from gradcon.io.maps import choose, read_maps

    maps = read_maps(path)
    if maps[0].quantity not in (None, "disparity"):
        raise InputError(path, f"holds {maps[0].name}, not disparity", "give a disparity map, or a result's folder")
    return choose(maps, path, "disparity" if maps[0].quantity is not None else None)[0]


def refuse_another_view(map_: Map, path: Path, scene: Listing) -> None:
    """Refuse a map that states another view of the scene than its reference.

    A different name need not mean a different view: an archive or an array may name the same view differently, and
    files may have been padded with more or fewer zeros.  A warning is given in two doubtful cases.  The scene may lack
    a view of that kind of name, because it was removed or the files were renumbered.  And the map may state another
    scene, such as a crop of the grid, whose views are counted differently.
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
        problem = f"is a map of {map_.reference}, but the reference of {scene.source} is {reference}"
        raise InputError(path, problem, f"{instead}give a map of {reference}")
    of = f" of {map_.scene}" if of_another else ""
    say(f"WARNING: {path}: is a map of {map_.reference}{of}, but is used as one of {reference} of {name}.", aside=True)


def _listed(name: str, scene: Listing) -> str | None:
    """Return the scene's name for a view, which may differ in leading zeros; None if there is no such view."""
    names = [writable(view.name) for view in (scene.reference, *scene.views)]
    return name if name in names else next((own for own in names if _plain(own) == _plain(name)), None)


def _plain(name: str) -> str:
    return _NUMBER.sub(lambda digits: digits[0].lstrip("0") or "0", name)


def _is_there(name: str, scene: Listing) -> bool:
    """Return whether an image exists next to the reference; a COLMAP model lists only the nearest ones."""
    read = scene.reference.read
    if not isinstance(read, ImageFile):
        return False
    return os.path.isfile(str(read.path).removesuffix(scene.reference.name) + name)


def warn_of_other_pixels(path: Path, scene: Scene) -> None:
    """Warn if a result was estimated from another image than the scene's reference.

    It is not an error: a result of a degraded copy is often compared with the truth of the original.  A map without a
    result.json beside it, or with one of an older version, does not tell.
    """
    from gradcon.io.maps.folder import entry, is_map_file, read_summary

    if not (path.is_dir() or is_map_file(path)):
        return
    source = entry(read_summary(path if path.is_dir() else path.parent), "source")
    stated = source.get("reference_sha256")
    if stated is not None and stated != scene.reference_fingerprint():
        name = f"{scene.reference_name} of {scene.name}"
        say(f"WARNING: {path}: was estimated from other pixels than those of {name}.", aside=True)


def refuse_another_size(map_: Map, path: Path, shape: tuple[int, int], what: str) -> None:
    """Refuse a map whose (height, width) is not `shape`, the size of `what`."""
    if map_.values.shape != shape:
        (height, width), (h, w) = map_.values.shape, shape
        problem = f"is {width} x {height} pixels, but {what} is {w} x {h}"
        raise InputError(path, problem, "give a map that belongs to it")


def _quoted(name: str) -> str:
    """Quote a name for the shell."""
    return name if re.fullmatch(r"[\w./+-]+", name) else f'"{name}"'
