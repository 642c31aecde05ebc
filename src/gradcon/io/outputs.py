"""What this program itself may have put beside a scene's views, so that it is never taken for one of them."""

from __future__ import annotations

import os
from pathlib import Path

from gradcon.result import SUMMARY, VIDEO_LIST

CONTACT_SHEET = "-views.png"  # as `gradcon info` ends the name of one
BATCH_LIST = "batch.json"
RECORDS = (SUMMARY, VIDEO_LIST, BATCH_LIST)  # in folders of results: of an estimate, a video, a batch


def is_output(path: Path) -> bool:
    """Whether a file is a contact sheet, or a folder one of results."""
    if os.path.isdir(path):
        return any(os.path.isfile(path / record) for record in RECORDS)
    return path.name.endswith(CONTACT_SHEET)
