"""Folders of the 4D Light Field Benchmark: input_Cam000.png ..., parameters.cfg, gt_disp_lowres.pfm.

Camera k stands at row k // columns and column k % columns.  A point that the reference sees at (x, y) with disparity d
appears at (x + d (col_ref - col), y + d (row_ref - row)) in another view; positive disparities are nearer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradcon.errors import InputError
from gradcon.files import files_in, write_files
from gradcon.io import pfm
from gradcon.io.formats.format import Format, Hints
from gradcon.io.formats.hci_parameters import Parameters, Value, format_parameters, read_parameters
from gradcon.io.images import png
from gradcon.io.listing import Listing, file_called, find_reference, image_grid
from gradcon.scene import Calibration

PARAMETERS = "parameters.cfg"
GROUND_TRUTH = "gt_disp_lowres.pfm"
_VIEW = re.compile(r"input_Cam(\d{3,6})\.(?i:png)", re.ASCII)
_GRID = (9, 9)  # unless parameters.cfg says otherwise


def is_hci(folder: Path) -> bool:
    """Return whether a folder holds views with the benchmark's file names."""
    return any(_VIEW.fullmatch(path.name) for path in files_in(folder))


def list_hci(folder: Path, hints: Hints) -> Listing:
    """List the views that are present; the reference is the centre view unless `hints` names another."""
    parameters = _parameters(folder)
    rows, columns = _GRID
    if parameters:
        rows, columns = int(parameters["num_cams_y"]), int(parameters["num_cams_x"])
    cells = []
    for path in files_in(folder):
        if match := _VIEW.fullmatch(path.name):
            number = int(match[1])
            if number >= rows * columns:
                problem = f"is outside the {rows} x {columns} grid of cameras"
                raise InputError(path, problem, f"remove it, or correct the grid in {PARAMETERS}")
            cells.append((divmod(number, columns), path))
    grid = image_grid(cells)
    views = list(grid.values())
    centre = rows // 2, columns // 2
    default = grid[centre].name if centre in grid else view_name(*centre, columns)
    chosen = find_reference(views, hints.reference, default, folder)
    row, column = next(cell for cell, view in grid.items() if view is chosen)
    steps = column - columns // 2, row - rows // 2
    name = GROUND_TRUTH
    if (row, column) != centre:  # the benchmark offers the truth of other views as separate files
        name = f"gt_disp_lowres_{Path(chosen.name).stem.removeprefix('input_')}.pfm"
    truth = file_called(folder, name)
    size = None
    if parameters:
        size = int(parameters["image_resolution_x_px"]), int(parameters["image_resolution_y_px"])
    return Listing(
        source=folder,
        views=views,
        reference=chosen,
        ground_truth=(lambda: pfm.read_pfm(truth)) if truth is not None else None,
        truth_file=truth,
        calibration=_calibration(parameters, steps) if parameters else None,
        metadata={"format": "hci", **parameters},
        size=size,
        name=str(parameters.get("scene", "")),  # otherwise the folder's name
    )


def _recognise(path: Path, hints: Hints) -> str | None:
    return "it holds views named input_Cam000.png and so on" if path.is_dir() and is_hci(path) else None


HCI = Format("a folder of the 4D Light Field Benchmark", _recognise, list_hci)


def write_hci(
    folder: str | Path,
    views: ArrayLike,
    ground_truth: ArrayLike | None = None,
    parameters: Mapping[str, Value] | None = None,
    *,
    cells: Iterable[tuple[int, int]] | None = None,
) -> Path:
    """Write a light field as a folder of the 4D Light Field Benchmark: all files, or none if one fails.

    Parameters
    ----------
    folder : str or Path
    views : array[v, u, y, x] or array[v, u, y, x, 3] of uint8 (or uint16)
        Rows v run down and columns u to the right, as the cameras stand.
    ground_truth : (height, width) array, optional
        Disparity of the centre view (rows // 2, columns // 2), in pixels per unit baseline.
    parameters : dict, optional
        The fields of parameters.cfg (see `hci_parameters.FIELDS`) in one flat dict; the grid and the size of the images
        are filled in.  If omitted, no parameters.cfg is written; only a 9 x 9 grid can do without one.
    cells : iterable of (v, u), optional
        The views to write; all by default.
    """
    array = np.asarray(views)
    if array.ndim not in (4, 5) or array.dtype not in (np.uint8, np.uint16):
        raise InputError(
            folder,
            f"the views are {array.dtype} of the shape {array.shape}",
            "give a uint8 or uint16 array[v, u, y, x] or array[v, u, y, x, 3]",
        )
    rows, columns, height, width = array.shape[:4]
    chosen = sorted({(int(v), int(u)) for v, u in cells} if cells is not None else set(np.ndindex(rows, columns)))
    outside = [cell for cell in chosen if not (0 <= cell[0] < rows and 0 <= cell[1] < columns)]
    if outside:
        problem = f"the view {outside[0]} is outside the {rows} x {columns} grid of views"
        raise InputError(folder, problem, "leave it out of the cells")
    if parameters is None and (rows, columns) != _GRID:
        raise InputError(folder, f"a grid of {rows} x {columns} needs a {PARAMETERS}", "give the parameters")
    if ground_truth is not None and np.shape(ground_truth) != (height, width):
        problem = f"the ground truth has the shape {np.shape(ground_truth)} but the views have {(height, width)}"
        raise InputError(folder, problem, "give a map of the views' size")
    found = {
        "num_cams_x": columns,
        "num_cams_y": rows,
        "image_resolution_x_px": width,
        "image_resolution_y_px": height,
    }

    _refuse_leftovers(Path(folder), {view_name(v, u, columns) for v, u in chosen}, parameters, ground_truth)

    def files() -> Iterator[tuple[str, bytes]]:
        if parameters is not None:
            yield PARAMETERS, _filled(parameters, found, f"{folder}/{PARAMETERS}").encode()
        if ground_truth is not None:
            yield GROUND_TRUTH, pfm.encode(ground_truth)
        for v, u in chosen:
            yield view_name(v, u, columns), png.encode(_view(array, v, u))

    return write_files(Path(folder), files())


def _calibration(parameters: Parameters, steps: tuple[float, float]) -> Callable[[tuple[int, int]], Calibration]:
    return lambda shape: Calibration.of_converged_array(parameters, shape).moved(steps)


def view_name(row: int, column: int, columns: int) -> str:
    """Return the benchmark's file name for the view at (row, column) of a grid with that many columns."""
    return f"input_Cam{row * columns + column:03d}.png"


def _refuse_leftovers(folder: Path, views: set[str], parameters: object, ground_truth: object) -> None:
    """Reject a folder where files of another scene would mix with the new ones."""
    written = views | ({PARAMETERS} if parameters is not None else set())
    written |= {GROUND_TRUTH} if ground_truth is not None else set()
    for path in files_in(folder) if folder.is_dir() else []:
        belongs = path.name in (PARAMETERS, GROUND_TRUTH, "rig.toml") or _VIEW.fullmatch(path.name)
        if belongs and path.name not in written:
            raise InputError(folder, f"already holds another scene ({path.name})", "choose an empty folder")


def _view(array: NDArray[Any], v: int, u: int) -> NDArray[Any]:
    view = array[v, u]
    return view[..., 0] if view.ndim == 3 and view.shape[2] == 1 else view


def _filled(parameters: Mapping[str, Value], found: dict[str, int], where: str) -> str:
    for name, value in found.items():
        if parameters.get(name, value) != value:
            problem = f"the field {name!r} is {parameters[name]}, but the views have {value}"
            raise InputError(where, problem, "correct the field, or leave it out")
    return format_parameters({**parameters, **found}, where)


def _parameters(folder: Path) -> Parameters:
    path = file_called(folder, PARAMETERS)
    return read_parameters(path) if path is not None else {}
