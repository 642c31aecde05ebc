"""The folder of an estimate of every view: a folder of results for each, and views.json, which lists them."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import numpy as np

from gradcon.damage import inside
from gradcon.errors import InputError
from gradcon.files import as_path, read_text, to_json, write_file
from gradcon.io.images.png import encode
from gradcon.io.outputs import (
    AGREEMENT,
    OCCLUSION,
    SUMMARY,
    VIEWS_LIST,
    refuse_foreign_folder,
    remove_result,
)
from gradcon.result.agreement import Agreement
from gradcon.result.every_view import EveryView
from gradcon.result.folder import write_result
from gradcon.scene import Camera
from gradcon.scene.units import DISPARITY_SIGN

FORMAT = "gradcon-views-1"
UNIT = "pixels per unit baseline of the original reference's scene"
MAX_LIST_BYTES = 2**26


def folder_names(views: list[str]) -> dict[str, str]:
    """Return a name for the folder of each view that every file system allows."""
    names: dict[str, str] = {}
    for view in views:
        plain = re.sub(r"[^\w.()+,=-]+", "_", view).strip("._ ")[:100] or "view"
        taken = {name.lower() for name in names.values()}
        number, name = 1, plain
        while name.lower() in taken or name.lower() == VIEWS_LIST:
            number, name = number + 1, f"{plain}_{number + 1}"
        names[view] = name
    return names


def save_views(every: EveryView, folder: str | Path, **how: Any) -> Path:
    """Do what `EveryView.save` does."""
    place = as_path(folder, "folder")
    names = folder_names(list(every.results))
    refuse_other(place, list(every.results))
    earlier = _listed_folders(place)
    rows = []
    for view, result in every.results.items():
        inner = place / names[view]
        said = every.agreement.get(view)
        summary = write_result(result, inner, more=_more(said) if said is not None else (), **how)
        there = every.places[view]
        rows.append(
            {
                "view": view,
                "folder": names[view],
                "result_sha256": hashlib.sha256(summary.encode()).hexdigest(),
                "M": there.M.tolist(),
                "m": there.m.tolist(),
                "camera": _camera_fields(there.camera),
                "agreement": said.summary() if said is not None else None,
            }
        )
    calibration = every.scene.calibration
    listed = {
        "format": FORMAT,
        "scene": every.scene.name,
        "reference": every.scene.reference_name,
        "disparity": {"unit": UNIT, "sign": DISPARITY_SIGN},
        "geometry": "a view sees the reference's pixel (x, y) of disparity w at dehomogenise(M (x, y, 1) + m w); "
        "a camera sees the point X of the reference camera's frame at K (R X + t)",
        "calibration": calibration.summary() if calibration is not None else None,
        "files": {
            "disparity": "disparity.pfm",
            "uncertainty": "uncertainty.pfm",
            "summary": SUMMARY,
            "agreement": AGREEMENT if every.agreement else None,
            "occlusion mask": OCCLUSION if every.agreement else None,
        },
        "views": rows,
        "seconds": every.seconds,
        "warnings": every.warnings,
    }
    for old in sorted(earlier - set(names.values())):  # before the list that tells of them is replaced
        remove_result(place / old)
    write_file(place / VIEWS_LIST, (to_json(listed) + "\n").encode())
    return place


def refuse_other(folder: Path, views: list[str]) -> None:
    """Refuse to write the results of views into a folder that holds other things, or another kind of result."""
    if (folder / SUMMARY).is_file():
        raise InputError(folder, "holds the result of one view", "choose another folder for the results of all views")
    names = folder_names(views).values()
    refuse_foreign_folder(folder, own=[name for name in names if (folder / name).is_dir()])
    for name in names:
        refuse_foreign_folder(folder / name)


def _more(said: Agreement) -> list[tuple[str, bytes]]:
    return [(AGREEMENT, said.encode()), (OCCLUSION, encode((255 * said.occluded).astype(np.uint8)))]


def _camera_fields(camera: Camera | None) -> dict[str, Any] | None:
    return {part: getattr(camera, part).tolist() for part in "KRt"} if camera is not None else None


def _listed_folders(folder: Path) -> set[str]:
    """Return the folders that an earlier views.json lists."""
    try:
        listed = json.loads(read_text(folder / VIEWS_LIST, MAX_LIST_BYTES))
        names = {str(row["folder"]) for row in listed["views"]}
        return {name for name in names if inside(folder, name, folder / VIEWS_LIST)}
    except (InputError, ValueError, LookupError, TypeError, RecursionError):
        return set()
