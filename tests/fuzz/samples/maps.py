"""Maps with their descriptions, in each format of maps."""

from __future__ import annotations

import numpy as np

from fuzz.sample import Sample, written
from gradcon.io.maps.map import Map, Steps

VALUES = np.array([[0.5, 1.0, np.nan], [1.5, -2.0, 3.0]], np.float32)
DISPARITY = Map(VALUES, "disparity", "pixels per unit baseline", "positive is nearer", "a.png", "three")
DEPTH = Map(VALUES, "depth", "mm", steps=Steps(0.5, -3.0))


def pfm() -> list[Sample]:
    little = b"Pf\n3 2\n-1.0\n" + VALUES.tobytes()
    big = b"Pf\n3 2\n1.0\n" + VALUES.astype(">f4").tobytes()
    return [Sample({"map.pfm": content}, "map", "map.pfm") for content in (little, big)]


def png_map() -> list[Sample]:
    return [_map(map_, "png", repair) for map_ in (DISPARITY, DEPTH) for repair in ("png", "")]


def tiff_map() -> list[Sample]:
    return [_map(map_, "tif") for map_ in (DISPARITY, DEPTH)]


def npz_map() -> list[Sample]:
    return [_map(map_, "npz", repair) for map_ in (DISPARITY, DEPTH) for repair in ("zip", "")]


def exr_map() -> list[Sample]:
    return [_map(map_, "exr") for map_ in (DISPARITY, DEPTH)]


def _map(map_: Map, suffix: str, repair: str = "") -> Sample:
    from gradcon import write_map

    name = f"map.{suffix}"
    return Sample(written(lambda folder: write_map(folder / name, map_)), "map", name, repair=repair)
