"""What fusion needs of each view: its maps, its colours, and where it stands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gradcon.arrays import to_host
from gradcon.errors import InputError
from gradcon.result.depth import calibration_of
from gradcon.scene.colours import to_rgb

if TYPE_CHECKING:
    from gradcon.result import Result
    from gradcon.result.agreement import Agreement
    from gradcon.result.every_view import EveryView
    from gradcon.scene import Calibration, Scene


@dataclass(frozen=True, eq=False)
class ViewMap:
    """The maps of one view, and its place relative to the first view of all.

    Attributes
    ----------
    name : str
        The name of the view.
    disparity, uncertainty : (height, width) float64
        In pixels per unit baseline of the first view; NaN where they are unknown.
    colours : (height, width, 3) uint8
        Red, green and blue.
    M, m : (3, 3) and (3,) float64
        Where this view sees a pixel of the first one, as in `gradcon.scene.geometry`.
    folder : Path, optional
        Where the maps were read.
    """

    name: str
    disparity: NDArray[np.float64]
    uncertainty: NDArray[np.float64]
    colours: NDArray[np.uint8]
    M: NDArray[np.float64]
    m: NDArray[np.float64]
    folder: Path | None = None


@dataclass(frozen=True, eq=False)
class ViewMaps:
    """The maps of several views of one scene; `calibration` is that of the first view."""

    views: list[ViewMap]
    calibration: Calibration
    scene: str

    @staticmethod
    def of(results: EveryView | Result | Mapping[str, Result] | Iterable[Result]) -> ViewMaps:
        """Collect the maps of one result, or of several, whose scenes are the same seen from different views."""
        given = _listed(results)
        said: Mapping[str, Agreement] = getattr(results, "agreement", {})
        scene = given[0].scene
        product = calibration_of(scene).product
        views = []
        for result in given:
            M, m = _place(scene, result.scene)
            # Scenes that chose their unit baselines by themselves, such as rigs, differ in their products.
            unit = product / calibration_of(result.scene).product
            name = result.scene.reference_name
            disparity = with_gaps(to_host(result.disparity), said.get(name)) * unit
            uncertainty = to_host(result.uncertainty).astype(np.float64) * unit
            views.append(ViewMap(name, disparity, uncertainty, to_rgb(result.scene.colour), M, m))
        return ViewMaps(views, calibration_of(scene), scene.name)


def with_gaps(disparity: NDArray[np.floating[Any]], said: Agreement | None) -> NDArray[np.float64]:
    """Return the disparity, NaN where the other views leave it unknown."""
    gaps = said.unknown if said is not None else False
    return np.where(gaps, np.nan, disparity.astype(np.float64))


def _listed(results: Any) -> list[Result]:
    """Return the results in a list; refuse none, anything else, and two of the same view."""
    from gradcon.result import Result

    results = getattr(results, "results", results)
    if isinstance(results, Mapping):
        results = results.values()
    given = list(results) if isinstance(results, Iterable) else [results]
    if not given:
        raise InputError("results", "there is none to fuse", "give at least one")
    for result in given:
        if not isinstance(result, Result):
            problem = f"a {type(result).__name__} is not a Result"
            raise InputError("results", problem, "give what `estimate` or `estimate_views` returns")
    names = [result.scene.reference_name for result in given]
    refuse_repeated(names, given[0].scene.name)
    return given


def refuse_repeated(names: list[str], where: Any) -> None:
    """Refuse two results of the same view, which would confirm each other."""
    twice = next((name for k, name in enumerate(names) if name in names[:k]), None)
    if twice is not None:
        raise InputError(where, f"two of the results are of the same view, {twice}", "give one result for each view")


def _place(scene: Scene, other: Scene) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return (M, m) of the view that is the reference of `other`, relative to the reference of `scene`."""
    if other.reference_name == scene.reference_name:
        return np.eye(3), np.zeros(3)
    if other.reference_name not in scene.target_names:
        raise stranger(other.name, other.reference_name, scene.name)
    t = scene.target_names.index(other.reference_name)
    return scene.M[t], scene.m[t]


def stranger(where: Any, view: str, scene: str) -> InputError:
    """Return the error for a result of a view that the first result's scene does not have."""
    problem = f"is a result of {view}, which is no view of {scene}"
    return InputError(where, problem, "give results of one scene, the first of which has the views of all others")
