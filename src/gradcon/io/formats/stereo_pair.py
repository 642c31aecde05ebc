"""A folder of two images, or two videos: a stereo pair, whose right camera stands one step to the right."""

from __future__ import annotations

import os
import re
from pathlib import Path

from gradcon.files import files_in
from gradcon.io.formats.format import Format, Hints
from gradcon.io.formats.frames import open_views
from gradcon.io.formats.image_folder import images_or_videos_in
from gradcon.io.listing import Listing, View, find_reference, stands_at
from gradcon.io.outputs import is_output

# "left" anywhere in a name, or a letter L that stands alone (l.png, scene_L_01.png) or ends a word (camL.png).
_LEFT = re.compile(r"(?i:left)|(?<![A-Za-z])[lL](?![A-Za-z])|(?<=[a-z])L(?![A-Za-z])")
_RIGHT = re.compile(r"(?i:right)|(?<![A-Za-z])[rR](?![A-Za-z])|(?<=[a-z])R(?![A-Za-z])")
_LIGHT_FIELDS = (".npy", ".npz", ".h5", ".hdf5", ".zarr", ".toml")


def list_pair(folder: Path, hints: Hints) -> Listing:
    """List the two views; the reference is the left one unless `hints` names the other."""
    (left, right), _ = _sides(images_or_videos_in(folder))
    reads, frames = open_views([left, right])
    views = [
        View(path.name, stands_at(0, column), read)
        for column, (path, read) in enumerate(zip((left, right), reads, strict=True))
    ]
    chosen = find_reference(views, hints.reference, left.name, folder)
    metadata = {"format": "stereo pair", "left": left.name, "right": right.name}
    return Listing(folder, views, chosen, metadata=metadata, frames=frames)


def _sides(pair: list[Path]) -> tuple[tuple[Path, Path], bool]:
    """Return the left and the right image, and whether their names say so; otherwise the first is the left one."""
    first, second = pair
    if _LEFT.search(second.stem) and _RIGHT.search(first.stem):
        return (second, first), True
    return (first, second), bool(_LEFT.search(first.stem) and _RIGHT.search(second.stem))


def _recognise(path: Path, hints: Hints) -> str | None:
    if hints.grid is not None or hints.slide:
        return None
    if not path.is_dir() or len(pair := images_or_videos_in(path)) != 2:
        return None
    (left, right), named = _sides(pair)
    if not named and _holds_other_scenes(path):
        return None
    sides = f"{left.name} from the left and {right.name} from the right"
    return f"it holds two images, {sides}" if named else f"it holds two images, which are taken for {sides}"


def _holds_other_scenes(folder: Path) -> bool:
    """Return whether the two images may be pictures beside scenes rather than a scene of their own."""
    visible = [path for path in files_in(folder) if not path.name.startswith(".") and not is_output(path)]
    return any(os.path.isdir(path) or path.suffix.lower() in _LIGHT_FIELDS for path in visible)


STEREO_PAIR = Format("a stereo pair", _recognise, list_pair)
