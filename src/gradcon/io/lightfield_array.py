"""Light fields stored as one array (NumPy, Zarr, HDF5): where its views stand, and what the readers share.

The pixels stay where they are: a listing knows the array's shape and how one view is cut out of it, and a view is
read when its turn has come.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradcon.errors import InputError
from gradcon.io.array_axes import Shape, channels_come_first, count_axes
from gradcon.io.fields import finite_number
from gradcon.io.format import Hints
from gradcon.io.listing import Baseline, Listing, View, stands_at
from gradcon.scene.calibration import Calibration

Index = tuple[int, ...]  # of a view: (v, u) on a grid, (u,) in a row or a list

CALIBRATION = ("focal_length_mm", "sensor_size_mm", "baseline_mm", "focus_distance_m")
ABOUT = 0.1  # by this share two lengths of a rig may differ and still be meant as one
_TOLD = re.compile(r"(?:view)?\s*\(?\s*(\d{1,6})\s*(?:,\s*(\d{1,6})\s*)?\)?", re.ASCII)


def grid_places(counts: Shape) -> dict[Index, Baseline]:
    """Where the views of a grid or a row stand: rows downwards, columns to the right."""
    return {index: stands_at(index[0] if len(index) == 2 else 0, index[-1]) for index in np.ndindex(*counts)}


def listed_places(baselines: ArrayLike, count: int, source: Path | str) -> dict[Index, Baseline]:
    """Where views stand whose baselines are given one by one."""
    B = np.asarray(baselines)
    if B.shape != (count, 2) or B.dtype.kind not in "buif" or not np.isfinite(B).all():
        raise InputError(
            f"{source}: baselines must be ({count}, 2) finite numbers, one (B_x, B_y) for each view, not {B.shape}."
        )
    return {(t,): (float(x), float(y)) for t, (x, y) in enumerate(B)}


def own_reference(stated: Any, places: Mapping[Index, Baseline], listed: bool, source: Path | str) -> Index:
    """The view that the source states as its reference, else the middle of a grid, else the one at (0, 0)."""
    if stated is not None:
        try:
            numbers = [float(k) for k in np.asarray(stated).reshape(-1)]
        except (TypeError, ValueError, OverflowError):
            numbers = []
        axes = len(next(iter(places)))
        if axes == 1 and len(numbers) == 2 and numbers[0] == 0:  # row 0 of the only row
            numbers = numbers[1:]
        if tuple(numbers) not in places:
            of = "the (v, u)" if axes == 2 else "the number"
            raise InputError(f"{source}: reference {stated!s:.60} is not one of its views; give {of} of one, from 0.")
        return tuple(int(k) for k in numbers)
    if listed:
        at_origin = [index for index, stands in places.items() if stands == (0, 0)]
        if not at_origin:
            raise InputError(f"{source}: none of its baselines is (0, 0); add `reference`, the number of a view.")
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
    """A listing of views that `read` cuts out of an array.

    `own` is the reference unless another is told; `calibration` is that of a camera at `middle`, from which the
    sensors of the others are shifted; `truth` gives the disparity of the views in `truth_of`.
    """
    chosen = own if hints.reference is None else _told(hints.reference, places, source)
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
    """The four fields of parameters.cfg that depth needs, checked; empty where none of them is stated."""
    stated = {name: fields[name] for name in CALIBRATION if fields.get(name) is not None}
    if stated and len(stated) < len(CALIBRATION):
        missing = next(name for name in CALIBRATION if name not in stated)
        raise InputError(f"{source}: the field {missing!r} is missing; give all of {', '.join(CALIBRATION)}, or none.")
    values = {}
    for name, given in stated.items():
        number = finite_number(scalar(given))
        if number is None or number <= 0:
            raise InputError(f"{source}: the field {name!r} must be a positive number, not {scalar(given)!r:.60}.")
        values[name] = number
    return values


def refuse_other_unit(places: Mapping[Index, Baseline], values: Mapping[str, float], source: Path) -> None:
    """Refuse listed baselines that look like millimetres or metres where they are taken for steps of `baseline_mm`.

    Depth would be off by that factor.  Neighbours need not stand one step apart: they may be every second camera of a
    grid, or stand closer one way than the other.  But as far apart as `baseline_mm` says, in its unit, is no chance.
    """
    from scipy.spatial import KDTree

    step, stands = values.get("baseline_mm", 1.0), np.unique(list(places.values()), axis=0)
    if len(stands) < 2:
        return
    apart = float(np.median(KDTree(stands).query(stands, k=2)[0][:, 1]))
    for unit, length in (("millimetres", 1.0), ("metres", 1000.0)):
        if _about(apart * length, step) and not _about(step, length):
            raise InputError(
                f"{source}: its nearest views stand {apart:.6g} apart, as if in {unit}, but baseline_mm ({step:.6g}) "
                "is the length of one unit of the baselines; give them in steps between neighbours, or in millimetres "
                "with baseline_mm=1."
            )


def _about(value: float, expected: float) -> bool:
    return abs(value - expected) <= ABOUT * expected


def converged(values: Mapping[str, float]) -> Callable[[tuple[int, int]], Calibration] | None:
    """The calibration of the middle camera by these fields, for a given size of images."""
    return (lambda shape: Calibration.of_converged_array(values, shape)) if values else None


def stated_name(value: Any, source: Path | str) -> str:
    """The scene's name; empty where none is stated."""
    name = "" if value is None else scalar(value)
    if not isinstance(name, str):
        raise InputError(f"{source}: its name must be one text, not {name!r:.60}.")
    return name


def scalar(value: Any) -> Any:
    """A plain number or text out of an array of one element, and text out of bytes; all else as it is."""
    if isinstance(value, (np.ndarray, np.generic)) and value.size == 1:
        value = value.reshape(-1)[0].item() if isinstance(value, np.ndarray) else value.item()
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def refuse_blank(pixels: NDArray[Any], fill: Any, where: str) -> None:
    """Refuse a view that holds nothing but the fill value: missing chunks are read as that, without a word."""
    if pixels.flat[0] == fill and bool(np.all(pixels == fill)):  # the first alone clears almost every view
        raise InputError(f"{where}: all its pixels are {fill}, as if it were missing; copy or export the views again.")


@contextmanager
def sentences(source: Path | str, what: str = "") -> Iterator[None]:
    """Whatever a library says of a file it cannot read becomes a sentence that names the file."""
    try:
        yield
    except (InputError, MemoryError):
        raise
    except Exception as error:  # each library has its own, and damaged files bring out unusual ones
        reason = (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")[:160]
        where = f"{what} cannot be read" if what else "cannot be read"
        raise InputError(f"{source}: {where} ({reason}); it may be damaged, so copy or export it again.") from None


def library(name: str, extra: str, source: Path | str) -> Any:
    """An optional library, or a sentence that says how to get it."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise InputError(f"{source}: needs the library {name}; pip install 'gradcon[{extra}]'.") from None


def _told(told: str, places: Mapping[Index, Baseline], source: Path) -> Index:
    match = _TOLD.fullmatch(told.strip())
    index = tuple(int(k) for k in match.groups() if k is not None) if match else ()
    if index not in places:
        last = max(places)
        raise InputError(
            f"{source}: the reference {told!r} is not one of its views; they are {view_name(min(places))} to "
            f"{view_name(last)}."
        )
    return index


def _read(source: Path, read: Callable[[Index], NDArray[Any]], index: Index, frame: int) -> NDArray[Any]:
    with sentences(source, view_name(index)):
        return read(index)


def save_lightfield(
    path: str | Path,
    views: ArrayLike,
    *,
    ground_truth: ArrayLike | None = None,
    reference: tuple[int, int] | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> Path:
    """Write a light field as one array, by the suffix of `path`: .npz, .zarr, or .h5 as the older HCI set is stored.

    Parameters
    ----------
    path : str or Path
        An .npz or .h5 that exists is replaced; a .zarr folder must be new.  All is written or nothing.
    views : array[v, u, y, x] or array[v, u, y, x, channel]
        Row v grows downwards and column u to the right, as the cameras stand.
    ground_truth : (height, width) array, optional
        Disparity of the reference in pixels per unit baseline, one step of the grid.
    reference : (v, u), optional
        The middle of the grid by default; an .h5 can have no other.
    parameters : dict, optional
        What depth needs, as in parameters.cfg: focal_length_mm, sensor_size_mm, baseline_mm and focus_distance_m, and
        `scene`, a name; other fields are not written.  An .h5 with ground truth, which it stores as depth, needs them.
    """
    path, array = Path(path), np.asarray(views)
    if count_axes(array.shape, array.dtype, path, grid=True) != 2:
        raise InputError(f"{path}: views must be array[v, u, y, x] or array[v, u, y, x, channel], not {array.shape}.")
    own_reference(reference, grid_places(array.shape[:2]), False, path)
    truth = None if ground_truth is None else np.asarray(ground_truth, dtype=np.float32)
    if truth is not None and truth.shape != array.shape[2:4]:
        raise InputError(f"{path}: ground truth is {truth.shape} but the views are {array.shape[2:4]}.")
    fields: dict[str, Any] = {**stated_calibration(parameters or {}, path)}
    if parameters and parameters.get("scene"):
        fields["name"] = str(parameters["scene"])
    if reference is not None:
        fields["reference"] = [int(k) for k in reference]
    write = _writers().get(path.suffix.lower())
    if write is None:
        raise InputError(f"{path}: the suffix says how a light field is stored; use one of {', '.join(_writers())}.")
    if path.suffix.lower() != ".npz":  # what could not be read back is not written
        for index in np.ndindex(array.shape[:2]):
            refuse_blank(array[index], 0, f"{path}, {view_name(index)}")
    write(path, array[..., None] if channels_come_first(array.shape) else array, truth, fields)
    return path


Writer = Callable[[Path, NDArray[Any], NDArray[np.float32] | None, dict[str, Any]], None]


def _writers() -> dict[str, Writer]:
    from gradcon.io import hdf5, npy, zarr_store

    return {".npz": npy.write, ".zarr": zarr_store.write, ".h5": hdf5.write}
