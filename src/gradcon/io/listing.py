"""What every reader finds, and how a scene is made of it.

A reader says which images there are, where each stands, which one is the reference and where the truth is: a
`Listing`. `load` chooses views by their baselines, and only then reads images.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon import geometry
from gradcon.errors import InputError
from gradcon.io.fields import hint
from gradcon.io.images import read_image
from gradcon.scene import Scene, Views, choose_views

Baseline = tuple[float, float]


@dataclass(frozen=True)
class View:
    """An image file and where it was taken from: a baseline among equal cameras, or a calibrated camera."""

    path: Path
    name: str
    stands: Baseline | geometry.Camera


@dataclass(frozen=True)
class Listing:
    """A scene before its images are read; all views stand by baselines, or all by cameras.

    Baselines may be counted from anywhere: only their difference to the reference's matters.  `ground_truth`
    is called when the scene is built, and gives disparity per unit baseline with all listed views.
    """

    source: Path  # said in messages: the folder or the rig.toml
    views: list[View]
    reference: View
    ground_truth: Callable[[], NDArray[np.float32]] | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    size: tuple[int, int] | None = None  # (width, height) that the source states
    name: str = ""


def load(listing: Listing, which: Views = "all") -> Scene:
    """Choose the views, read their images, build the scene."""
    reference = listing.reference
    others = [view for view in listing.views if view is not reference]
    if not others:
        raise InputError(f"{listing.source}: holds only one view, {reference.name}; at least two are needed.")
    image = read_image(reference.path)
    height, width = image.shape[:2]
    if listing.size not in (None, (width, height)):
        assert listing.size is not None
        raise InputError(
            f"{listing.source}: states images of {listing.size[0]} x {listing.size[1]} pixels, but "
            f"{reference.name} is {width} x {height}; correct one of them."
        )
    baselines = _baselines(others, reference, (height, width))
    chosen = choose_views(baselines, which)
    targets = [others[k] for k in chosen]
    with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
        images = list(pool.map(read_image, [view.path for view in targets]))
    truth = listing.ground_truth() if listing.ground_truth is not None else None
    common: dict[str, Any] = {
        "name": listing.name or Path(listing.source).resolve().name,
        "reference_name": reference.name,
        "target_names": [view.name for view in targets],
        "metadata": listing.metadata,
    }
    if not isinstance(reference.stands, geometry.Camera):
        return Scene(image, images, baselines[chosen], ground_truth=truth, **common)
    # One unit for a rig, the baseline of the nearest of all its views, whichever of them are chosen.
    lengths = np.hypot(*baselines.T)
    unit = float(min((length for length in lengths if length > 0), default=1.0))
    cameras = [view.stands for view in [reference, *targets] if isinstance(view.stands, geometry.Camera)]
    return Scene.from_cameras(image, images, cameras, unit=unit, ground_truth=truth, **common)


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


def by_cell(cells: Iterable[tuple[tuple[int, int], Path]]) -> dict[tuple[int, int], View]:
    """Views on a grid, by (row, column); two files for one cell are refused.

    Rows grow downwards and columns to the right, as the cameras stand, and baselines point against the
    camera's movement, so a view's baseline less the reference's is (col_ref - col, row_ref - row).
    """
    grid: dict[tuple[int, int], View] = {}
    for (row, column), path in sorted(cells):
        if (row, column) in grid:
            raise InputError(f"{path}: stands for the same view as {grid[row, column].name}; remove one of them.")
        grid[row, column] = View(path, path.name, (float(-column), float(-row)))
    return grid


def files_in(folder: Path) -> list[Path]:
    """Everything that lies in a folder, sorted by name."""
    try:
        return sorted(folder.iterdir())
    except OSError as error:
        raise InputError(f"{folder}: cannot be listed ({error.strerror}); check the path and permissions.") from None


def _baselines(others: list[View], reference: View, shape: tuple[int, int]) -> geometry.Floats:
    if not isinstance(reference.stands, geometry.Camera):
        return np.array([view.stands for view in others]) - np.array(reference.stands)
    pairs = [view.stands.relative_to(reference.stands) for view in others if isinstance(view.stands, geometry.Camera)]
    return np.array([geometry.baseline(M, m, shape) for M, m in pairs])
