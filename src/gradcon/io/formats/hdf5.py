"""HDF5 files of the older HCI set: Wanner, Meister and Goldluecke, Datasets and Benchmarks for Densely Sampled 4D Light
Fields, VMV 2013.

The file's root holds `LF`, uint8 [v, u, y, x, 3]; `GT_DEPTH`, [v, u, y, x], or [y, x] of the centre view alone; and the
attributes `dH` and `dV` (distance between neighbouring cameras), `focalLength` (pixels) and `shift` (pixels by which
neighbouring images are shifted against each other).  The disparity of a depth Z is dH focalLength / Z - shift.

In these files rows are counted downwards but columns from right to left: as u grows, the camera moves to the left.
Files by others count to the right, so the images have to decide (`column_order`).
"""

from __future__ import annotations

import io
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.damage import claims_too_much, refuse_damage
from gradcon.errors import InputError
from gradcon.files import file_size, write_file
from gradcon.io.formats.column_order import columns_run_right
from gradcon.io.formats.format import Format, Hints
from gradcon.io.formats.lightfield_array import (
    CALIBRATION,
    Index,
    converged,
    library,
    make_listing,
    needs_library,
    refuse_blank,
    view_name,
)
from gradcon.io.formats.stored_array import StoredArray
from gradcon.io.listing import Baseline, Listing, stands_at
from gradcon.isolated import Reply, call
from gradcon.scene.array_axes import count_axes
from gradcon.scene.calibration import Calibration, check_unit
from gradcon.scene.numbers import finite_number

SIGNATURE = b"\x89HDF\r\n\x1a\n"
VIEWS, DEPTH, MASK = "LF", "GT_DEPTH", "GT_DEPTH_MASK"
COLUMNS = {
    True: "counted to the right, as the images show",
    False: "counted to the left, as the images show",
    None: "assumed to be counted to the left, as in the older HCI set, because the images do not show it; if the "
    "result is wrong, use --flip x",
}
WINDOW = 768  # pixels along each side of the part that decides the order of columns
Window = tuple[slice, slice]
_ONLY_HCI = "give a file of the older HCI set, as no other HDF5 files are read"
_ATTRIBUTES = ("dH", "dV", "focalLength", "shift", "camDistance", "unit")


def list_hdf5(path: Path, hints: Hints) -> Listing:
    """List all views; the reference is the centre view unless the user names another."""
    needs_library("h5py", "hdf5", path)
    size = file_size(path, 2**63)
    with refuse_damage(path):
        facts = call("hdf5_file.describe", path, datasets=[VIEWS, DEPTH, MASK], attributes=_ATTRIBUTES).facts
    lf, depth, mask = (
        StoredArray.of(f"dataset {name}", facts["datasets"][name], path) for name in (VIEWS, DEPTH, MASK)
    )
    if lf is None:
        found = ", ".join(facts["members"]) or "nothing"
        raise InputError(path, f"holds no dataset {VIEWS}, but {found}", _ONLY_HCI)
    shape: Any = lf.shape
    if len(shape) not in (4, 5) or count_axes(shape, lf.dtype, f"{path}, {VIEWS}", grid=True) != 2:
        raise InputError(path, f"its dataset {VIEWS} has the shape {shape}", "store [v, u, y, x, 3]")
    stored = {name: min(said["stored"], size) for name, said in facts["datasets"].items() if said is not None}
    if claims_too_much(lf.nbytes, stored[VIEWS]):
        problem = (
            f"its dataset {VIEWS} claims {lf.nbytes:,} bytes, but {stored[VIEWS]:,} are stored, so most is missing"
        )
        raise InputError(path, problem, "copy or export the file again")
    lf.refuse_large(path, stored[VIEWS], 2)
    for name, data in ((MASK, mask), (DEPTH, depth)):
        if data is not None:
            _refuse_misfit(data, shape, path)
            data.refuse_large(path, stored[name], len(data.shape) - 2)
    stated: dict[str, Any] = facts["attributes"]
    known = {name: _number(stated.get(name)) for name in ("dH", "dV", "focalLength", "shift")}
    spacing, focal, shift = known["dH"], known["focalLength"], known["shift"]
    calibrated = spacing is not None and focal is not None and shift is not None and spacing > 0 and focal > 0
    stretch = known["dV"] / spacing if spacing and known["dV"] and known["dV"] * spacing > 0 else 1.0
    middle = shape[0] // 2, shape[1] // 2

    def calibration(size: tuple[int, int]) -> Calibration:
        assert spacing is not None  # because `calibrated` is true
        assert focal is not None
        assert shift is not None
        height, width = size
        K = np.array([[focal, 0, (width - 1) / 2], [0, focal, (height - 1) / 2], [0, 0, 1]])
        unit = check_unit(str(stated.get("unit", "")), str(path))
        try:
            return Calibration(spacing * focal, K, shift, unit)
        except InputError as error:
            problem = f"its dH {spacing:g}, focalLength {focal:g} and shift {shift:g} give no depth"
            raise InputError(path, problem, "correct these attributes") from error

    def truth(index: Index) -> NDArray[np.float32]:
        assert depth is not None  # because `has_truth` is true
        disparity = calibration(shape[2:4]).disparity(_part(path, depth, DEPTH, index).values)
        if mask is not None:
            disparity[_part(path, mask, MASK, index).values == 0] = np.nan
        return disparity

    has_truth = calibrated and depth is not None
    try:
        window = _middle_of(shape[2:4])
        right = columns_run_right(
            partial(_view, path, lf, window=window), shape[:2], truth(middle)[window] if has_truth else None
        )
    except InputError:  # a damaged view only matters if it is used
        right = None
    places: dict[Index, Baseline] = {(v, u): _stands(v, u, stretch, bool(right)) for v, u in np.ndindex(*shape[:2])}
    metadata: dict[str, Any] = {
        "format": "hdf5",
        **{name: value for name, value in stated.items() if value is not None},
    }
    metadata["columns"] = COLUMNS[right]
    if not calibrated:
        lacking = [name for name in ("dH", "focalLength", "shift") if known[name] is None]
        lacking = lacking or ["a positive dH", "a positive focalLength"]
        metadata["calibration"] = f"none, as {' and '.join(lacking)} cannot be read; hence no ground truth either"
    return make_listing(
        path,
        places,
        partial(_view, path, lf),
        hints,
        own=middle,
        middle=places[middle],
        metadata=metadata,
        truth=truth if has_truth else None,
        truth_of=places if depth is not None and len(depth.shape) == 4 else [middle],
        calibration=calibration if calibrated else None,
    )


def write(path: Path, views: NDArray[Any], truth: NDArray[np.float32] | None, fields: dict[str, Any]) -> None:
    """Write a file in the layout of the older HCI set, one chunk per view; ground truth is stored as depth."""
    h5py = library("h5py", "hdf5", path)
    middle = views.shape[0] // 2, views.shape[1] // 2
    if views.shape[1] % 2 == 0:
        problem = "needs an odd number of columns, as it counts them backwards"
        raise InputError(path, problem, "write an .npz instead")
    if tuple(fields.get("reference", middle)) != middle:
        problem = f"its reference can only be the middle {middle}"
        raise InputError(path, problem, "write an .npz or .zarr instead")
    calibrate = converged({name: fields[name] for name in CALIBRATION if name in fields})
    if truth is not None and calibrate is None:
        raise InputError(path, "stores ground truth as depth", f"give the parameters {', '.join(CALIBRATION)}")
    content = io.BytesIO()
    with h5py.File(content, "w") as root:
        root.create_dataset(VIEWS, data=views[:, ::-1], chunks=(1, 1, *views.shape[2:]))
        if calibrate is not None:
            calibration = calibrate(views.shape[2:4])
            spacing = float(fields["baseline_mm"])
            root.attrs.update(dH=spacing, dV=spacing, focalLength=calibration.K[0, 0], shift=calibration.offset)
            root.attrs["unit"] = calibration.unit
            if truth is not None:
                depth = calibration.depth(truth)
                if lost := int(np.count_nonzero(np.isfinite(truth) & ~np.isfinite(depth))):
                    problem = f"{lost} disparities of the ground truth have no depth"
                    raise InputError(path, problem, "write an .npz instead")
                root.create_dataset(DEPTH, data=depth)
    write_file(path, content.getvalue())


def _number(value: Any) -> float | None:
    """Return a finite number, which may be given as text, or None if the value is not one."""
    try:
        return finite_number(float(value) if isinstance(value, str) else value)
    except ValueError:
        return None


def _stands(v: int, u: int, stretch: float, right: bool) -> Baseline:
    """Return the baseline of a view in steps of dH; rows are `stretch` = dV / dH steps apart."""
    x, y = stands_at(v, u if right else -u)
    return x, y * stretch


def _middle_of(shape: tuple[int, int]) -> Window:
    """Return the middle of an image, which is large enough to reveal the order of columns."""
    starts = [max(0, (length - WINDOW) // 2) for length in shape]
    return slice(starts[0], starts[0] + WINDOW), slice(starts[1], starts[1] + WINDOW)


def _view(path: Path, lf: StoredArray, index: Index, window: Window | tuple[()] = ()) -> NDArray[Any]:
    reply = _part(path, lf, VIEWS, index, window)
    refuse_blank(reply.values, reply.facts["fill"], f"{path}, {view_name(index)}")
    return reply.values


def _part(path: Path, data: StoredArray, dataset: str, index: Index, window: Window | tuple[()] = ()) -> Reply:
    """Read what belongs to a view; a dataset of two axes belongs to one view only."""
    index = index if len(data.shape) > 2 else ()
    most, limits = data.part_bytes(len(index)), data.limits(len(index))
    bounds = [[part.start, part.stop] for part in window]
    with refuse_damage(path, view_name(index) if dataset == VIEWS else dataset):
        return call("hdf5_file.read", path, limits, most, dataset=dataset, index=[int(k) for k in index], window=bounds)


def _refuse_misfit(data: StoredArray, views: tuple[int, ...], path: Path) -> None:
    """Refuse depth, or a mask of it, that does not fit the views."""
    if data.shape not in (views[:4], views[2:4]) or data.dtype.kind not in "buif":
        problem = f"its {data.name} is {data.dtype} of the shape {data.shape}, which does not fit views of {views}"
        raise InputError(path, problem, "store numbers of [v, u, y, x] or [y, x]")


def _recognise(path: Path, hints: Hints) -> str | None:
    """Look for the signature at the start of the file and after a user block of 512, 1024, 2048 ... bytes."""
    if path.suffix.lower() == ".mat" or not path.is_file():  # MATLAB's files are HDF5 too, but with all axes reversed
        return None
    try:
        with open(path, "rb") as handle:
            size = handle.seek(0, io.SEEK_END)
            at = 0
            while at + len(SIGNATURE) <= size:
                handle.seek(at)
                if handle.read(len(SIGNATURE)) == SIGNATURE:
                    return "the file has the signature of HDF5"
                at = max(512, 2 * at)
    except OSError:
        pass
    return None


HDF5 = Format("an HDF5 light field", _recognise, list_hdf5)
