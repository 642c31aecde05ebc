"""The folder of a result: maps, pictures of them, points and result.json."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from gradcon.arrays import to_host
from gradcon.errors import InputError
from gradcon.files import to_json, write_files
from gradcon.io import pfm, ply
from gradcon.io.maps.png_map import encode_png_map
from gradcon.io.outputs import RESULT_FILES, SUMMARY, refuse_foreign_folder
from gradcon.pictures.colour_maps import DEFAULT_MAP
from gradcon.pictures.maps import disparity_picture
from gradcon.pictures.view_sheet import view_sheet
from gradcon.result.depth import to_millimetres
from gradcon.result.points import KEEP
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
    refuse_foreign_folder(Path(folder))
    return write_result(result, Path(folder), points=points, normals=normals, keep=keep, cmap=cmap)


def write_result(
    result: Result,
    folder: Path,
    *,
    points: bool = False,
    normals: bool = False,
    keep: float = KEEP,
    cmap: str = DEFAULT_MAP,
) -> str:
    """Write a result into a folder that has been checked before, and return the content of result.json."""
    replaced = (folder / SUMMARY).is_file()  # then its other files belong to an earlier result, not to the user
    written = set()
    summary = b""

    def files() -> Iterator[tuple[str, bytes]]:
        nonlocal summary
        for name, content in result_files(result, points=points, normals=normals, keep=keep, cmap=cmap):
            written.add(name)
            if name == SUMMARY:
                summary = content
            yield name, content

    write_files(folder, files())
    for path in [folder / name for name in RESULT_FILES if name not in written] if replaced else []:
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            problem = f"belongs to an earlier result and cannot be removed ({error.strerror})"
            raise InputError(path, problem, "remove it, or choose another folder") from None
    return summary.decode()


def result_files(
    result: Result, *, points: bool = False, normals: bool = False, keep: float = KEEP, cmap: str = DEFAULT_MAP
) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the content of each file of a result; result.json comes last."""
    if normals and not points:
        raise InputError("normals", "belong to the points, which are not written", "ask for the points too")
    cloud = result.points(keep, normals) if points else None
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
    sheet, views = view_sheet(scene)
    yield views["file"], sheet
    yield SUMMARY, (to_json({**summary_fields(result), "views": views}) + "\n").encode()
