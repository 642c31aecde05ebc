"""Maps in PFM: the values alone; in a folder of results, the result.json beside them says what they mean."""

from __future__ import annotations

from pathlib import Path

from gradcon.io import pfm
from gradcon.io.maps import folder
from gradcon.io.maps.map import Map


def read(path: Path) -> Map:
    """The map in a PFM, described where it is one of a folder of results."""
    if path.name in folder.FILES.values() and (path.parent / folder.SUMMARY).is_file():
        return folder.read(path.parent, path.name)
    return Map(pfm.read_pfm(path))


def encode(map_: Map) -> bytes:
    return pfm.encode(map_.values)


def losses(map_: Map) -> list[str]:
    known = map_.known()
    return [f"cannot carry {', '.join(known)}"] if known else []
