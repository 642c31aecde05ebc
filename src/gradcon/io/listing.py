"""What every reader finds, and how a scene is made of it.

A reader says which views there are, where each stands, how its pixels are read, which one is the reference and where
the truth is: a `Listing`.  `load` chooses views by their baselines, and only then reads images.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.errors import InputError
from gradcon.files import files_in
from gradcon.io.fields import hint
from gradcon.io.images import read_image
from gradcon.scene import Scene, Views, choose_views, geometry
from gradcon.scene.calibration import Calibration

Baseline = tuple[float, float]
Read = Callable[[int], NDArray[Any]]


@dataclass(frozen=True)
class View:
    """A view by its name, where it was taken from, and how its pixels are read.

    It stands by a baseline among equal cameras, or by a calibrated camera.  `read` takes the number of a frame; a
    still has frame 0 alone.
    """

    name: str
    stands: Baseline | geometry.Camera
    read: Read


@dataclass(frozen=True)
class Listing:
    """A scene before its images are read; all views stand by baselines, or all by cameras.

    Baselines may be counted from anywhere: only their difference to the reference's matters.  `ground_truth`
    is called when the scene is built, and gives disparity per unit baseline with all listed views.
    """

    source: Path  # said in messages: the folder or the rig.toml
    views: list[View]
    reference: View
    ground_truth: Callable[[], NDArray[Any]] | None = None
    truth_file: Path | None = None  # said in messages, where it is one
    calibration: Callable[[tuple[int, int]], Calibration | None] | None = None  # for (height, width); not of cameras
    metadata: dict[str, Any] = field(default_factory=dict)
    size: tuple[int, int] | None = None  # (width, height) that the source states
    name: str = ""
    unit: str = ""  # of the cameras' translations
    frames: int | None = None  # of a video; a still has none
    recognised: str = ""  # which format it is, and by what it was recognised


def load(listing: Listing, which: Views = "all", frame: int = 0, white: float | None = None) -> Scene:
    """Choose the views, read their images, build the scene; `white` as for `Scene`."""
    reference = listing.reference
    others = [view for view in listing.views if view is not reference]
    if not others:
        raise InputError(f"{listing.source}: holds only one view, {reference.name}; at least two are needed.")
    image = reference.read(frame)
    height, width = image.shape[:2]
    if listing.size not in (None, (width, height)):
        assert listing.size is not None
        raise InputError(
            f"{listing.source}: states images of {listing.size[0]} x {listing.size[1]} pixels, but "
            f"{reference.name} is {width} x {height}; correct one of them."
        )
    baselines = baselines_of(others, reference, (height, width))
    chosen = choose_views(baselines, which)
    targets = [others[k] for k in chosen]
    truth = listing.ground_truth() if listing.ground_truth is not None else None
    images = [partial(view.read, frame) for view in targets]
    common: dict[str, Any] = {
        "name": writable(listing.name or Path(listing.source).resolve().name),
        "reference_name": writable(reference.name),
        "target_names": [writable(view.name) for view in targets],
        "metadata": listing.metadata,
        "ground_truth": truth,
        "white": white,
    }
    try:
        if not isinstance(reference.stands, geometry.Camera):
            calibration = listing.calibration((height, width)) if listing.calibration is not None else None
            return Scene(image, images, baselines[chosen], calibration=calibration, **common)
        # One unit for a rig, the baseline of the nearest of all its views, whichever of them are chosen.
        cameras = [view.stands for view in [reference, *targets] if isinstance(view.stands, geometry.Camera)]
        nearest = geometry.shortest(list(baselines))
        return Scene.from_cameras(image, images, cameras, unit=listing.unit, nearest=nearest, **common)
    except InputError as error:
        begins = str(error).partition(":")[0]
        if begins in ("calibration", common["reference_name"], *common["target_names"]):  # and not with the file
            raise InputError(f"{listing.source}, {error}") from None
        if begins == common["name"] and truth is not None and truth.shape != (height, width):
            raise InputError(
                f"{listing.truth_file or listing.source}: the ground truth is {truth.shape[1]} x {truth.shape[0]} "
                f"pixels but {reference.name} is {width} x {height}; use the matching file."
            ) from None
        raise


def writable(name: str) -> str:
    """A name that can be written: that of a file may hold bytes that are no text, which become escapes."""
    return name.encode("utf-8", "backslashreplace").decode()


@dataclass(frozen=True)
class ImageFile:
    """Reads an image file, whatever the frame."""

    path: Path

    def __call__(self, frame: int) -> NDArray[Any]:
        return read_image(self.path)


def image_file(path: Path) -> Read:
    """How an image file is read."""
    return ImageFile(path)


def find_reference(views: Iterable[View], told: str | None, default: str, source: Path) -> View:
    """The view whose image is called `told`, or else `default`."""
    named = {view.name: view for view in views}
    if told is not None:
        if told not in named:
            raise InputError(f"{source}: the reference {told!r} is not one of its images; {hint(told, named)}")
        return named[told]
    if default not in named:
        raise InputError(
            f"{source}: the reference image {default} is missing; add it, or name another as the reference."
        )
    return named[default]


def stands_at(row: float, column: float) -> Baseline:
    """The baseline of a cell of a grid, whose rows grow downwards and columns to the right, as the cameras stand.

    Baselines point against the camera's movement, so a view's less the reference's is (col_ref - col, row_ref - row).
    """
    return float(-column), float(-row)


def by_cell(cells: Iterable[tuple[tuple[int, int], Path]]) -> dict[tuple[int, int], Path]:
    """Files of a grid, by (row, column) and sorted; two files for one cell are refused."""
    grid: dict[tuple[int, int], Path] = {}
    for cell, path in sorted(cells):
        if cell in grid:
            raise InputError(f"{path}: stands for the same view as {grid[cell].name}; remove one of them.")
        grid[cell] = path
    return grid


def image_grid(cells: Iterable[tuple[tuple[int, int], Path]]) -> dict[tuple[int, int], View]:
    """Views of image files on a grid, by (row, column)."""
    return {cell: View(path.name, stands_at(*cell), image_file(path)) for cell, path in by_cell(cells).items()}


def file_called(folder: Path, name: str) -> Path | None:
    """The file of that name, whatever the case of its suffix (some cameras and programs write .PNG); None without."""
    if os.path.exists(folder / name):
        return folder / name
    wanted = Path(name)
    found = (path for path in files_in(folder) if path.stem == wanted.stem and path.suffix.lower() == wanted.suffix)
    return next(found, None)


def baselines_of(others: list[View], reference: View, shape: tuple[int, int]) -> geometry.Floats:
    """(B_x, B_y) of views relative to the reference, images being (height, width) pixels."""
    if not isinstance(reference.stands, geometry.Camera):
        return np.array([view.stands for view in others]) - np.array(reference.stands)
    pairs = [view.stands.relative_to(reference.stands) for view in others if isinstance(view.stands, geometry.Camera)]
    return np.array([geometry.baseline(M, m, shape) for M, m in pairs])
