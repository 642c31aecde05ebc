"""The names of the files that gradcon writes, so that none of them is ever taken for a view of a scene."""

from __future__ import annotations

import os
from pathlib import Path

SUMMARY, RESULT_FORMAT = "result.json", "gradcon-result-1"
VIDEO_LIST = "video.json"  # of a folder that holds a folder of results for each frame
UNCERTAINTY_PICTURE = "uncertainty.png"  # of `gradcon evaluate --uncertainty`
RESULT_FILES = (  # all that a result may leave in its folder
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
)

CONTACT_SHEET = "-views.png"  # as `gradcon info` ends the name of one
BATCH_LIST = "batch.json"
RECORDS = (SUMMARY, VIDEO_LIST, BATCH_LIST)  # in folders of results: of an estimate, a video, a batch


def is_output(path: Path) -> bool:
    """Whether a file is a contact sheet, or a folder one of results."""
    if os.path.isdir(path):
        return any(os.path.isfile(path / record) for record in RECORDS)
    return path.name.endswith(CONTACT_SHEET)
