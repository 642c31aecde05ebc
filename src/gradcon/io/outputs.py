"""The files that gradcon writes: their names, and which folders it may write them into."""

from __future__ import annotations

import json
import os
from collections.abc import Container
from contextlib import suppress
from pathlib import Path

from gradcon.errors import InputError
from gradcon.files import files_in, leftovers, read_bytes, remove_leftovers

SUMMARY, RESULT_FORMAT = "result.json", "gradcon-result-2"
OLD_RESULT_FORMATS = ("gradcon-result-1",)  # still read; they call the uncertainty "confidence"
VIDEO_LIST = "video.json"  # in a folder that holds one folder of results per frame
VIEWS_LIST = "views.json"  # in a folder that holds one folder of results per view
AGREEMENT, OCCLUSION = "agreement.npz", "occlusion.png"  # what the maps of other views say about a view's map
# Parameters in a summary that a method finds itself, for each scene.
FOUND = ("disparity_range", "labels", "scales", "epsilon", "initial")
UNCERTAINTY_PICTURE = "uncertainty.png"  # written by `gradcon evaluate --uncertainty`
LEFT_OUT_PICTURE = "left-out.png"  # written by `gradcon evaluate --leave-out`
RESULT_FILES = (  # everything that a result may write into its folder
    "disparity.pfm",
    "disparity.png",
    "uncertainty.pfm",
    "depth.pfm",
    "depth.png",
    "points.ply",
    "truth.pfm",
    "views.jpg",
    "weights.npz",
    AGREEMENT,
    OCCLUSION,
    UNCERTAINTY_PICTURE,
    LEFT_OUT_PICTURE,
    SUMMARY,
    "confidence.pfm",  # the uncertainty's names in version 0.1
    "confidence.png",
)

CONTACT_SHEET = "-views.png"  # the ending of the contact sheets that `gradcon info` writes
BATCH_LIST = "batch.json"
RECORDS = (SUMMARY, VIDEO_LIST, VIEWS_LIST, BATCH_LIST)  # they mark a folder of results


def is_output(path: Path) -> bool:
    """Return whether a path is a contact sheet or a folder of results."""
    if os.path.isdir(path):
        return any(os.path.isfile(path / record) for record in RECORDS)
    return path.name.endswith(CONTACT_SHEET)


def refuse_foreign_folder(folder: Path, scene: Path | None = None, own: Container[str] = ()) -> None:
    """Refuse to write results into a folder that holds other things: files of the user's own, or the scene itself.

    A folder that holds a result already may also hold other files.  Hidden files do not count, and neither do those
    in `own`, which the caller has written or replaces.
    """
    if not os.path.isdir(folder):
        return
    if scene is not None and os.path.exists(scene) and os.path.samefile(folder, scene):
        raise InputError(folder, "is the folder of the scene itself", "write the results into another folder")
    other = next((path for path in files_in(folder) if not path.name.startswith(".") and path.name not in own), None)
    if other is not None and not holds_records(folder):
        problem = f"holds files that are not results of gradcon, such as {other.name}"
        raise InputError(folder, problem, "choose a folder that is new, empty or holds results")


def holds_records(folder: Path) -> bool:
    """Return whether a folder holds results, or what a run left that was killed before it could rename its record."""
    return any(_is_record(path) for path in [*(folder / name for name in RECORDS), *leftovers(folder, RECORDS)])


def remove_result(folder: Path) -> None:
    """Remove a result from its folder, and the folder if it holds nothing else.

    The record goes last: a run that is killed here leaves what the next one knows to be a result.
    """
    if folder.is_symlink() or not folder.is_dir():
        return
    if holds_records(folder):
        remove_leftovers(folder, RESULT_FILES)
        for name in sorted(RESULT_FILES, key=lambda name: name == SUMMARY):
            (folder / name).unlink(missing_ok=True)
    with suppress(OSError):  # other files are there
        folder.rmdir()


def _is_record(path: Path) -> bool:
    """Return whether a file is a record that gradcon wrote, and not only one of the same name."""
    try:
        record = json.loads(read_bytes(path))
    except (ValueError, RecursionError):
        return False
    return isinstance(record, dict) and str(record.get("format")).startswith("gradcon-")
