"""Maps in files, which `gradcon convert` reads and writes; each format has its own module.

The suffix of a file decides its format.  A map that a format cannot hold completely is refused, and `losses` says what
would be lost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from gradcon.errors import InputError
from gradcon.files import as_path, file_size, write_file
from gradcon.io.maps import exr_map, folder, npz_map, pfm_map, png_map, tiff_map
from gradcon.io.maps.map import QUANTITIES, Map, Steps, current_name

__all__ = ["FORMATS", "QUANTITIES", "Map", "MapFormat", "Steps", "losses", "read_map", "read_maps", "write_map"]


@dataclass(frozen=True)
class MapFormat:
    """A format of map files: how to read and encode them, and what a map loses in them.

    `encode` gets only the maps that one file can hold, which is a single one unless the format holds `several`.
    """

    name: str
    suffixes: tuple[str, ...]
    read: Callable[[Path], list[Map]]
    encode: Callable[[Sequence[Map]], bytes]
    losses: Callable[[Map], list[str]] = lambda _: []
    several: bool = False  # whether one file can hold several maps


def _single(
    name: str,
    suffixes: tuple[str, ...],
    read: Callable[[Path], Map],
    encode: Callable[[Map], bytes],
    losses: Callable[[Map], list[str]] = lambda _: [],
) -> MapFormat:
    return MapFormat(name, suffixes, lambda path: [read(path)], lambda maps: encode(maps[0]), losses)


FORMATS = (
    _single("PFM", (".pfm",), pfm_map.read, pfm_map.encode, pfm_map.losses),
    _single("TIFF", (".tif", ".tiff"), tiff_map.read, tiff_map.encode),
    _single("16-bit PNG", (".png",), png_map.read, png_map.encode, png_map.losses),
    MapFormat("NPZ", (".npz",), npz_map.read, npz_map.encode, several=True),
    _single("OpenEXR", (".exr",), exr_map.read, exr_map.encode),
)


def format_of(path: Path) -> MapFormat:
    """Return the format of a file, by its suffix."""
    for known in FORMATS:
        if path.suffix.lower() in known.suffixes:
            return known
    every = ", ".join(suffix for known in FORMATS for suffix in known.suffixes)
    raise InputError(path, f"its suffix {path.suffix!r} is not that of a map format", f"use one of {every}")


def read_maps(path: str | Path) -> list[Map]:
    """Read all maps of a file, or of a folder that `gradcon estimate` wrote; the disparity comes first."""
    path = as_path(path)
    if path.is_dir():
        return folder.read_all(path)
    file_size(path)  # first check that it exists: a missing folder has no suffix to complain about
    return format_of(path).read(path)


def read_map(path: str | Path, quantity: str | None = None) -> Map:
    """Read one map and what its values mean.

    Parameters
    ----------
    path : str or Path
        A .pfm, .tif, .tiff, .png, .npz or .exr file, or a folder that `gradcon estimate` wrote.
    quantity : {"disparity", "uncertainty", "depth"}, optional
        Which map to read if there are several.

    Raises
    ------
    InputError
        There is no such map, or the file is damaged, or it does not say what its values mean.
    """
    return choose(read_maps(path), path, quantity)[0]


def choose(maps: list[Map], path: str | Path, quantity: str | None, *, several: bool = False) -> list[Map]:
    """Return the maps of a quantity; if none is given, the only map, or all of them if `several` are allowed."""
    names = ", ".join(map_.name for map_ in maps)
    if quantity is None:
        if len(maps) > 1 and not several:
            raise InputError(path, f"holds several maps ({names})", "choose one by its quantity")
        return maps
    quantity = current_name(quantity)
    if quantity not in QUANTITIES:
        raise InputError("quantity", f"{quantity!r} is not known", f"use one of {', '.join(QUANTITIES)}")
    chosen = [map_ for map_ in maps if map_.quantity == quantity]
    if not chosen:
        unsure = " of unknown quantity" if maps[0].quantity is None else ""
        problem = f"holds no {quantity}, only {names}{unsure}"
        raise InputError(path, problem, "leave the quantity out, or choose another")
    return chosen


def losses(path: str | Path, maps: Sequence[Map]) -> list[str]:
    """List what would be lost by writing maps to this file, each as a predicate: "cannot carry unit"."""
    target = format_of(Path(path))
    if target.several or len(maps) == 1:
        return [loss for map_ in maps for loss in target.losses(map_)]
    left = " and ".join(map_.name for map_ in maps[1:])
    return [f"holds the {maps[0].name} alone, without {left}", *target.losses(maps[0])]


def write_map(path: str | Path, maps: Map | Sequence[Map], *, lossy: bool = False) -> list[str]:
    """Write a map atomically, in the format that the file's suffix names.

    Parameters
    ----------
    path : str or Path
        A file that exists is replaced.
    maps : Map, or a sequence of them
        Only an .npz can hold several; in other formats the first one is written.
    lossy : bool
        Write even if the format cannot hold everything.

    Returns
    -------
    list of str
        What was lost, which is nothing unless `lossy`.
    """
    path = as_path(path)
    given = [maps] if isinstance(maps, Map) else list(maps)
    if not given:
        raise InputError("maps", f"there is no map to write into {path}", "give at least one")
    lost = losses(path, given)
    if lost and not lossy:
        raise InputError(path, "; ".join(lost), "choose another format, or pass lossy=True to accept the loss")
    target = format_of(path)
    write_file(path, target.encode(given if target.several else given[:1]))
    return lost
