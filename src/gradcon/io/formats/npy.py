"""Light fields in NumPy's own files: one array in an .npy, or several with more information in an .npz.

Views are read in place, one by one; only a compressed .npz has to be unpacked as a whole.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon import npz
from gradcon.errors import InputError
from gradcon.files import write_file
from gradcon.io.fields import refuse_unknown
from gradcon.io.formats.archives import refuse_escape, zip_names
from gradcon.io.formats.format import Format, Hints
from gradcon.io.formats.lightfield_array import (
    CALIBRATION,
    converged,
    grid_places,
    listed_places,
    make_listing,
    own_reference,
    refuse_other_unit,
    stated_calibration,
    stated_name,
)
from gradcon.io.listing import Listing
from gradcon.scene.array_axes import count_axes

MEMBERS = ("views", "ground_truth", "baselines", "reference", "name", *CALIBRATION)
IMAGES = ("views", "ground_truth")
MAX_FIELD = 2**20  # bytes of an array that is not an image


def list_npy(path: Path, hints: Hints) -> Listing:
    """List a grid or a row of views, whose reference is the middle one."""
    array = npz.StoredArray(path)
    axes = count_axes(array.shape, array.dtype, path)
    places = grid_places(array.shape[:axes])
    own = own_reference(None, places, False, path)
    more: dict[str, Any] = {"own": own, "middle": places[own], "metadata": {"format": "npy"}}
    return make_listing(path, places, array.__getitem__, hints, **more)


def list_npz(path: Path, hints: Hints) -> Listing:
    """List the array `views`, with what the archive's other arrays say about it."""
    members = _members(path)
    views = members["views"]
    given = {name: array.read(MAX_FIELD) for name, array in members.items() if name not in IMAGES}
    listed = "baselines" in given
    axes = count_axes(views.shape, views.dtype, views.where, listed)
    places = listed_places(given["baselines"], views.shape[0], path) if listed else grid_places(views.shape[:axes])
    own = own_reference(given.get("reference"), places, listed, path)
    middle = (0.0, 0.0) if listed else places[own_reference(None, places, False, path)]
    values = stated_calibration(given, path)
    if listed:
        refuse_other_unit(places, values, path)
    truth, size = members.get("ground_truth"), views.shape[axes : axes + 2]
    if truth is not None and (truth.shape != size or truth.dtype.kind not in "buif"):
        problem = f"must be numbers of the views' shape {size}, not {truth.dtype} of {truth.shape}"
        raise InputError(truth.where, problem, "store the ground truth of the reference")
    return make_listing(
        path,
        places,
        views.__getitem__,
        hints,
        own=own,
        middle=middle,
        metadata={"format": "npz", **values},
        truth=(lambda _: truth[()]) if truth is not None else None,
        truth_of=[own],
        calibration=converged(values),
        name=stated_name(given.get("name"), path),
    )


def write(path: Path, views: NDArray[Any], truth: NDArray[np.float32] | None, fields: dict[str, Any]) -> None:
    """Write an .npz without compression, so that views can be read one by one."""
    content = io.BytesIO()
    arrays: dict[str, Any] = {"views": views, **fields}
    if truth is not None:
        arrays["ground_truth"] = truth
    np.savez(content, **arrays)
    write_file(path, content.getvalue())


def _members(path: Path) -> dict[str, npz.StoredArray]:
    members = npz.open_npz(path)
    for name in members:
        refuse_escape(name, path)
    if len(members) == 1:  # numpy.savez(file, array) gives the only array a name of its own
        members = dict(zip(["views"], members.values(), strict=True))
    if "views" not in members:
        problem = f"holds no array `views`, only {', '.join(list(members)[:8])}"
        raise InputError(path, problem, "give the light field this name")
    refuse_unknown(str(path), members, MEMBERS)
    return members


def _recognise(path: Path, hints: Hints) -> str | None:
    if not path.is_file():
        return None
    try:
        with open(path, "rb") as handle:
            if handle.read(len(npz.MAGIC)) == npz.MAGIC:
                return "the file begins as NumPy's .npy files do"
    except OSError:
        return None
    arrays = [name for name in zip_names(path) if name.endswith(".npy")]
    return f"it is a zip archive that holds {arrays[0]}" if arrays else None


NUMPY = Format("a NumPy file", _recognise, lambda path, hints: (list_npz if zip_names(path) else list_npy)(path, hints))
