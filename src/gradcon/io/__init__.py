"""Readers and writers, one file a format; `open_scene` finds out which reader a path is for."""

from __future__ import annotations

from pathlib import Path

from gradcon.errors import InputError
from gradcon.io.hci import is_hci, list_hci
from gradcon.io.listing import Listing, load
from gradcon.io.middlebury import is_middlebury, list_middlebury
from gradcon.io.pattern import list_pattern
from gradcon.io.rig import RIG, list_rig
from gradcon.scene import Scene, Views

__all__ = ["open_scene"]


def open_scene(
    path: str | Path,
    *,
    views: Views = "all",
    reference: str | None = None,
    pattern: str | None = None,
    size_factor: float | None = None,
) -> Scene:
    """Open a scene from a folder or a rig.toml.

    Parameters
    ----------
    path : str or Path
        A rig.toml or the folder that holds one; a folder of the 4D Light Field Benchmark (input_Cam040.png
        ..) or of Middlebury 2001 to 2006 (view0.png .. or im0.ppm ..); or, with `pattern`, any folder of
        images.
    views : {"all", "cross", "star"} or int
        Which views to use: all; those in the reference's row and column; these and the diagonals; or the N
        nearest, the reference counted.  Images that are not used are not read.
    reference : str, optional
        File name of the reference image, where it is not to be the format's own.
    pattern : str, optional
        File names with {row} and {col} for the camera's place, such as "2067_{row}_{col}.png".
    size_factor : float, optional
        Middlebury only: what the ground truth's grey values are divided by, where the images' size does not
        tell.

    Returns
    -------
    Scene

    Raises
    ------
    InputError
        Something about the input cannot be used; its text says what, where and what to do.
    """
    path = Path(path)
    listing = _list(path, reference, pattern, size_factor)
    return load(listing, views)


def _list(path: Path, reference: str | None, pattern: str | None, size_factor: float | None) -> Listing:
    try:
        is_folder, exists = path.is_dir(), path.exists()
    except (OSError, ValueError):
        is_folder = exists = False
    if not exists:
        raise InputError(f"{path}: there is no such folder or file; check the path.")
    if not is_folder and path.suffix != ".toml":
        raise InputError(f"{path}: is neither a folder nor a {RIG}; give the folder that holds the views.")
    if pattern is not None:
        if not is_folder:
            raise InputError(f"{path}: is a file, but a pattern is for a folder of images; leave one of the two out.")
        listing = list_pattern(path, pattern, reference)
    elif not is_folder or (path / RIG).exists():
        listing = list_rig(path / RIG if is_folder else path, reference)
    elif is_hci(path):
        listing = list_hci(path, reference)
    elif is_middlebury(path):
        return list_middlebury(path, reference, size_factor)
    else:
        raise InputError(
            f"{path}: holds no {RIG}, no input_Cam040.png (4D light field) and no view1.png or im2.ppm "
            '(Middlebury); give a pattern (--pattern) for its file names, such as "{row}_{col}.png".'
        )
    if size_factor is not None:
        raise InputError(f"{path}: is not a Middlebury folder, so size_factor means nothing here; leave it out.")
    return listing
