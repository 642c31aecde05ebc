"""A sparse COLMAP model with its images: one image is the reference, and its neighbours are the views.

The folder holds images/, and sparse/ (or sparse/0/) with cameras, images and points3D as .txt or .bin.  Images of a
lens with distortion are undistorted when they are read, so those that the model was made from will do.  The scale of a
COLMAP model is unknown, and so is the unit of the depth.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.errors import InputError
from gradcon.io.fields import hint
from gradcon.io.formats.colmap_model import Model, Shot, form_of, read_model
from gradcon.io.formats.format import Format, Hints
from gradcon.io.listing import ImageFile, Listing, View
from gradcon.scene import geometry
from gradcon.scene.numbers import shortly, whole_number

NEIGHBOURS = 8
MAX_ANGLE = 30.0  # degrees between the optical axes of the reference and another view
FEWEST_POINTS = 10  # needed to estimate a range of disparities


def list_colmap(path: Path, hints: Hints) -> Listing:
    """List the reference and its nearest neighbours; `hints.neighbours` is their number."""
    wanted = NEIGHBOURS if hints.neighbours is None else whole_number(hints.neighbours)
    if wanted is None or wanted < 1:
        raise InputError("neighbours", f"{shortly(hints.neighbours)} is not a number of images", "give 1 or more")
    folder = _model_folder(path)
    assert folder is not None  # otherwise the format would not have been recognised
    images = _image_folder(folder, path)
    model = read_model(folder)
    surroundings = _Surroundings(model, images)
    reference = surroundings.told(hints.reference, path) if hints.reference is not None else None
    if reference is None:
        reference = surroundings.most_central(wanted, path)
    near = surroundings.neighbours(reference, wanted)
    if not near:
        raise InputError(path, surroundings.why_alone(reference), "name another reference")
    shots = [model.shots[k] for k in (reference, *near)]
    views = [View(shot.name, shot.camera, ImageFile(images / shot.name), shot.lens.undistortion) for shot in shots]
    return Listing(
        source=path,
        views=views,
        reference=views[0],
        metadata={
            "format": "colmap",
            "neighbours": len(near),
            "images_missing": int(np.count_nonzero(~surroundings.there)),
            "images_of_another_size": int(np.count_nonzero(~surroundings.same_size(reference))),
            **_disparities(model, shots),
        },
        size=shots[0].size,
        name=images.resolve().parent.name,
    )


def _recognise(path: Path, hints: Hints) -> str | None:
    folder = _model_folder(path)
    return None if folder is None else f"{folder} holds cameras.{form_of(folder)} and images.{form_of(folder)}"


COLMAP = Format("a sparse COLMAP model", _recognise, list_colmap, frozenset({"neighbours"}))


def _model_folder(path: Path) -> Path | None:
    places = (path, path / "sparse", path / "sparse" / "0", path / "0")  # the last if the path is sparse/ itself
    return next((folder for folder in places if form_of(folder)), None)


def _image_folder(model: Path, path: Path) -> Path:
    """Find images/ in the model's folder or beside it or, for sparse/0, beside sparse."""
    start = model.resolve() if model.name in ("", "..") or len(model.parts) < 3 else model  # a short path lacks parents
    parents = [start, start.parent, *([start.parent.parent] if start.name.isdecimal() else [])]
    for parent in parents:
        if (parent / "images").is_dir():
            return parent / "images"
    raise InputError(
        path,
        "there is no folder images beside the model",
        "put the images of the model there",
    )


class _Surroundings:
    """Finds which images of a model can be used together."""

    def __init__(self, model: Model, images: Path) -> None:
        self.shots = model.shots
        self.images = images
        self.names = [shot.name for shot in self.shots]
        self.there = np.array([_is_file(images / name) for name in self.names], dtype=bool)
        self.centres = np.array([-shot.camera.R.T @ shot.camera.t for shot in self.shots]).reshape(-1, 3)
        self.axes = np.array([shot.camera.R[2] for shot in self.shots]).reshape(-1, 3)
        self.sizes = np.array([shot.size for shot in self.shots]).reshape(-1, 2)
        seen = np.unique(np.concatenate([shot.points for shot in self.shots])) if self.shots else np.zeros(0, np.int64)
        self.points = [np.searchsorted(seen, shot.points) for shot in self.shots]
        self.points_in_all = len(seen)

    def told(self, name: str, path: Path) -> int:
        """Return the index of the image of that name, whose file must exist."""
        if name not in self.names:
            raise InputError(path, f"the reference {name!r} is not one of its images", hint(name, self.names))
        k = self.names.index(name)
        if not self.there[k]:
            raise InputError(self.images / name, "the reference is in the model, but there is no such file", "add it")
        return k

    def most_central(self, wanted: int, path: Path) -> int:
        """Choose the image with the most neighbours, counting no more than `wanted`.

        Among equals, prefer the image that sees most points and then, as in a model without points, the one whose
        neighbours are nearest.
        """
        if not self.there.any():
            raise InputError(
                path,
                f"none of the model's {len(self.shots)} images is in {self.images}",
                "put them there, under the names that the model lists",
            )

        def merit(k: int) -> tuple[int, int, float]:
            near = self.neighbours(k, wanted)
            distances = np.linalg.norm(self.centres[near] - self.centres[k], axis=1)
            return len(near), len(self.points[k]), -float(distances.sum())

        return max((int(k) for k in np.flatnonzero(self.there)), key=merit)

    def neighbours(self, k: int, wanted: int) -> list[int]:
        """Return the images with the nearest cameras that share a point with image k."""
        distances = np.linalg.norm(self.centres - self.centres[k], axis=1)
        apart = distances > 1e-6 * distances.max()
        fit = np.flatnonzero(self.there & self.same_size(k) & self._looks_alike(k) & apart)
        in_k = np.zeros(self.points_in_all, dtype=bool)
        in_k[self.points[k]] = True
        near: list[int] = []
        for other in fit[np.argsort(distances[fit], kind="stable")]:
            if len(near) == wanted:
                break
            if not self.points_in_all or in_k[self.points[other]].any():
                near.append(int(other))
        return near

    def same_size(self, k: int) -> NDArray[np.bool_]:
        return (self.sizes == self.sizes[k]).all(axis=1)

    def _looks_alike(self, k: int) -> NDArray[np.bool_]:
        return self.axes @ self.axes[k] > np.cos(np.radians(MAX_ANGLE))

    def why_alone(self, k: int) -> str:
        """Explain why no other image can be used with image k."""
        missing = np.count_nonzero(~self.there)
        sizes = np.count_nonzero(~self.same_size(k))
        angles = np.count_nonzero(~self._looks_alike(k))
        return (
            f"none of the model's {len(self.shots) - 1} other images can be used with the reference {self.names[k]}: "
            f"{missing} are not in {self.images}, {sizes} have another size, {angles} look in a direction more than "
            f"{MAX_ANGLE:g} degrees away, and the rest stand at the same place or share no point with it"
        )


def _disparities(model: Model, shots: list[Shot]) -> dict[str, Any]:
    """Estimate the range of the reference's disparities from the points it sees; the nearest view is the unit."""
    reference, (width, height) = shots[0].camera, shots[0].size
    pairs = [shot.camera.relative_to(reference) for shot in shots[1:]]
    product = geometry.shortest([geometry.baseline(M, m, (height, width)) for M, m in pairs])
    points = model.points[np.isin(model.point_ids, shots[0].points)]
    depths = points @ reference.R[2] + reference.t[2]
    with np.errstate(over="ignore"):  # a point at the camera is at no finite disparity, and says nothing
        disparities = product / depths[depths > 0]
    disparities = disparities[np.isfinite(disparities)]
    if len(disparities) < FEWEST_POINTS:
        return {}
    low, median, high = (float(value) for value in np.percentile(disparities, (2, 50, 98)))
    return {"disparity_range": [low, high], "disparity_start": median}


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # not a valid file name
        return False
