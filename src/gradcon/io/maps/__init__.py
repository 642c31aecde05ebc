"""Maps in files, one file a format: what `gradcon convert` reads and writes.

A map's name decides its format.  What a format cannot hold is refused, not dropped: `losses` says what it would be.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from gradcon.errors import InputError
from gradcon.files import file_size, write_file
from gradcon.io.maps import exr_map, folder, npz_map, pfm_map, png_map, tiff_map
from gradcon.io.maps.map import QUANTITIES, Map, Steps

__all__ = ["FORMATS", "QUANTITIES", "Map", "MapFormat", "Steps", "losses", "read_map", "read_maps", "write_map"]


@dataclass(frozen=True)
class MapFormat:
    """A format of map files: how they are read and encoded, and what a map loses in one.

    `encode` is given maps without those that the format has no place for; one of a single map is given one.
    """

    name: str
    suffixes: tuple[str, ...]
    read: Callable[[Path], list[Map]]
    encode: Callable[[Sequence[Map]], bytes]
    losses: Callable[[Map], list[str]] = lambda _: []
    several: bool = False  # maps in one file


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
    """The format of a file by its suffix."""
    for known in FORMATS:
        if path.suffix.lower() in known.suffixes:
            return known
    every = ", ".join(suffix for known in FORMATS for suffix in known.suffixes)
    raise InputError(f"{path}: its suffix {path.suffix!r} names no format of maps; use one of {every}.")


def read_maps(path: str | Path) -> list[Map]:
    """All maps of a file, or of a folder that `gradcon estimate` wrote; the disparity first."""
    path = Path(path)
    if path.is_dir():
        return folder.read_all(path)
    file_size(path)  # before its suffix, which a missing folder has not
    return format_of(path).read(path)


def read_map(path: str | Path, quantity: str | None = None) -> Map:
    """Read one map, with what its values mean.

    Parameters
    ----------
    path : str or Path
        A .pfm, .tif, .tiff, .png, .npz or .exr file, or a folder that `gradcon estimate` wrote.
    quantity : {"disparity", "uncertainty", "depth"}, optional
        Which map, where there are several.

    Raises
    ------
    InputError
        There is no such map, or the file is damaged or does not say what its values mean.
    """
    return choose(read_maps(path), path, quantity)[0]


def choose(maps: list[Map], path: str | Path, quantity: str | None, *, several: bool = False) -> list[Map]:
    """Those of `quantity`, where one is given; without one, the only map, or all where `several` may be."""
    names = ", ".join(map_.name for map_ in maps)
    if quantity is None:
        if len(maps) > 1 and not several:
            raise InputError(f"{path}: holds several maps ({names}); say which of them is meant by its quantity.")
        return maps
    if quantity not in QUANTITIES:
        raise InputError(f"quantity: {quantity!r} is not one of {', '.join(QUANTITIES)}.")
    chosen = [map_ for map_ in maps if map_.quantity == quantity]
    if not chosen:
        unsure = " of unknown quantity" if maps[0].quantity is None else ""
        raise InputError(f"{path}: holds no {quantity}, only {names}{unsure}; leave the quantity out or name another.")
    return chosen


def losses(path: str | Path, maps: Sequence[Map]) -> list[str]:
    """What writing maps to a file of this name would lose, as ends of a sentence about the file; often nothing."""
    target = format_of(Path(path))
    if target.several or len(maps) == 1:
        return [loss for map_ in maps for loss in target.losses(map_)]
    left = " and ".join(map_.name for map_ in maps[1:])
    return [f"holds the {maps[0].name} alone, without {left}", *target.losses(maps[0])]


def write_map(path: str | Path, maps: Map | Sequence[Map], *, lossy: bool = False) -> list[str]:
    """Write a map, atomically, in the format of the file's suffix.

    Parameters
    ----------
    path : str or Path
        Replaced where it exists.
    maps : Map, or a sequence of them
        Several can be held by .npz alone; elsewhere the first is written.
    lossy : bool
        Write even if the file cannot hold all that the map is.

    Returns
    -------
    list of str
        What was lost: nothing unless `lossy`.
    """
    path = Path(path)
    given = [maps] if isinstance(maps, Map) else list(maps)
    if not given:
        raise InputError(f"{path}: there is no map to write into it.")
    lost = losses(path, given)
    if lost and not lossy:
        raise InputError(f"{path}: {'; '.join(lost)}; choose another format, or force it if that may be lost.")
    target = format_of(path)
    write_file(path, target.encode(given if target.several else given[:1]))
    return lost
