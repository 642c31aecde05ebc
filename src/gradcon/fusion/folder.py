"""Read the maps to be fused from folders of results, and find out how their views stand to each other.

The folder of `estimate_views` says so itself, in views.json.  Otherwise the scene says so, if it is given, or each
result does: the result.json of a planar array holds the baselines of all views that it used.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.errors import InputError
from gradcon.files import as_path
from gradcon.fusion.maps import ViewMap, ViewMaps, refuse_repeated, stranger, with_gaps
from gradcon.io.maps import read_map
from gradcon.io.maps.folder import entry, read_summary
from gradcon.io.outputs import SUMMARY, VIEWS_LIST
from gradcon.result.depth import no_depth
from gradcon.result.fields import Fields, calibration_of_fields
from gradcon.result.saved_sheet import read_sheet
from gradcon.result.saved_views import SavedView, SavedViews, read_views
from gradcon.scene import Calibration, Scene
from gradcon.scene.colours import rgb_of_planes

AGAIN = "estimate the views again"

Matrices = tuple[NDArray[np.float64], NDArray[np.float64]]  # M and m


@dataclass(frozen=True, eq=False)
class StoredResult:
    """A folder of a result; its maps are not read yet, unless it is one of many views."""

    folder: Path
    summary: dict[str, Any]
    view: SavedView | None = None  # what views.json tells about it

    def maps(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the disparity and its uncertainty; the disparity is NaN where the other views leave it unknown."""
        if self.view is None:
            disparity, uncertainty = (read_map(self.folder, name).values for name in ("disparity", "uncertainty"))
        else:
            disparity, uncertainty = self.view.disparity, self.view.uncertainty
        return with_gaps(disparity, self.view.agreement if self.view else None), uncertainty.astype(np.float64)

    @property
    def source(self) -> Fields:
        return Fields(self.folder / SUMMARY, entry(self.summary, "source"), "source.")

    @property
    def reference(self) -> str:
        return self.source.text("reference", "")

    @property
    def scene(self) -> str:
        return self.source.text("name", self.folder.name)

    @property
    def calibration(self) -> Calibration:
        found = calibration_of_fields(Fields(self.folder / SUMMARY, self.summary))
        if found is None:
            raise no_depth(self.folder, str(self.source.mapping("metadata").get("format", "")))
        return found


def stored_results(folders: Sequence[str | Path]) -> list[StoredResult]:
    """Find the results in folders, of one view each or of every view, and check that they are of one scene."""
    found: list[StoredResult] = []
    for folder in map(as_path, folders):
        listed = (folder / VIEWS_LIST).is_file()
        found += results_of_views(read_views(folder)) if listed else [StoredResult(folder, read_summary(folder))]
    first = found[0]
    for other in found[1:]:
        if other.scene != first.scene:
            problem = f"is a result of {other.scene}, but {first.folder} is one of {first.scene}"
            raise InputError(other.folder, problem, "give results of one scene")
    refuse_repeated([result.reference for result in found], first.folder)
    return found


def read_maps(
    found: Sequence[StoredResult], scene: Scene | None = None, damaged: list[InputError] | None = None
) -> ViewMaps:
    """Read the maps of results; colours are those of the scene if it is given, and else of the copies in the results.

    The reference of the scene must be the view of the first result.  If there is a list `damaged`, results that cannot
    be read are left out, and it receives the reasons; if none can be read, the first reason is raised.
    """
    first = found[0]
    if scene is not None:
        _refuse_other_scene(first, scene)
    calibration = first.calibration
    views = []
    for result in found:
        try:
            views.append(_view_map(first, result, scene))
        except InputError as reason:
            if damaged is None:
                raise
            damaged.append(reason)
    if damaged and not views:
        raise damaged.pop(0)
    return ViewMaps(views, calibration, first.scene)


def _view_map(first: StoredResult, result: StoredResult, scene: Scene | None) -> ViewMap:
    disparity, uncertainty = result.maps()
    colours = _colours(result, disparity.shape, scene)
    M, m = (np.eye(3), np.zeros(3)) if result is first else _place(first, result, scene)
    unit = first.calibration.product / result.calibration.product  # as in ViewMaps.of
    return ViewMap(result.reference, unit * disparity, unit * uncertainty, colours, M, m, result.folder)


def results_of_views(saved: SavedViews) -> list[StoredResult]:
    """Return the results of a views.json; the reference comes first if it is among them."""
    found = []
    for name, view in saved.views.items():
        result = StoredResult(view.folder, read_summary(view.folder), view)
        if result.reference != name:
            raise InputError(view.folder, f"is a result of {result.reference}, not of {name}", AGAIN)
        found.append(result)
    return found


def _place(first: StoredResult, result: StoredResult, scene: Scene | None) -> Matrices:
    """Return (M, m) of a result's view relative to that of the first one."""
    if result.view is not None and first.view is not None:
        # Relative to the reference of their list, which need not be the first result of all.
        places = result.view.place, first.view.place
        H, G = (np.vstack([np.column_stack([place.M, place.m]), (0, 0, 0, 1)]) for place in places)
        relative = H @ np.linalg.inv(G)
        return relative[:3, :3], relative[:3, 3]
    if scene is not None:
        t = scene.target_names.index(result.reference)  # it is there: its colours have been read
        return scene.M[t], scene.m[t]
    if entry(first.summary, "views").get("planar") is False:
        problem = "its cameras do not stand in a plane, and its result.json does not say where"
        raise InputError(first.folder, problem, "give the scene too (--scene)")
    targets = first.source.texts("targets")
    if result.reference not in targets:
        problem = f"is of the view {result.reference}, which {first.folder} did not use"
        raise InputError(result.folder, problem, "estimate with more views, or give the scene too (--scene)")
    B = first.source.pairs("baselines", len(targets))[targets.index(result.reference)]
    return np.eye(3), np.array([*B, 0.0])


def _refuse_other_scene(first: StoredResult, scene: Scene) -> None:
    """Refuse a scene whose reference does not have the pixels that the first result was estimated from."""
    stated = first.source.text("reference_sha256", "")
    if stated and stated != scene.reference_fingerprint():
        problem = f"was estimated from other pixels than those of {scene.reference_name} of {scene.name}"
        raise InputError(first.folder, problem, "give the scene that it belongs to, or leave --scene out")


def _colours(result: StoredResult, shape: tuple[int, ...], scene: Scene | None) -> NDArray[np.uint8]:
    """Return the colours of a view: those of the scene, or else the small copy in the result, enlarged."""
    from PIL import Image

    if scene is not None:
        names = [scene.reference_name, *scene.target_names]
        if result.reference not in names:
            raise stranger(result.folder, result.reference, scene.name)
        colours = rgb_of_planes(scene.colours[names.index(result.reference)], scene.colour_scale)
        if colours.shape[:2] != shape:
            raise InputError(result.folder, "does not have the size of its scene's views", "give its own scene")
        return colours
    sheet = read_sheet(result.folder, result.summary)
    if sheet is None or sheet.names[0] != result.reference:
        raise InputError(result.folder, "holds no picture of its view", "give the scene too (--scene)")
    picture = Image.open(io.BytesIO(sheet.jpeg)).convert("RGB").crop((0, 0, sheet.width, sheet.height))
    return np.asarray(picture.resize((shape[1], shape[0]), Image.Resampling.BICUBIC))
