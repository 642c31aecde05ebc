"""Read the maps to be fused from folders of results, and find out how their views stand to each other.

The folder of `estimate_views` says so itself, in views.json.  Otherwise the scene says so, if it is given, or each
result does: the result.json of a planar array holds the baselines of all views that it used.
"""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.damage import leaves_folder
from gradcon.errors import InputError
from gradcon.files import as_path, read_text
from gradcon.fusion.maps import ViewMap, ViewMaps, refuse_repeated, stranger
from gradcon.io.maps import read_map
from gradcon.io.maps.folder import entry, read_summary
from gradcon.io.outputs import SUMMARY
from gradcon.report.fields import Fields
from gradcon.report.folder import calibration_of_fields
from gradcon.report.views import read_views
from gradcon.result.depth import no_depth
from gradcon.scene import Calibration, Scene
from gradcon.scene.colours import rgb_of_planes

VIEWS_LIST, VIEWS_FORMAT = "views.json", "gradcon-views-1"
AGAIN = "estimate the views again"

Place = tuple[NDArray[np.float64], NDArray[np.float64]]  # M and m


@dataclass(frozen=True, eq=False)
class StoredResult:
    """A folder of a result, whose maps are not read yet."""

    folder: Path
    summary: dict[str, Any]
    place: Place | None = None  # relative to the first view, where views.json tells it

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
        found += (
            _every_view(folder) if (folder / VIEWS_LIST).is_file() else [StoredResult(folder, read_summary(folder))]
        )
    first = found[0]
    for other in found[1:]:
        if other.scene != first.scene:
            problem = f"is a result of {other.scene}, but {first.folder} is one of {first.scene}"
            raise InputError(other.folder, problem, "give results of one scene")
    refuse_repeated([result.reference for result in found], first.folder)
    return found


def read_maps(found: Sequence[StoredResult], scene: Scene | None = None) -> ViewMaps:
    """Read the maps of results; colours are those of the scene if it is given, and else of the copies in the results.

    The reference of the scene must be the view of the first result.
    """
    first = found[0]
    if scene is not None:
        _refuse_other_scene(first, scene)
    calibration = first.calibration
    views = []
    for result in found:
        disparity = read_map(result.folder, "disparity").values.astype(np.float64)
        uncertainty = read_map(result.folder, "uncertainty").values.astype(np.float64)
        colours = _colours(result, disparity.shape, scene)
        M, m = (np.eye(3), np.zeros(3)) if result is first else _place(first, result, scene)
        unit = calibration.product / result.calibration.product  # as in ViewMaps.of
        views.append(ViewMap(result.reference, unit * disparity, unit * uncertainty, colours, M, m))
    return ViewMaps(views, calibration, first.scene)


def _every_view(folder: Path) -> list[StoredResult]:
    """Return the results that a views.json lists, the reference first."""
    path = folder / VIEWS_LIST
    try:
        fields = json.loads(read_text(path, 2**26))
    except (RecursionError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(path, "is not valid JSON", AGAIN) from None
    if not isinstance(fields, dict) or fields.get("format") != VIEWS_FORMAT:
        raise InputError(path, f"does not have the format {VIEWS_FORMAT}", AGAIN)
    reference, found = fields.get("reference"), []
    for view in Fields(path, fields).items("views"):
        if not isinstance(view, dict):
            raise InputError(path, "its field 'views' is not a list of objects", AGAIN)
        about = Fields(path, view, "views.")
        name, place = about.text("name", ""), about.text("folder", "")
        if not place or leaves_folder(place):
            raise InputError(path, f"the view {name!r:.60} has no folder beside it", AGAIN)
        result = StoredResult(folder / place, read_summary(folder / place), _matrices(path, view))
        if result.reference != name:
            raise InputError(folder / place, f"is a result of {result.reference}, not of {name}", AGAIN)
        found.append(result)
    if reference not in [result.reference for result in found]:
        raise InputError(path, f"lists no view {reference!r:.60}, which is its reference", AGAIN)
    return sorted(found, key=lambda result: result.reference != reference)


def _matrices(path: Path, view: dict[str, Any]) -> Place:
    try:
        M, m = np.array(view.get("M"), np.float64), np.array(view.get("m"), np.float64)
        good = M.shape == (3, 3) and m.shape == (3,) and np.isfinite(M).all() and np.isfinite(m).all()
        good = good and abs(np.linalg.det(M)) > 1e-12
    except (TypeError, ValueError, OverflowError):
        good = False
    if not good:
        raise InputError(path, "a view has no M of 3 x 3 numbers, invertible, and no m of three numbers", AGAIN)
    return M, m


def _place(first: StoredResult, result: StoredResult, scene: Scene | None) -> Place:
    """Return (M, m) of a result's view relative to that of the first one."""
    if result.place is not None and first.place is not None:
        # Relative to the reference of their list, which need not be the first result of all.
        H, G = (np.vstack([np.column_stack(place), (0, 0, 0, 1)]) for place in (result.place, first.place))
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
    sheet = read_views(result.folder, result.summary)
    if sheet is None or sheet.names[0] != result.reference:
        raise InputError(result.folder, "holds no picture of its view", "give the scene too (--scene)")
    picture = Image.open(io.BytesIO(sheet.jpeg)).convert("RGB").crop((0, 0, sheet.width, sheet.height))
    return np.asarray(picture.resize((shape[1], shape[0]), Image.Resampling.BICUBIC))
