"""Read a folder of `gradcon estimate --every-view`: the reference's result, and the points of all maps together."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gradcon.errors import InputError
from gradcon.fusion.folder import StoredResult, read_maps, results_of_views
from gradcon.fusion.merging import fuse_maps
from gradcon.io.outputs import VIEWS_LIST
from gradcon.report.folder import ResultPage, read_folder
from gradcon.report.fused import FusedPoints
from gradcon.result.saved_views import read_views


def read_result(folder: Path) -> ResultPage:
    """Read a folder of one result, or of the results of several views; raise InputError if it cannot be shown."""
    if not (folder / VIEWS_LIST).is_file():
        return read_folder(folder)
    saved = read_views(folder, whole=False)
    if saved.reference in saved.damaged:
        raise saved.damaged[saved.reference]
    found = results_of_views(saved)
    page = read_folder(found[0].folder)
    page.folder = folder
    damaged = list(saved.damaged.values())
    if len(found) > 1 and page.calibration is not None:
        page.fused = _fused(found, damaged, page.notes)
    elif len(found) > 1:
        page.unfused = f"{len(found)} maps are not fused because the cameras are not calibrated"
    left_out = " The fused points leave this view out." if page.fused is not None else ""
    page.notes += [f"{reason}{left_out}" for reason in damaged]
    return page


def _fused(found: list[StoredResult], damaged: list[InputError], notes: list[str]) -> FusedPoints | None:
    """Fuse the maps that can be read; if no cloud comes of it, add a note."""
    try:
        with np.errstate(all="ignore"):  # as in `read_folder`
            return FusedPoints.of_cloud(fuse_maps(read_maps(found, damaged=damaged)))
    except InputError as reason:
        notes.append(f"{reason} The page shows the points of the reference alone.")
        return None
