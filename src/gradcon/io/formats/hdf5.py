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
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.damage import claims_too_much, refuse_damage
from gradcon.errors import InputError
from gradcon.files import MAX_FILE_BYTES, file_size, write_file
from gradcon.io.fields import finite_number
from gradcon.io.formats.column_order import columns_run_right
from gradcon.io.formats.format import Format, Hints
from gradcon.io.formats.lightfield_array import (
    CALIBRATION,
    Index,
    converged,
    library,
    make_listing,
    refuse_blank,
    scalar,
    view_name,
)
from gradcon.io.listing import Baseline, Listing, stands_at
from gradcon.scene.array_axes import count_axes, image_bytes
from gradcon.scene.calibration import Calibration, check_unit

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
_COPY_VALUES = "copy the values into the file"
_ATTRIBUTES = ("dH", "dV", "focalLength", "shift", "camDistance", "unit")


def list_hdf5(path: Path, hints: Hints) -> Listing:
    """List all views; the reference is the centre view unless the user names another."""
    with _opened(path) as root:
        lf = _dataset(root, VIEWS, path)
        if lf is None:
            found = ", ".join(sorted(root)[:8]) or "nothing"
            raise InputError(path, f"holds no dataset {VIEWS}, but {found}", _ONLY_HCI)
        shape = lf.shape
        if len(shape) not in (4, 5) or count_axes(shape, lf.dtype, f"{path}, {VIEWS}", grid=True) != 2:
            raise InputError(path, f"its dataset {VIEWS} has the shape {shape}", "store [v, u, y, x, 3]")
        claimed, stored = image_bytes(shape, lf.dtype), min(lf.id.get_storage_size(), file_size(path, 2**63))
        if claims_too_much(claimed, stored):
            problem = f"its dataset {VIEWS} claims {claimed:,} bytes, but {stored:,} are stored, so most is missing"
            raise InputError(path, problem, "copy or export the file again")
        stated = {name: scalar(root.attrs[name]) for name in _ATTRIBUTES if name in root.attrs}
        depth, masked = _depth_shape(root, shape, path), _dataset(root, MASK, path) is not None
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
        return Calibration(spacing * focal, K, shift, check_unit(str(stated.get("unit", "")), str(path)))

    def truth(index: Index) -> NDArray[np.float32]:
        with _opened(path, DEPTH) as root:
            whole = len(depth) == 4
            Z = _dataset(root, DEPTH, path)[index if whole else ...]
            disparity = calibration(shape[2:4]).disparity(Z)
            if masked:
                mask = _dataset(root, MASK, path)
                disparity[mask[index if len(mask.shape) == 4 else ...] == 0] = np.nan
        return disparity

    has_truth = calibrated and bool(depth)
    try:
        window = _middle_of(shape[2:4])
        right = columns_run_right(
            partial(_view, path, window=window), shape[:2], truth(middle)[window] if has_truth else None
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
        partial(_view, path),
        hints,
        own=middle,
        middle=places[middle],
        metadata=metadata,
        truth=truth if has_truth else None,
        truth_of=places if len(depth) == 4 else [middle],
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


def _view(path: Path, index: Index, window: Window | tuple[()] = ()) -> NDArray[Any]:
    with _opened(path, view_name(index)) as root:
        lf = _dataset(root, VIEWS, path)
        pixels: NDArray[Any] = lf[(*index, *window)]
        refuse_blank(pixels, lf.fillvalue, f"{path}, {view_name(index)}")
    return pixels


def _depth_shape(root: Any, views: tuple[int, ...], path: Path) -> tuple[int, ...]:
    """Return the shape of the depth, or () if there is none; check that it and its mask fit the views."""
    shape: tuple[int, ...] = ()
    for name in (MASK, DEPTH):
        data = _dataset(root, name, path)
        shape = () if data is None else data.shape
        if shape and (shape not in (views[:4], views[2:4]) or data.dtype.kind not in "buif"):
            problem = f"its dataset {name} is {data.dtype} of the shape {shape}, which does not fit views of {views}"
            raise InputError(path, problem, "store numbers of [v, u, y, x] or [y, x]")
    return shape


@contextmanager
def _opened(path: Path, what: str = "") -> Iterator[Any]:
    """Open the root of a file, to read `what` from it."""
    h5py = library("h5py", "hdf5", path)
    file_size(path, 2**63)
    with refuse_damage(path, what), h5py.File(path, "r") as root:
        yield root


def _dataset(root: Any, name: str, path: Path) -> Any:
    """Return a dataset, or None; its values must be in this file, although HDF5 would follow links to others."""
    h5py = library("h5py", "hdf5", path)
    if root.get(name, getlink=True) is None:
        return None
    _refuse_leaving(root, name, path)
    data = root.get(name)
    if not isinstance(data, h5py.Dataset):
        raise InputError(path, f"its {name} is not a dataset", _ONLY_HCI)
    if data.is_virtual or data.external:
        problem = f"its dataset {name} leaves the file, as its values are in other files"
        raise InputError(path, problem, _COPY_VALUES)
    if data.id.get_storage_size() == 0:  # HDF5 would make up as many zeros as the shape claims
        raise InputError(path, f"its dataset {name} holds no values", "copy or export the file again")
    if data.chunks is not None and image_bytes(data.chunks, data.dtype) > MAX_FILE_BYTES:
        problem = f"its dataset {name} claims chunks of {data.chunks}"
        raise InputError(path, problem, "check the program that wrote it")
    return data


def _refuse_leaving(root: Any, name: str, path: Path) -> None:
    """Follow soft links before HDF5 does, and refuse one that leads into another file."""
    h5py = library("h5py", "hdf5", path)
    waiting = name.strip("/").split("/")
    here: list[str] = []
    for _ in range(64):
        if not waiting:
            return
        part = waiting.pop(0)
        if part in ("", "."):
            continue
        link = root.get("/" + "/".join([*here, part]), getlink=True)
        if isinstance(link, h5py.ExternalLink):
            raise InputError(path, f"its {name} leaves the file, as it is a link into {link.filename}", _COPY_VALUES)
        if isinstance(link, h5py.SoftLink):
            here = [] if link.path.startswith("/") else here
            waiting = [*link.path.strip("/").split("/"), *waiting]
        elif link is None:
            raise InputError(path, f"its {name} is a link to {part}, which does not exist", _COPY_VALUES)
        else:
            here.append(part)
    raise InputError(path, f"its {name} is a chain of links without end", _COPY_VALUES)


def _recognise(path: Path, hints: Hints) -> str | None:
    """Look for the signature at the start of the file and after a user block of 512, 1024, 2048 ... bytes."""
    if path.suffix.lower() == ".mat":  # MATLAB's files are HDF5 too, but with all axes reversed
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
