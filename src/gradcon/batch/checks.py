"""Checks what a worker sends back for a scene, and what the file of a finished scene says."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from gradcon.errors import InputError
from gradcon.io.outputs import RESULT_FILES, SUMMARY
from gradcon.jobs import Outcome
from gradcon.pictures.thumbnail import FILE as THUMBNAIL

_NUMBER, _NUMBER_OR_NONE = (int, float), (int, float, type(None))
_TYPES: dict[str, type | tuple[type, ...]] = {
    "name": str,
    "folder": str,
    "width": int,
    "height": int,
    "views": int,
    "solves": int,
    "stopped": str,
    "seconds": _NUMBER,
    "engine": str,
    "rmse": _NUMBER_OR_NONE,
    "badpix": _NUMBER_OR_NONE,
    "warnings": list,
}
_REMEDY = "check who runs that worker, or who wrote that folder, then repeat the command"


def check_outcome(outcome: Outcome, folder: str) -> None:
    """Refuse an outcome that is not the result of the scene with this folder.

    Its record must have the fields of a scene, its files must be those of a result in that folder, and their contents
    those that its result.json describes.
    """
    check_record(outcome.record, folder)
    own = {name.removeprefix(f"{folder}/"): content for name, content in outcome.files.items()}
    for name in outcome.files:
        if name not in {f"{folder}/{file}" for file in (*RESULT_FILES, THUMBNAIL)}:
            raise InputError(folder, f"a worker sent the file {name[:80]!r}, which is not one of its result", _REMEDY)
    try:
        stated: dict[str, str] = json.loads(own[SUMMARY])["files"]
        sent = {name: hashlib.sha256(content).hexdigest() for name, content in own.items()}
        same = stated == {name: sha256 for name, sha256 in sent.items() if name not in (SUMMARY, THUMBNAIL)}
    except (ValueError, LookupError, TypeError, RecursionError):
        same = False
    if not same:
        raise InputError(folder, f"the files that a worker sent are not those that its {SUMMARY} describes", _REMEDY)


def check_record(record: Any, folder: Any) -> None:
    """Refuse a record that is not that of the scene with this folder."""
    right = isinstance(record, dict) and record.get("folder") == folder
    if not right or not all(isinstance(record.get(name), types) for name, types in _TYPES.items()):
        raise InputError(str(folder), "the record of its result lacks a field, or is that of another scene", _REMEDY)
    if not all(isinstance(text, str) for text in record["warnings"]):
        raise InputError(str(folder), "the record of its result has warnings that are no texts", _REMEDY)
