"""The folder of a result: maps, pictures of them, points and result.json."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from gradcon.arrays import to_host
from gradcon.errors import InputError
from gradcon.files import as_path, to_json, write_files
from gradcon.io import pfm, ply
from gradcon.io.maps.png_map import encode_png_map
from gradcon.io.outputs import RESULT_FILES, SUMMARY, holds_records, refuse_foreign_folder
from gradcon.pictures.colour_maps import DEFAULT_MAP
from gradcon.pictures.maps import disparity_picture
from gradcon.pictures.view_sheet import view_sheet
from gradcon.result.depth import to_millimetres
from gradcon.result.finite import refuse_unknown
from gradcon.result.points import KEEP, PointCloud
from gradcon.result.summary import summary_fields

if TYPE_CHECKING:
    from gradcon.result.result import Result


def save_result(
    result: Result,
    folder: str | Path,
    *,
    points: bool = False,
    normals: bool = False,
    keep: float = KEEP,
    cmap: str = DEFAULT_MAP,
) -> str:
    """Do what `Result.save` does, and return the content of result.json."""
    place = as_path(folder, "folder")
    refuse_foreign_folder(place)
    return write_result(result, place, points=points, normals=normals, keep=keep, cmap=cmap)


def write_result(
    result: Result,
    folder: Path,
    *,
    points: bool = False,
    normals: bool = False,
    keep: float = KEEP,
    cmap: str = DEFAULT_MAP,
    more: Iterable[tuple[str, bytes]] = (),
) -> str:
    """Write a result into a folder that has been checked before, and return the content of result.json.

    `more` are the names and contents of further files, which belong to the result too.
    """
    replaced = holds_records(folder)  # then its other files belong to an earlier result, not to the user
    summary = b""

    def files() -> Iterator[tuple[str, bytes]]:
        nonlocal summary
        for name, content in result_files(result, points=points, normals=normals, keep=keep, cmap=cmap, more=more):
            if name == SUMMARY:
                summary = content
            yield name, content

    write_files(folder, files(), obsolete=RESULT_FILES if replaced else ())
    return summary.decode()


def result_files(
    result: Result,
    *,
    points: bool = False,
    normals: bool = False,
    keep: float = KEEP,
    cmap: str = DEFAULT_MAP,
    more: Iterable[tuple[str, bytes]] = (),
) -> Iterator[tuple[str, bytes]]:
    """Yield the name and content of each file of a result; result.json comes last, with the hashes of the others."""
    if normals and not points:
        raise InputError("normals", "belong to the points, which are not written", "ask for the points too")
    refuse_unknown(result.scene.name, to_host(result.disparity), to_host(result.uncertainty))
    cloud = result.points(keep, normals) if points else None
    sheet, views = view_sheet(result.scene)
    hashes = {}
    for name, content in chain(_maps(result, cloud, cmap), more, [(views["file"], sheet)]):
        hashes[name] = hashlib.sha256(content).hexdigest()
        yield name, content
    yield SUMMARY, (to_json({**summary_fields(result), "views": views, "files": hashes}) + "\n").encode()


def _maps(result: Result, cloud: PointCloud | None, cmap: str) -> Iterator[tuple[str, bytes]]:
    disparity, scene = to_host(result.disparity), result.scene
    yield "disparity.pfm", pfm.encode(disparity)
    yield "uncertainty.pfm", pfm.encode(to_host(result.uncertainty))
    yield "disparity.png", disparity_picture(disparity, str(result.source.get("name", "")), cmap)
    if scene.calibration is not None:
        depth = result.depth()
        yield "depth.pfm", pfm.encode(depth)
        millimetres = to_millimetres(depth, scene.calibration.unit)
        if millimetres is not None:
            meaning = {"quantity": "depth", "unit": "mm", "reference": scene.reference_name, "scene": scene.name}
            yield "depth.png", encode_png_map(millimetres, 1.0, 0.0, meaning)
    if cloud is not None:
        yield "points.ply", ply.encode(cloud)
    if (truth := scene.known_truth) is not None:
        yield "truth.pfm", pfm.encode(truth)
    if result.weights is not None:
        yield "weights.npz", result.weights.encode()
