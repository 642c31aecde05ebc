"""What an estimate of every view returns: a result for each, and how the views and their maps relate."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gradcon.result.agreement import Agreement
from gradcon.result.result import Result
from gradcon.scene import Camera, Scene
from gradcon.scene.geometry import Floats, planar


@dataclass(frozen=True, eq=False)
class Place:
    """Where a view stands, relative to the original reference.

    Attributes
    ----------
    M, m : (3, 3) and (3,) array
        The view sees the original reference's pixel (x, y) of disparity w at dehomogenise(M (x, y, 1) + m w).
    camera : Camera or None
        The view's camera, with the original reference camera's frame as the world, in the calibration's unit; None
        without a calibration.
    """

    M: Floats
    m: Floats
    camera: Camera | None


@dataclass(frozen=True, eq=False)
class EveryView:
    """A map for each of several views of a scene, consistent with each other.

    Attributes
    ----------
    results : dict of Result
        By the name of the view, in the order of the scene's views: the reference first.  The `scene` of a result is the
        scene seen from that view.  Disparities are in the same unit in all maps, pixels per unit baseline of the
        original scene: a surface at the depth Z of a view has the same disparity in the maps of all views.
    agreement : dict of Agreement
        By the name of the view: what the other views' maps say about each pixel.  It is empty if the maps were not
        compared.
    places : dict of Place
        By the name of the view: where it stands.
    scene : Scene
        The original scene.
    seconds : dict
        The wall time in total, and of the parts: `look`, `maps` and `consistency`.
    warnings : list of str
        What the user should look at; each sentence stands here once.
    """

    results: dict[str, Result]
    agreement: dict[str, Agreement]
    places: dict[str, Place]
    scene: Scene = field(repr=False)
    seconds: dict[str, float]
    warnings: list[str]

    def __repr__(self) -> str:
        height, width = self.scene.shape
        return f"<EveryView of {self.scene.name!r}: {len(self.results)} maps of {width} x {height}>"

    def save(self, folder: str | Path, **how: Any) -> Path:
        """Write a folder with a folder of results for each view, and views.json; return it.

        Each view's folder is like that of `Result.save`, whose options these are, and also holds agreement.npz (see
        `Agreement`) and occlusion.png, which is white where a nearer surface hides the pixel from another view.
        views.json lists the views, where they stand and which files belong to them.  It is written last, so a run that
        is stopped leaves nothing that it describes wrongly.
        """
        from gradcon.result.views_folder import save_views

        return save_views(self, folder, **how)


def place_of(scene: Scene, view: str) -> Place:
    """Return where a view of the scene stands."""
    if view == scene.reference_name:
        M, m = (part[0] for part in planar([(0.0, 0.0)]))
    else:
        t = scene.target_names.index(view)
        M, m = scene.M[t], scene.m[t]
    calibration = scene.calibration
    return Place(M, m, calibration.camera_of_view(M, m) if calibration is not None else None)
