"""The names of the files that gradcon writes, so that readers never mistake them for views."""

from __future__ import annotations

import os
from pathlib import Path

SUMMARY, RESULT_FORMAT = "result.json", "gradcon-result-2"
OLD_RESULT_FORMATS = ("gradcon-result-1",)  # still read; they call the uncertainty "confidence"
VIDEO_LIST = "video.json"  # in a folder that holds one folder of results per frame
FOUND = ("disparity_range", "labels")  # parameters in a summary that a method finds itself, for each scene
UNCERTAINTY_PICTURE = "uncertainty.png"  # written by `gradcon evaluate --uncertainty`
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
    UNCERTAINTY_PICTURE,
    SUMMARY,
    "confidence.pfm",  # the uncertainty's names in version 0.1
    "confidence.png",
)

CONTACT_SHEET = "-views.png"  # the ending of the contact sheets that `gradcon info` writes
BATCH_LIST = "batch.json"
RECORDS = (SUMMARY, VIDEO_LIST, BATCH_LIST)  # they mark a folder of results: of an estimate, a video, a batch


def is_output(path: Path) -> bool:
    """Return whether a path is a contact sheet or a folder of results."""
    if os.path.isdir(path):
        return any(os.path.isfile(path / record) for record in RECORDS)
    return path.name.endswith(CONTACT_SHEET)
