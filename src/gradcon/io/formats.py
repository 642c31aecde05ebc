"""All formats that can be opened, in the order in which a path is tried on them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from gradcon.errors import InputError
from gradcon.files import files_in
from gradcon.io import colmap, grid_image, hci, hdf5, middlebury, npy, pattern, rig, zarr_store
from gradcon.io.format import Hints
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
    pattern.INFERRED,
)


def list_scene(path: Path, hints: Hints) -> Listing:
    """What is at a path, by the first format that recognises it."""
    try:
        exists = path.exists()
    except (OSError, ValueError):
        exists = False
    if not exists:
        raise InputError(f"{path}: there is no such folder or file; check the path.")
    if not (path.is_file() or path.is_dir()):  # a pipe would be waited for without end
        raise InputError(f"{path}: is neither a file nor a folder; copy what it holds into one.")
    for known in FORMATS:
        if why := known.recognise(path, hints):
            known.refuse_other_hints(path, hints)
            return replace(known.list(path, hints), recognised=f"{known.name}: {why}")
    if path.is_file() and path.suffix.lower() in pattern.VIDEO_SUFFIXES:
        raise InputError(
            f"{path}: is one video; give the folder that holds a video for each view, with the camera's row and column "
            "in their names (cam_0_0.mp4), or a rig.toml that lists them."
        )
    if path.is_file() and path.suffix.lower() in pattern.SUFFIXES:
        raise InputError(
            f"{path}: is one image, not a file that can be opened as a scene by itself; if it holds all views, give "
            "their rows and columns (--grid ROWSxCOLUMNS, with --micro-images if it is made of micro-images)."
        )
    if not path.is_dir():
        raise InputError(
            f"{path}: is not a file that can be opened as a scene; see docs/formats.md for those that can."
        )
    if not files_in(path):
        raise InputError(f"{path}: is an empty folder; give the one that holds the views.")
    found, others = pattern.candidates(path)
    if found:
        (best, count), total = found.most_common(1)[0], found.total() + others
        raise InputError(
            f"{path}: is not recognised as a scene: only {count} of its {total} images, videos and folders fit one "
            f"pattern, {best!r}; give the pattern of the views (--pattern), or list them in a {rig.RIG}."
        )
    raise InputError(
        f"{path}: is not recognised as a scene: it holds no {rig.RIG}, no input_Cam040.png (4D light field), "
        "no view1.png or im2.ppm (Middlebury), no sparse/cameras.bin or .txt (COLMAP), and no images, videos or "
        "folders of frames whose names count rows and columns (a_0_0.png); give a pattern (--pattern) for its file "
        f'names, such as "shot{{row}}x{{col}}.png", or list the views in a {rig.RIG}.'
    )
