"""What the readers of light fields stored as one array (NumPy, Zarr, HDF5) have in common.

The pixels stay in the file: a listing knows the array's shape and how to read one view of it, and each view is read
when it is needed.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
from collections.abc import Callable, Container, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradcon.damage import refuse_damage
from gradcon.errors import InputError
from gradcon.extras import install_extra
from gradcon.io.formats.format import Hints
from gradcon.io.listing import Baseline, Listing, View, stands_at
from gradcon.scene.array_axes import Shape, channels_come_first, count_axes
from gradcon.scene.calibration import Calibration
from gradcon.scene.numbers import finite_number

Index = tuple[int, ...]  # of a view: (v, u) in a grid, (u,) in a row or a list

CALIBRATION = ("focal_length_mm", "sensor_size_mm", "baseline_mm", "focus_distance_m")
SAME_LENGTH = 0.1  # two lengths of a rig that differ by at most this share are meant to be equal
_NAME = re.compile(r"(?:view)?\s*\(?\s*(\d{1,6})\s*(?:,\s*(\d{1,6})\s*)?\)?", re.ASCII)


def grid_places(counts: Shape) -> dict[Index, Baseline]:
    """Return the baselines of a grid or a row of views; rows run down and columns to the right."""
    return {index: stands_at(index[0] if len(index) == 2 else 0, index[-1]) for index in np.ndindex(*counts)}


def listed_places(baselines: ArrayLike, count: int, source: Path | str) -> dict[Index, Baseline]:
    """Return the baselines of views that the file lists one by one."""
    B = np.asarray(baselines)
    if B.shape != (count, 2) or B.dtype.kind not in "buif" or not np.isfinite(B).all():
        problem = f"its baselines must be ({count}, 2) finite numbers, not {B.dtype} of {B.shape}"
        raise InputError(source, problem, "store one (B_x, B_y) for each view")
    return {(t,): (float(x), float(y)) for t, (x, y) in enumerate(B)}


def own_reference(stated: Any, places: Mapping[Index, Baseline], listed: bool, source: Path | str) -> Index:
    """Return the reference that the source states, or else the middle of a grid or the listed view at (0, 0)."""
    if stated is not None:
        try:
            numbers = [float(k) for k in np.asarray(stated).reshape(-1)]
        except (TypeError, ValueError, OverflowError):
            numbers = []
        axes = len(next(iter(places)))
        if axes == 1 and len(numbers) == 2 and numbers[0] == 0:  # (0, u): the row itself may be named too
            numbers = numbers[1:]
        if tuple(numbers) not in places:
            of = "the (v, u)" if axes == 2 else "the number"
            problem = f"its reference {stated!s:.60} is not one of its views"
            raise InputError(source, problem, f"store {of} of a view, counted from 0")
        return tuple(int(k) for k in numbers)
    if listed:
        at_origin = [index for index, stands in places.items() if stands == (0, 0)]
        if not at_origin:
            raise InputError(source, "none of its baselines is (0, 0)", "add `reference`, the number of a view")
        return at_origin[0]
    return tuple((last + 1) // 2 for last in max(places))


def make_listing(
    source: Path,
    places: Mapping[Index, Baseline],
    read: Callable[[Index], NDArray[Any]],
    hints: Hints,
    *,
    own: Index,
    middle: Baseline,
    metadata: dict[str, Any],
    truth: Callable[[Index], NDArray[Any]] | None = None,
    truth_of: Container[Index] = (),
    calibration: Callable[[tuple[int, int]], Calibration] | None = None,
    name: str = "",
) -> Listing:
    """List the views of an array.

    Parameters
    ----------
    source : Path
        The file or folder, for messages.
    places : mapping of Index to Baseline
        Where each view stands.
    read : callable
        Reads the view of an index.
    hints : Hints
        What the user said; its reference takes precedence over `own`.
    own : Index
        The reference that the source states or implies.
    middle : Baseline
        Where a camera with the given calibration stands; the sensors of all others are shifted against its sensor.
    metadata : dict
        What the source says about itself.
    truth : callable, optional
        Gives the disparity of a view in `truth_of`.
    truth_of : container of Index
    calibration : callable, optional
        Gives the calibration for images of (height, width).
    name : str
        The scene's name; that of the source by default.
    """
    chosen = own if hints.reference is None else _asked_for(hints.reference, places, source)
    views = {index: View(view_name(index), at, partial(_read, source, read, index)) for index, at in places.items()}
    steps = middle[0] - places[chosen][0], middle[1] - places[chosen][1]
    return Listing(
        source=source,
        views=list(views.values()),
        reference=views[chosen],
        ground_truth=partial(truth, chosen) if truth is not None and chosen in truth_of else None,
        calibration=(lambda shape: calibration(shape).moved(steps)) if calibration is not None else None,
        metadata=metadata,
        name=name,
    )


def view_name(index: Index) -> str:
    return f"view ({index[0]}, {index[1]})" if len(index) == 2 else f"view {index[0]}"


def stated_calibration(fields: Mapping[str, Any], source: Path | str) -> dict[str, float]:
    """Check the four fields of parameters.cfg that depth needs; the result is empty if none of them is stated."""
    stated = {name: fields[name] for name in CALIBRATION if fields.get(name) is not None}
    if stated and len(stated) < len(CALIBRATION):
        missing = next(name for name in CALIBRATION if name not in stated)
        raise InputError(source, f"the field {missing!r} is missing", f"give all of {', '.join(CALIBRATION)}, or none")
    values = {}
    for name, given in stated.items():
        number = finite_number(scalar(given))
        if number is None or number <= 0:
            problem = f"the field {name!r} must be a positive number, not {scalar(given)!r:.60}"
            raise InputError(source, problem, "correct it, or leave all of the calibration out")
        values[name] = number
    return values


def refuse_other_unit(places: Mapping[Index, Baseline], values: Mapping[str, float], source: Path) -> None:
    """Refuse listed baselines that look like millimetres or metres, as they are taken for steps of `baseline_mm`.

    Depth would be wrong by that factor.  Neighbours need not stand one step apart: they may be every second camera of a
    grid, or closer in one direction than in the other.  But if their distance is just `baseline_mm` in its own unit,
    that is no coincidence.
    """
    from scipy.spatial import KDTree

    step, stands = values.get("baseline_mm", 1.0), np.unique(list(places.values()), axis=0)
    if len(stands) < 2:
        return
    apart = float(np.median(KDTree(stands).query(stands, k=2)[0][:, 1]))
    for unit, length in (("millimetres", 1.0), ("metres", 1000.0)):
        if _about(apart * length, step) and not _about(step, length):
            problem = (
                f"its nearest views stand {apart:.6g} apart, as if in {unit}, but baseline_mm ({step:.6g}) is the "
                "length of one unit of the baselines"
            )
            remedy = "give the baselines in steps between neighbours, or in millimetres with baseline_mm=1"
            raise InputError(source, problem, remedy)


def _about(value: float, expected: float) -> bool:
    return abs(value - expected) <= SAME_LENGTH * expected


def converged(values: Mapping[str, float]) -> Callable[[tuple[int, int]], Calibration] | None:
    """Return a function that calibrates the middle camera for images of a size; None if nothing is stated."""
    return (lambda shape: Calibration.of_converged_array(values, shape)) if values else None


def stated_name(value: Any, source: Path | str) -> str:
    """Return the scene's name, which is empty if none is stated."""
    name = "" if value is None else scalar(value)
    if not isinstance(name, str):
        raise InputError(source, f"its name must be one text, not {name!r:.60}", "correct it, or leave it out")
    return name


def scalar(value: Any) -> Any:
    """Turn an array of one element into a plain number or text, and bytes into text; return all else as it is."""
    if isinstance(value, (np.ndarray, np.generic)) and value.size == 1:
        value = value.reshape(-1)[0].item() if isinstance(value, np.ndarray) else value.item()
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def refuse_blank(pixels: NDArray[Any], fill: Any, where: str) -> None:
    """Refuse a view that holds only the fill value, which the libraries silently give for missing chunks."""
    if pixels.flat[0] == fill and bool(np.all(pixels == fill)):  # the first pixel alone clears almost every view
        problem = f"all its pixels are {fill}, as if it were missing"
        raise InputError(where, problem, "copy or export the views again")


def needs_library(name: str, extra: str, source: Path | str) -> None:
    """Say how to install an optional library if it is missing; it is imported in a child process only."""
    if importlib.util.find_spec(name) is None:
        raise InputError(source, f"needs the library {name}", install_extra(extra))


def library(name: str, extra: str, source: Path | str) -> Any:
    """Import an optional library, or say how to install it."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise InputError(source, f"needs the library {name}", install_extra(extra)) from None


def _asked_for(name: str, places: Mapping[Index, Baseline], source: Path) -> Index:
    match = _NAME.fullmatch(name.strip())
    index = tuple(int(k) for k in match.groups() if k is not None) if match else ()
    if index not in places:
        problem = f"the reference {name!r} is not one of its views"
        raise InputError(source, problem, f"choose from {view_name(min(places))} to {view_name(max(places))}")
    return index


def _read(source: Path, read: Callable[[Index], NDArray[Any]], index: Index, frame: int) -> NDArray[Any]:
    with refuse_damage(source, view_name(index)):
        return read(index)


def save_lightfield(
    path: str | Path,
    views: ArrayLike,
    *,
    ground_truth: ArrayLike | None = None,
    reference: tuple[int, int] | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> Path:
    """Write a light field as one array, either completely or not at all.

    Parameters
    ----------
    path : str or Path
        The suffix chooses the format: .npz, .zarr, or .h5 as in the older HCI set.  An .npz or .h5 that exists is
        replaced; a .zarr folder must be new.
    views : array[v, u, y, x] or array[v, u, y, x, channel]
        Row v grows downwards and column u to the right, as the cameras stand.
    ground_truth : (height, width) array, optional
        Disparity of the reference in pixels per unit baseline, which is one step of the grid.
    reference : (v, u), optional
        The middle of the grid by default; an .h5 can have no other.
    parameters : dict, optional
        What depth needs, as in parameters.cfg: focal_length_mm, sensor_size_mm, baseline_mm and focus_distance_m; and
        `scene`, a name.  Other fields are not written.  An .h5 needs them if it has ground truth, because it stores
        depth.
    """
    path, array = Path(path), np.asarray(views)
    if count_axes(array.shape, array.dtype, path, grid=True) != 2:
        problem = f"an array of the shape {array.shape} is not a grid of views"
        raise InputError(path, problem, "give array[v, u, y, x] or array[v, u, y, x, channel]")
    own_reference(reference, grid_places(array.shape[:2]), False, path)
    truth = None if ground_truth is None else np.asarray(ground_truth, dtype=np.float32)
    if truth is not None and truth.shape != array.shape[2:4]:
        problem = f"the ground truth has the shape {truth.shape} but the views have {array.shape[2:4]}"
        raise InputError(path, problem, "give that of the reference")
    fields: dict[str, Any] = {**stated_calibration(parameters or {}, path)}
    if parameters and parameters.get("scene"):
        fields["name"] = str(parameters["scene"])
    if reference is not None:
        fields["reference"] = [int(k) for k in reference]
    write = _writers().get(path.suffix.lower())
    if write is None:
        problem = f"the suffix {path.suffix!r} is not that of a light-field format"
        raise InputError(path, problem, f"use one of {', '.join(_writers())}")
    if path.suffix.lower() != ".npz":  # do not write what could not be read back
        for index in np.ndindex(array.shape[:2]):
            refuse_blank(array[index], 0, f"{path}, {view_name(index)}")
    write(path, array[..., None] if channels_come_first(array.shape) else array, truth, fields)
    return path


Writer = Callable[[Path, NDArray[Any], NDArray[np.float32] | None, dict[str, Any]], None]


def _writers() -> dict[str, Writer]:
    from gradcon.io.formats import hdf5, npy, zarr_store

    return {".npz": npy.write, ".zarr": zarr_store.write, ".h5": hdf5.write}
