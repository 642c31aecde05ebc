"""The registry of scene formats, in the order in which they are tried on a path."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from gradcon.errors import InputError
from gradcon.io.formats import (
    colmap,
    grid_image,
    hci,
    hdf5,
    middlebury,
    npy,
    numbered_grid,
    pattern,
    rig,
    slide,
    stereo_pair,
    zarr_store,
)
from gradcon.io.formats.format import Hints
from gradcon.io.formats.unrecognised import unrecognised
from gradcon.io.listing import Listing

FORMATS = (
    pattern.TOLD,
    rig.CALIBRATED_RIG,
    hci.HCI,
    middlebury.MIDDLEBURY,
    colmap.COLMAP,
    grid_image.GRID_IMAGE,
    hdf5.HDF5,
    npy.NUMPY,
    zarr_store.ZARR,
    numbered_grid.NUMBERED_GRID,
    slide.SLIDE,
    pattern.INFERRED,
    stereo_pair.STEREO_PAIR,
)


def list_scene(path: Path, hints: Hints) -> Listing:
    """List the scene at a path, using the first format that recognises it."""
    try:
        exists = path.exists()
    except (OSError, ValueError):
        exists = False
    if not exists:
        raise InputError(path, "there is no such folder or file", "check the path")
    if not (path.is_file() or path.is_dir()):  # opening a pipe could block forever
        raise InputError(path, "is neither a file nor a folder", "copy its contents into a file")
    for known in FORMATS:
        if why := known.recognise(path, hints):
            known.refuse_other_hints(path, hints)
            return replace(known.list(path, hints), recognised=f"{known.name}: {why}")
    raise unrecognised(path, hints)
