"""Light fields in Zarr stores of formats 2 and 3, in a folder or a zip archive.

The store is an array, or a group that holds one called `views`.  If each view is a chunk of its own, only the chunks of
the chosen views are read.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.damage import MAX_ZSTD, claims_too_much, refuse_damage
from gradcon.errors import InputError
from gradcon.files import MAX_FILE_BYTES, writing
from gradcon.io.formats.archives import refuse_escape, zip_names
from gradcon.io.formats.format import Format, Hints
from gradcon.io.formats.lightfield_array import (
    CALIBRATION,
    Index,
    converged,
    grid_places,
    library,
    listed_places,
    make_listing,
    needs_library,
    own_reference,
    refuse_blank,
    refuse_other_unit,
    stated_calibration,
    stated_name,
    view_name,
)
from gradcon.io.formats.stored_array import StoredArray
from gradcon.io.listing import Listing
from gradcon.isolated import Reply, call
from gradcon.npz import open_zip
from gradcon.scene.array_axes import count_axes

MARKS = ("zarr.json", ".zarray", ".zgroup")
ARRAYS = ("views", "baselines", "ground_truth")
ATTRIBUTES = ("name", "reference", *CALIBRATION)
MAX_METADATA = 2**17  # bytes
CODED_AT_MOST = 8  # a chunk may be this many times as large as its values, because filters may widen them


def list_zarr(path: Path, hints: Hints) -> Listing:
    """List the array `views`, with what the group's other arrays and attributes say about it."""
    sizes = _part_sizes(path)
    needs_library("zarr", "zarr", path)
    with refuse_damage(path):
        facts = call("zarr_store.describe", path, arrays=list(ARRAYS), attributes=list(ATTRIBUTES)).facts
    attributes = facts["attributes"]
    views, given, truth = (StoredArray.of(name, facts["arrays"][name], path) for name in ARRAYS)
    if views is None:
        found = ", ".join(facts["members"]) or "nothing"
        raise InputError(path, f"holds no array `views`, but {found}", "give the light field this name")
    listed = given is not None
    axes = count_axes(views.shape, views.dtype, path, listed)
    _refuse_false_sizes(views, _inside(facts["arrays"]["views"], sizes), axes, path)
    if given is not None:
        if given.shape != (views.shape[0], 2):
            problem = f"its baselines must be ({views.shape[0]}, 2), not {given.shape}"
            raise InputError(path, problem, "store one (B_x, B_y) for each view")
        _refuse_false_sizes(given, _inside(facts["arrays"]["baselines"], sizes), 0, path)
        places = listed_places(_part(path, given).values, views.shape[0], path)
    else:
        places = grid_places(views.shape[:axes])
    size = views.shape[axes : axes + 2]
    if truth is not None:
        if truth.shape != size or truth.dtype.kind not in "buif":
            problem = f"its ground_truth must be numbers of the views' shape {size}, not {truth.dtype} of {truth.shape}"
            raise InputError(path, problem, "store the ground truth of the reference")
        _refuse_false_sizes(truth, _inside(facts["arrays"]["ground_truth"], sizes), 0, path)
    own = own_reference(attributes.get("reference"), places, listed, path)
    middle = (0.0, 0.0) if listed else places[own_reference(None, places, False, path)]
    values = stated_calibration(attributes, path)
    if listed:
        refuse_other_unit(places, values, path)
    return make_listing(
        path,
        places,
        partial(_view, path, views),
        hints,
        own=own,
        middle=middle,
        metadata={"format": "zarr", **values},
        truth=(lambda _: _part(path, truth).values) if truth is not None else None,
        truth_of=[own],
        calibration=converged(values),
        name=stated_name(attributes.get("name"), path),
    )


def write(path: Path, views: NDArray[Any], truth: NDArray[np.float32] | None, fields: dict[str, Any]) -> None:
    """Write a folder of format 3 in which each view is a chunk; the folder gets its name once it is complete."""
    zarr = library("zarr", "zarr", path)
    if path.exists():
        raise InputError(path, "exists already", "choose another name, or remove it first")
    try:
        with writing(path) as temporary:
            group = zarr.create_group(store=str(temporary), attributes=fields)
            array = group.create_array("views", shape=views.shape, dtype=views.dtype, chunks=(1, 1, *views.shape[2:]))
            array[...] = views
            if truth is not None:
                group.create_array("ground_truth", data=truth, chunks=truth.shape)
    except InputError:
        raise
    except (OSError, ValueError) as error:
        raise InputError(path, f"cannot be written ({error})", "choose another place") from None


def _view(path: Path, views: StoredArray, index: Index) -> NDArray[Any]:
    reply = _part(path, views, index, view_name(index))
    refuse_blank(reply.values, reply.facts["fill"], f"{path}, {view_name(index)}")
    return reply.values


def _part(path: Path, array: StoredArray, index: Index = (), what: str = "") -> Reply:
    """Read the part of an array at an index."""
    most, limits = array.part_bytes(len(index)), array.limits(len(index))
    with refuse_damage(path, what or f"its {array.name}"):
        return call("zarr_store.read", path, limits, most, array=array.name, index=[int(k) for k in index])


def _inside(facts: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, int]:
    """Return the sizes of the parts that belong to an array."""
    inside = f"{facts['inside']}/" if facts["inside"] else ""
    return {name: size for name, size in sizes.items() if name.startswith(inside)}


def _refuse_false_sizes(array: StoredArray, sizes: Mapping[str, int], axes: int, path: Path) -> None:
    """Refuse an array whose files are far too small for what it claims, or one with a file far larger than a chunk."""
    stored = sum(sizes.values())
    if claims_too_much(array.nbytes, stored, MAX_ZSTD):
        problem = f"its {array.name} claim {array.nbytes:,} bytes, but {stored:,} are stored, so most are missing"
        raise InputError(path, problem, "copy or export the store again")
    chunk = array.chunk_bytes
    for name, size in sizes.items():
        if size > CODED_AT_MOST * chunk + MAX_METADATA:
            problem = f"its part {name} has {size:,} bytes, but the values of a chunk take {chunk:,}"
            raise InputError(path, problem, "copy or export the store again")
    array.refuse_large(path, stored, axes)


def _part_sizes(path: Path) -> dict[str, int]:
    """Return the size of each part of a store, by name; refuse a store that refers to something outside itself."""
    if path.is_file():
        return _member_sizes(path)
    home, sizes = path.resolve(), dict[str, int]()
    for folder, folders, files in os.walk(home):
        for name in (*folders, *files):
            part = Path(folder, name)
            if part.is_symlink() and not Path(os.path.realpath(part)).is_relative_to(home):
                problem = f"its part {part.relative_to(home)} is a link that leaves the store"
                raise InputError(path, problem, "copy the store with what it links to")
            if not (part.is_file() or part.is_dir()):  # reading a pipe would never end
                problem = f"its part {part.relative_to(home)} is not a regular file"
                raise InputError(path, problem, "copy the store")
            if name in files:
                sizes[part.relative_to(home).as_posix()] = part.stat().st_size
    return sizes


def _member_sizes(path: Path) -> dict[str, int]:
    with refuse_damage(path), open_zip(path) as archive:
        members = archive.infolist()
    for member in members:
        refuse_escape(member.filename, path)
        if member.file_size > MAX_FILE_BYTES:
            problem = f"its member {member.filename} claims {member.file_size:,} bytes"
            raise InputError(path, problem, "check the program that wrote it")
    if not any(member.filename in MARKS for member in members):
        problem = f"has no {' or '.join(MARKS)} at its top"
        raise InputError(path, problem, "zip the contents of the store's folder, not the folder itself")
    return {member.filename: member.file_size for member in members}


def _recognise(path: Path, hints: Hints) -> str | None:
    if path.is_dir():
        found = [name for name in MARKS if (path / name).is_file()]
        return f"the folder holds {found[0]}" if found else None
    found = [name for name in zip_names(path) if name.rsplit("/", 1)[-1] in MARKS]
    return f"it is a zip archive that holds {found[0]}" if found else None


ZARR = Format("a Zarr store", _recognise, list_zarr)
