"""Maps in PFM, which holds only values; in a folder of results, the result.json beside it says what they mean."""

from __future__ import annotations

from pathlib import Path

from gradcon.io import pfm
from gradcon.io.maps import folder
from gradcon.io.maps.map import Map


def read(path: Path) -> Map:
    """Read a PFM; one in a folder of results comes with its description."""
    if folder.is_map_file(path):
        return folder.read(path)
    return Map(pfm.read_pfm(path))


def encode(map_: Map) -> bytes:
    return pfm.encode(map_.values)


def losses(map_: Map) -> list[str]:
    known = map_.known()
    return [f"cannot carry {', '.join(known)}"] if known else []
