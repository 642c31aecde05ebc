"""The registry of scene formats, in the order in which they are tried on a path."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from gradcon.errors import InputError
from gradcon.files import files_in
from gradcon.io.formats import colmap, grid_image, hci, hdf5, middlebury, npy, pattern, rig, zarr_store
from gradcon.io.formats.format import Hints
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
    raise _unrecognised(path)


def _unrecognised(path: Path) -> InputError:
    """Explain why no format recognises a path, and what the user can do."""
    if path.is_file():
        suffix = path.suffix.lower()
        if suffix in pattern.VIDEO_SUFFIXES:
            return InputError(
                path,
                "is a single video",
                "give the folder that holds a video for each view, with the camera's row and column in the file names "
                f"(cam_0_0.mp4), or a {rig.RIG} that lists them",
            )
        if suffix in pattern.SUFFIXES:
            return InputError(
                path,
                "is a single image, which cannot be opened as a scene by itself",
                "if it holds all views, give their rows and columns (--grid ROWSxCOLUMNS, with --micro-images if it is "
                "made of micro-images)",
            )
        return InputError(
            path, "is not a file that can be opened as a scene", "see docs/formats.md for the formats that can be"
        )
    if not files_in(path):
        return InputError(path, "is an empty folder", "give the one that holds the views")
    found, others = pattern.candidates(path)
    if found:
        (best, count), total = found.most_common(1)[0], found.total() + others
        return InputError(
            path,
            f"is not recognised as a scene: only {count} of its {total} images, videos and folders fit one pattern, "
            f"{best!r}",
            f"give the pattern of the views (--pattern), or list them in a {rig.RIG}",
        )
    return InputError(
        path,
        f"is not recognised as a scene: it holds no {rig.RIG}, no input_Cam040.png (4D light field), no view1.png or "
        "im2.ppm (Middlebury), no sparse/cameras.bin or .txt (COLMAP), and no images, videos or folders of frames "
        "whose names count rows and columns (a_0_0.png)",
        'give a pattern (--pattern) for its file names, such as "shot{row}x{col}.png", or list the views in a '
        f"{rig.RIG}",
    )
