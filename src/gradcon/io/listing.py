"""The listing that every reader returns, and how a scene is loaded from it.

A `Listing` says which views there are, where each camera stands, how its pixels are read, which view is the reference
and where the ground truth is.  `load` chooses views by their baselines, and reads only the images of those.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.errors import InputError, printable
from gradcon.files import files_in
from gradcon.io.fields import hint
from gradcon.io.images import read_image
from gradcon.lens import Undistortion
from gradcon.lens.areas import undistorted_areas
from gradcon.scene import Scene, Views, choose_views, geometry
from gradcon.scene.calibration import Calibration
from gradcon.scene.layout import Layout

Baseline = tuple[float, float]
Read = Callable[[int], NDArray[Any]]


@dataclass(frozen=True)
class View:
    """A view: its name, where its camera stands, and how its pixels are read.

    `stands` is a baseline if all cameras are alike, or a calibrated camera.  `read` takes a frame number; a still has
    only frame 0.  If the lens bends straight lines, `image` undistorts the view, and `stands` is the camera of the
    undistorted view.
    """

    name: str
    stands: Baseline | geometry.Camera
    read: Read
    undistortion: Undistortion | None = None

    def image(self, frame: int) -> NDArray[Any]:
        """Return the pixels of a frame, undistorted."""
        return self.undistorted(self.read(frame))

    def undistorted(self, pixels: NDArray[Any]) -> NDArray[Any]:
        """Return what a pinhole camera would have seen in place of the pixels that were read."""
        return pixels if self.undistortion is None else self.undistortion.image(pixels, writable(self.name))


@dataclass(frozen=True)
class Listing:
    """A scene whose images have not been read yet.

    Either all views have baselines, or all have cameras.  The origin of the baselines is arbitrary: only differences
    to the reference's baseline matter.  `ground_truth` is called when the scene is loaded; it returns disparities per
    unit baseline, where the unit is that of all listed views, whichever of them are used.
    """

    source: Path  # the folder or file, for messages
    views: list[View]
    reference: View
    ground_truth: Callable[[], NDArray[Any]] | None = None
    truth_file: Path | None = None  # for messages; None if the truth has no file of its own
    calibration: Callable[[tuple[int, int]], Calibration | None] | None = None  # of (height, width); not for cameras
    metadata: dict[str, Any] = field(default_factory=dict)
    size: tuple[int, int] | None = None  # the (width, height) that the source states
    name: str = ""
    unit: str = ""  # of the cameras' translations
    frames: int | None = None  # the number of frames of a video; None for a still
    recognised: str = ""  # the name of the format, and how it was recognised
    doubts: list[str] = field(default_factory=list)  # for `Scene.doubts`
    layout: Layout = field(default_factory=Layout)  # for `Scene.layout`

    def chosen(self, which: Views) -> Listing:
        """Return the listing with only the views that `load` would choose."""
        others = [view for view in self.views if view is not self.reference]
        if which == "all" or not others:
            return self
        kept = choose_views(baselines_of(others, self.reference, self._shape()), which)
        return replace(self, views=[self.reference, *(others[k] for k in kept)])

    def laid_out(self, layout: Layout) -> Listing:
        """Return the listing with all baselines transposed or reversed, as `Scene.flipped` does."""
        if layout == Layout():
            return self
        moved: dict[int, View] = {}
        for view in self.views:
            if isinstance(view.stands, geometry.Camera):
                problem = "its views have camera matrices, and only the baselines of a planar array can be flipped"
                raise InputError(self.source, problem, "correct the matrices")
            x, y = layout.of(np.array([view.stands], np.float64))[0].tolist()
            moved[id(view)] = replace(view, stands=(x, y))
        calibrate = self.calibration

        def calibration(shape: tuple[int, int]) -> Calibration | None:
            known = calibrate(shape) if calibrate is not None else None
            return known.laid_out(layout) if known is not None else None

        reference = moved[id(self.reference)]
        laid_out = self.layout.then(layout)
        return replace(self, views=list(moved.values()), reference=reference, calibration=calibration, layout=laid_out)

    def _shape(self) -> tuple[int, int]:
        """Return (height, width), for which a camera's image is read if the source does not state it."""
        if self.size is not None:
            return self.size[1], self.size[0]
        height, width = self.reference.read(0).shape[:2]
        return height, width


def load(listing: Listing, which: Views = "all", frame: int = 0) -> Scene:
    """Choose the views, read their images and build the scene."""
    scene = _load(listing, which, frame)
    scene.doubts, scene.layout = list(listing.doubts), listing.layout
    return scene


def _load(listing: Listing, which: Views, frame: int) -> Scene:
    reference = listing.reference
    others = [view for view in listing.views if view is not reference]
    if not others:
        raise InputError(listing.source, f"holds only one view, {reference.name}", "add at least one more")
    given = reference.read(frame)
    height, width = given.shape[:2]
    if listing.size not in (None, (width, height)):
        assert listing.size is not None
        raise InputError(
            listing.source,
            f"states images of {listing.size[0]} x {listing.size[1]} pixels, but {reference.name} is "
            f"{width} x {height}",
            "correct one of them",
        )
    baselines = baselines_of(others, reference, (height, width))
    chosen = choose_views(baselines, which)
    targets = [others[k] for k in chosen]
    truth = _read_truth(listing, (height, width))
    lenses = undistorted_areas([view.undistortion for view in (reference, *targets)], (height, width))
    image = reference.undistorted(given)
    images = [partial(view.image, frame) for view in targets]
    common: dict[str, Any] = {
        "name": writable(listing.name or Path(listing.source).resolve().name),
        "reference_name": writable(reference.name),
        "target_names": [writable(view.name) for view in targets],
        "metadata": {**listing.metadata, **lenses.metadata},
        "ground_truth": truth,
        "seen": lenses.seen,
    }
    try:
        if not isinstance(reference.stands, geometry.Camera):
            calibration = listing.calibration((height, width)) if listing.calibration is not None else None
            return Scene(image, images, baselines[chosen], calibration=calibration, **common)
        # The unit baseline is that of the rig's nearest view, so that it does not depend on which views are chosen.
        cameras = [view.stands for view in [reference, *targets] if isinstance(view.stands, geometry.Camera)]
        nearest = geometry.shortest(list(baselines))
        return Scene.from_cameras(image, images, cameras, unit=listing.unit, nearest=nearest, **common)
    except InputError as error:
        # The scene names a view or itself; a reader that fails names the whole path.
        if error.where in ("calibration", common["reference_name"], *common["target_names"]):
            raise InputError(f"{listing.source}, {error.where}", error.problem, error.remedy) from None
        if error.where == common["name"]:
            raise InputError(listing.source, error.problem, error.remedy) from None
        raise


def _read_truth(listing: Listing, shape: tuple[int, int]) -> NDArray[Any] | None:
    """Read the ground truth, if there is one, and check its size."""
    if listing.ground_truth is None:
        return None
    truth = listing.ground_truth()
    if truth.ndim == 2 and truth.shape != shape:
        raise InputError(
            listing.truth_file or listing.source,
            f"the ground truth is {truth.shape[1]} x {truth.shape[0]} pixels but {listing.reference.name} is "
            f"{shape[1]} x {shape[0]}",
            "use the matching file",
        )
    return truth


def writable(name: str) -> str:
    """Escape what is not text in a name, so that it can be written and printed."""
    return printable(name)


@dataclass(frozen=True)
class ImageFile:
    """Reads an image file, which is the same for every frame."""

    path: Path

    def __call__(self, frame: int) -> NDArray[Any]:
        return read_image(self.path)


def find_reference(views: Iterable[View], told: str | None, default: str, source: Path) -> View:
    """Return the view whose image is called `told` or, if that is None, `default`."""
    named = {view.name: view for view in views}
    if told is not None:
        if told not in named:
            raise InputError(source, f"the reference {told!r} is not one of its images", hint(told, named))
        return named[told]
    if default not in named:
        raise InputError(
            source, f"the reference image {default} is missing", "add it, or name another as the reference"
        )
    return named[default]


def stands_at(row: float, column: float) -> Baseline:
    """Return the baseline of a cell in a grid of cameras, whose rows run down and columns to the right.

    Baselines point against the camera's movement, so a view's baseline minus the reference's is
    (col_ref - col, row_ref - row).
    """
    return float(-column), float(-row)


def by_cell(cells: Iterable[tuple[tuple[int, int], Path]]) -> dict[tuple[int, int], Path]:
    """Map (row, column) to the file of that cell, in sorted order; reject two files for one cell."""
    grid: dict[tuple[int, int], Path] = {}
    for cell, path in sorted(cells):
        if cell in grid:
            raise InputError(path, f"stands for the same view as {grid[cell].name}", "remove one of them")
        grid[cell] = path
    return grid


def image_grid(cells: Iterable[tuple[tuple[int, int], Path]]) -> dict[tuple[int, int], View]:
    """Map (row, column) to the view of that cell, whose image is a file."""
    return {cell: View(path.name, stands_at(*cell), ImageFile(path)) for cell, path in by_cell(cells).items()}


def file_called(folder: Path, name: str) -> Path | None:
    """Find the file of that name, ignoring the case of its suffix (some cameras write .PNG); None if there is none."""
    if os.path.exists(folder / name):
        return folder / name
    wanted = Path(name)
    found = (path for path in files_in(folder) if path.stem == wanted.stem and path.suffix.lower() == wanted.suffix)
    return next(found, None)


def baselines_of(others: list[View], reference: View, shape: tuple[int, int]) -> geometry.Floats:
    """Return the baselines (B_x, B_y) of views relative to the reference; `shape` is (height, width) of the images."""
    if not isinstance(reference.stands, geometry.Camera):
        return np.array([view.stands for view in others]) - np.array(reference.stands)
    pairs = [view.stands.relative_to(reference.stands) for view in others if isinstance(view.stands, geometry.Camera)]
    return np.array([geometry.baseline(M, m, shape) for M, m in pairs])
