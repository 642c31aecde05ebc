"""Read the folder of an estimate of every view."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.damage import inside
from gradcon.errors import InputError
from gradcon.files import as_path, read_text, sha256_of_file
from gradcon.io.maps import read_map
from gradcon.io.maps.folder import read_summary, refuse_stranger
from gradcon.io.outputs import AGREEMENT, SUMMARY, VIEWS_LIST
from gradcon.result.agreement import Agreement, read_agreement
from gradcon.result.every_view import Place
from gradcon.result.views_folder import FORMAT, MAX_LIST_BYTES
from gradcon.scene import Camera

_AGAIN = "estimate the views again"
_LARGEST = 1e12  # of the numbers that describe where a view stands, which are in pixels


@dataclass(frozen=True, eq=False)
class SavedView:
    """The maps of one view, as they were saved.

    Attributes
    ----------
    folder : Path
        The view's folder of results.
    disparity, uncertainty : (height, width) float32
    agreement : Agreement or None
        None if the maps were not compared.
    place : Place
        Where the view stands, relative to the original reference.
    """

    folder: Path
    disparity: NDArray[np.float32]
    uncertainty: NDArray[np.float32]
    agreement: Agreement | None
    place: Place


@dataclass(frozen=True, eq=False)
class SavedViews:
    """The maps of several views, as `EveryView.save` wrote them.

    Attributes
    ----------
    scene, reference : str
        The names of the scene and of its original reference.
    views : dict of SavedView
        By the name of the view, in the order of the scene's views.
    damaged : dict of InputError
        The views that `read_views` has left out, and why.
    """

    scene: str
    reference: str
    views: dict[str, SavedView]
    damaged: dict[str, InputError] = field(default_factory=dict)


def read_views(folder: str | Path, *, whole: bool = True) -> SavedViews:
    """Read a folder that `EveryView.save` or `gradcon estimate --every-view` wrote.

    Parameters
    ----------
    folder : str or Path
    whole : bool
        Refuse a folder in which a view is damaged or missing.  Otherwise such views are left out.

    Raises
    ------
    InputError
        The folder holds no views.json, or a file is not the one that was written with it.
    """
    place = as_path(folder, "folder")
    path = place / VIEWS_LIST
    if not path.exists():
        raise InputError(place, f"holds no {VIEWS_LIST}", "give a folder that `gradcon estimate --every-view` wrote")
    try:
        listed = json.loads(read_text(path, MAX_LIST_BYTES))
    except (ValueError, RecursionError):
        raise InputError(path, "is not valid JSON", _AGAIN) from None
    if not isinstance(listed, dict) or listed.get("format") != FORMAT:
        raise InputError(path, f"does not have the format {FORMAT}", _AGAIN)
    try:
        rows = [(str(row["view"]), str(row["folder"]), row) for row in listed["views"]]
        places = {view: _place(row) for view, _, row in rows}
        names = str(listed["scene"]), str(listed["reference"])
    except (LookupError, TypeError, ValueError, AttributeError):
        raise InputError(path, "does not describe its views completely", _AGAIN) from None
    if not rows or len(places) != len(rows):
        raise InputError(path, "lists no view, or one of them twice", _AGAIN)
    views: dict[str, SavedView] = {}
    damaged: dict[str, InputError] = {}
    for view, name, row in rows:
        try:
            views[view] = _saved(place, name, row, places[view], path)
        except InputError as reason:
            damaged[view] = reason
            if whole or len(damaged) == len(rows):
                raise
    return SavedViews(*names, views, damaged)


def _place(row: dict[str, Any]) -> Place:
    M, m = np.array(row["M"], np.float64), np.array(row["m"], np.float64)
    if M.shape != (3, 3) or m.shape != (3,) or not (np.isfinite(M).all() and np.isfinite(m).all()):
        raise ValueError
    if not (1 / _LARGEST < np.abs(M).max() < _LARGEST and np.abs(m).max() < _LARGEST and np.linalg.cond(M) < _LARGEST):
        raise ValueError  # no camera sees the reference's pixels like that
    camera = row["camera"]
    return Place(M, m, Camera.of(camera["K"], camera["R"], camera["t"], str(row["view"])) if camera else None)


def _saved(place: Path, name: str, row: dict[str, Any], there: Place, path: Path) -> SavedView:
    folder = inside(place, name, path)
    if sha256_of_file(folder / SUMMARY) != row.get("result_sha256"):
        problem = f"is not the result that {VIEWS_LIST} lists, so a run was interrupted or the file was changed"
        raise InputError(folder / SUMMARY, problem, _AGAIN)
    disparity, uncertainty = (read_map(folder, quantity).values for quantity in ("disparity", "uncertainty"))
    agreement = None
    if row.get("agreement") is not None:
        refuse_stranger(folder / AGREEMENT, read_summary(folder))
        agreement = read_agreement(folder / AGREEMENT, disparity.shape)
    return SavedView(folder, disparity, uncertainty, agreement, there)
