"""Explain why no format recognises a path, and what the user can do about it."""

from __future__ import annotations

from pathlib import Path

from gradcon.errors import InputError
from gradcon.files import files_in
from gradcon.io.formats import numbered_grid, pattern
from gradcon.io.formats.format import Hints
from gradcon.io.formats.image_folder import images_in, images_or_videos_in
from gradcon.io.formats.rig import RIG

_LYTRO = (".lfp", ".lfr", ".raw")  # what these cameras write


def unrecognised(path: Path, hints: Hints) -> InputError:
    """Return the error for a path that no format recognises."""
    if path.is_file():
        return InputError(path, *_of_file(path.suffix.lower()))
    if not files_in(path):
        return InputError(path, "is an empty folder", "give the one that holds the views")
    if hints.grid is not None:
        return numbered_grid.other_count(path, hints)
    if hints.slide:
        held = {0: "no image", 1: "one image"}[len(images_in(path))]
        return InputError(path, f"holds {held}, but a slide needs several", "give the folder of the frames, or a video")
    return InputError(path, *_of_folder(path))


def _of_file(suffix: str) -> tuple[str, str]:
    """Return the problem with a file, and the remedy."""
    if suffix in pattern.VIDEO_SUFFIXES:
        return (
            "is a single video",
            "if one camera slid past a still scene, say so (--slide); otherwise give the folder that holds a video for "
            f"each view, with the camera's row and column in the file names (cam_0_0.mp4), or a {RIG} that lists them",
        )
    if suffix in pattern.SUFFIXES:
        return (
            "is a single image, which cannot be opened as a scene by itself",
            "if it holds all views, give their rows and columns (--grid ROWSxCOLUMNS, with --micro-images if it is "
            "made of micro-images)",
        )
    if suffix in _LYTRO:
        return (
            "looks like the raw picture of a light-field camera, whose lenses have to be calibrated first",
            "decode it into views with PlenoptiCam or the Light Field Toolbox for MATLAB, and give the folder of views",
        )
    if suffix == ".mat":
        return (
            "is a file of MATLAB, whose axes have no fixed order",
            "load its array in Python (scipy.io.loadmat, or h5py for version 7.3, whose axes are reversed), order the "
            "axes as [v, u, y, x, channel], and save it with numpy.save",
        )
    return "is not a file that can be opened as a scene", "see docs/formats.md for the formats that can be"


def _of_folder(folder: Path) -> tuple[str, str]:
    """Return the problem with a folder, and the remedy."""
    numbered = [file for file in images_or_videos_in(folder) if any(letter.isdigit() for letter in file.stem)]
    found, others = pattern.candidates(folder)
    if len(numbered) > 2 and len(numbered) > 2 * found.total():
        return (
            f"is not recognised as a scene: it holds {len(numbered)} numbered images, such as {numbered[0].name}, but "
            "nothing says where their cameras stood",
            "if they form a grid, row by row, give its rows and columns (--grid ROWSxCOLUMNS); if one camera slid past "
            f"the scene, say so (--slide); otherwise give a pattern (--pattern), or list the views in a {RIG}",
        )
    if found:
        (best, count), total = found.most_common(1)[0], found.total() + others
        return (
            f"is not recognised as a scene: only {count} of its {total} images, videos and folders fit one pattern, "
            f"{best!r}",
            f"give the pattern of the views (--pattern), or list them in a {RIG}",
        )
    return (
        f"is not recognised as a scene: it holds no {RIG}, no input_Cam040.png (4D light field), no view1.png or "
        "im2.ppm (Middlebury), no sparse/cameras.bin or .txt (COLMAP), no pair of images, and no images, videos or "
        "folders of frames whose names count rows and columns (a_0_0.png)",
        'give a pattern (--pattern) for its file names, such as "shot{row}x{col}.png", or list the views in a '
        f"{RIG}",
    )
