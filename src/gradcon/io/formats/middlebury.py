"""Multi-view folders of Middlebury 2001 to 2006: collinear, equally spaced views, counted from the left.

There are two layouts: view0.png ... view6.png with disp1.png (2005 and 2006, reference view1), and im0.ppm ... im8.ppm
with disp2.pgm (2001 and 2003, reference im2).  Any of the views may be missing.  A map's grey value divided by the size
factor is the disparity in pixels between its own view and the view four steps further on; divided by four again, it is
in pixels per unit baseline, the distance between adjacent views.  Grey 0 means unknown.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gradcon.errors import InputError
from gradcon.files import files_in, read_text
from gradcon.io.formats.format import Format, Hints
from gradcon.io.formats.image_folder import images_in
from gradcon.io.images import read_grey_values
from gradcon.io.listing import Listing, file_called, find_reference, image_grid
from gradcon.scene.calibration import Calibration
from gradcon.scene.numbers import finite_number

STEPS = 4  # between the two views to which the maps' disparities refer
FOCAL_PX, BASELINE_MM = 3740.0, 160.0  # for 2005 and 2006 at full size; the baseline is between these two views
CENTRED = 3  # the view whose principal point is assumed to be in the middle; see _calibration
DMIN = "dmin.txt"
CALIBRATED = "view"  # the layout of 2005 and 2006


@dataclass(frozen=True)
class _Layout:
    """One of the two naming schemes, and how the height of the images implies the size factor."""

    stem: str
    extension: str  # of the default reference
    reference: int
    factors: dict[int, float]  # by image height
    otherwise: float | None

    def factor(self, height: int, told: float | None) -> float | None:
        """Return the size factor, or None if it is unknown; for 2005 and 2006 the images are reduced by it too."""
        return told or self.factors.get(height, self.otherwise)


# The height identifies full, half and third size, and the three sizes of 2003; any other height is taken as 2001.
LAYOUTS = (
    _Layout("view", "png", 1, {1110: 1, 555: 2, 370: 3}, None),
    _Layout("im", "ppm", 2, {375: 4, 750: 2, 1500: 1}, 8),
)


def is_middlebury(folder: Path) -> bool:
    """Return whether a folder holds views with Middlebury's file names."""
    return any(_numbered(folder, layout.stem) for layout in LAYOUTS)


def list_middlebury(folder: Path, hints: Hints) -> Listing:
    """List the views that are present; the size factor is inferred unless `hints` gives it."""
    size_factor = hints.size_factor
    if size_factor is not None and not (np.isfinite(size_factor) and size_factor > 0):
        raise InputError("size_factor", f"must be a positive number, not {size_factor}", "correct it")
    layout, cells = next((layout, cells) for layout in LAYOUTS if (cells := _numbered(folder, layout.stem)))
    grid = image_grid(((0, number), path) for number, path in cells)
    default = grid.get((0, layout.reference))
    default_name = default.name if default else f"{layout.stem}{layout.reference}.{layout.extension}"
    chosen = find_reference(grid.values(), hints.reference, default_name, folder)
    number = next(column for (_, column), view in grid.items() if view is chosen)
    maps = [path for end in ("png", "pgm") if (path := file_called(folder, f"disp{number}.{end}")) is not None]
    return Listing(
        source=folder,
        views=list(grid.values()),
        reference=chosen,
        ground_truth=(lambda: read_map(maps[0], layout, size_factor)) if maps else None,
        truth_file=maps[0] if maps else None,
        calibration=(
            lambda shape: _calibration(file_called(folder, DMIN), layout.factor(shape[0], size_factor), shape, number)
        )
        if layout.stem == CALIBRATED
        else None,
        metadata={"format": "middlebury"},
    )


def _recognise(path: Path, hints: Hints) -> str | None:
    told_otherwise = hints.grid is not None or hints.slide  # numbered images are often called im1.png
    if told_otherwise or not path.is_dir() or not is_middlebury(path) or _is_other_pair(path, hints):
        return None
    return "it holds views named view1.png or im2.ppm and so on"


def _is_other_pair(folder: Path, hints: Hints) -> bool:
    """Return whether a folder holds only two images, neither the default reference: im0.png and im1.png are common."""
    layout, cells = next((layout, cells) for layout in LAYOUTS if (cells := _numbered(folder, layout.stem)))
    default = layout.reference in {number for number, _ in cells}
    return hints.reference is None and not default and len(cells) == len(images_in(folder)) == 2


MIDDLEBURY = Format("a multi-view folder of Middlebury", _recognise, list_middlebury, frozenset({"size_factor"}))


def read_map(path: Path, layout: _Layout, size_factor: float | None) -> NDArray[np.float32]:
    """Read a map of grey values as disparities in pixels per unit baseline, NaN where they are unknown."""
    grey = read_grey_values(path)
    factor = layout.factor(grey.shape[0], size_factor)
    if factor is None:
        raise InputError(
            path,
            f"is {grey.shape[0]} pixels high, not one of the published sizes ({', '.join(map(str, layout.factors))})",
            "give the size_factor to divide its grey values by",
        )
    return np.where(grey == 0, np.float32(np.nan), grey.astype(np.float32) / np.float32(factor * STEPS))


def _calibration(dmin: Path | None, factor: float | None, shape: tuple[int, int], number: int) -> Calibration | None:
    """Return the calibration (in mm) of the view of that number, or None without dmin.txt or a size factor.

    The dataset crops each view by dmin / 4 against the next, so the views do not share a principal point, and none is
    published.  The widths of the 13 scenes examined are 1690 - 3/2 dmin, to within a few pixels.  So the original
    frames were equally wide, and only the part that all seven views show was kept: the right of the first and the left
    of the last.  If the lens was in front of the middle of the frame, the principal point is in the middle of view3,
    the fourth view.
    """
    if dmin is None or factor is None:
        return None
    text = read_text(dmin).strip()
    try:
        cropped = finite_number(float(text))
    except ValueError:
        cropped = None
    if cropped is None:
        raise InputError(dmin, f"must hold one number, not {text!r:.60}", "download it again, or remove it")
    focal, (height, width) = FOCAL_PX / factor, shape
    K = np.array([[focal, 0, (width - 1) / 2], [0, focal, (height - 1) / 2], [0, 0, 1]])
    middle = Calibration(FOCAL_PX * BASELINE_MM / (STEPS * factor), K, cropped / (STEPS * factor), "mm")
    return middle.moved((number - CENTRED, 0))


def _numbered(folder: Path, stem: str) -> list[tuple[int, Path]]:
    pattern = re.compile(rf"{stem}(\d{{1,2}})\.(?i:png|ppm|pgm)", re.ASCII)
    found = ((pattern.fullmatch(path.name), path) for path in files_in(folder))
    return [(int(match[1]), path) for match, path in found if match]
