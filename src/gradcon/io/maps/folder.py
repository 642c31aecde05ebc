"""The maps in a folder of results, described by its result.json.

Version 0.1 called the uncertainty "confidence"; its folders are read as if they had the present names.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from gradcon.errors import InputError
from gradcon.files import read_text, sha256_of_file
from gradcon.io import pfm
from gradcon.io.maps.map import OLD_NAMES, QUANTITIES, Map, current_name
from gradcon.io.outputs import OLD_RESULT_FORMATS, RESULT_FORMAT, SUMMARY, VIDEO_LIST, VIEWS_LIST

FILES = {quantity: f"{quantity}.pfm" for quantity in QUANTITIES}
MAX_RESULT_BYTES = 2**26
_ESTIMATE_AGAIN = "estimate the scene again"
_GIVE_RESULT = "give a folder that `gradcon estimate` wrote"


def map_file(folder: Path, quantity: str) -> Path:
    """Return the file of a map in a folder of results, under its present name or that of version 0.1."""
    path = folder / FILES[quantity]
    old = (folder / f"{name}.pfm" for name, current in OLD_NAMES.items() if current == quantity)
    return next((candidate for candidate in (path, *old) if candidate.exists()), path)


def is_map_file(path: Path) -> bool:
    """Return whether a PFM is one of the maps in a folder of results."""
    names = {*FILES.values(), *(f"{name}.pfm" for name in OLD_NAMES)}
    return path.name in names and (path.parent / SUMMARY).is_file()


def read_all(folder: Path) -> list[Map]:
    """Read all maps, the disparity first."""
    summary = read_summary(folder)
    files = [map_file(folder, quantity) for quantity in QUANTITIES if entry(summary, quantity)]
    found = [path for path in files if path.exists()]
    if not found:
        raise InputError(folder, f"holds no {FILES['disparity']}", _GIVE_RESULT)
    return [_described(path, summary) for path in found]


def read(path: Path) -> Map:
    """Read one map of a folder of results."""
    return _described(path, read_summary(path.parent))


def read_summary(folder: Path) -> dict[str, Any]:
    """Read result.json; quantities have their present names, whichever version wrote it."""
    path = folder / SUMMARY
    if folder.is_file():
        raise InputError(folder, "is a file", _GIVE_RESULT)
    if (folder / VIDEO_LIST).is_file():
        raise InputError(folder, "holds the results of a video", "give the folder of one of its frames")
    if (folder / VIEWS_LIST).is_file():
        raise InputError(folder, "holds the results of several views", "give the folder of one of them")
    if folder.is_dir() and not path.exists():
        raise InputError(folder, f"holds no {SUMMARY}", _GIVE_RESULT)
    text = read_text(path, MAX_RESULT_BYTES)
    try:
        summary = json.loads(text)
    except (RecursionError, ValueError):  # for example a number of more digits than Python reads
        raise InputError(path, "is not valid JSON", _ESTIMATE_AGAIN) from None
    known = (*OLD_RESULT_FORMATS, RESULT_FORMAT)
    version = summary.get("format") if isinstance(summary, dict) else None
    if not isinstance(summary, dict) or version not in known:
        problem = f"has the format {version!r:.60}, not {' or '.join(known)}"
        raise InputError(path, problem, _ESTIMATE_AGAIN)
    for old, current in OLD_NAMES.items():
        if old in summary:
            summary.setdefault(current, summary.pop(old))
    return summary


def entry(summary: dict[str, Any], name: str) -> dict[str, Any]:
    """Return an object of the summary, or an empty one if it is missing."""
    found = summary.get(name)
    return found if isinstance(found, dict) else {}


def refuse_stranger(path: Path, summary: dict[str, Any]) -> None:
    """Refuse a file that is not the one that the result.json beside it describes; older ones describe no files."""
    hashes = entry(summary, "files")
    if not hashes:
        return
    if path.name not in hashes:
        problem = f"is not among the files that {SUMMARY} describes, so it belongs to another run or is your own"
    elif sha256_of_file(path) != hashes[path.name]:
        problem = f"is not the file that {SUMMARY} describes, so a run was interrupted or the file was changed"
    else:
        return
    raise InputError(path, problem, f"{_ESTIMATE_AGAIN}, or use a file of your own from another folder")


def _described(path: Path, summary: dict[str, Any]) -> Map:
    quantity = current_name(path.stem)
    values = pfm.read_pfm(path)
    about, source = entry(summary, quantity), entry(summary, "source")
    if not about:
        problem = f"the {SUMMARY} beside it does not mention any {quantity}, so it belongs to another run"
        raise InputError(path, problem, "remove it")
    stated = source.get("width"), source.get("height")
    if stated != (values.shape[1], values.shape[0]):
        size = f"{values.shape[1]} x {values.shape[0]} pixels"
        problem = f"is {size}, but {SUMMARY} beside it says {stated[0]} x {stated[1]}, so they are from different runs"
        raise InputError(path, problem, _ESTIMATE_AGAIN)
    refuse_stranger(path, summary)
    texts = {
        "unit": about.get("unit") or None,
        "sign": about.get("sign"),
        "reference": about.get("reference", source.get("reference")),
        "scene": source.get("name"),
    }
    try:
        return Map(values, quantity, **texts)
    except InputError as error:
        where = f"{path.parent / SUMMARY}, {error.where}"
        raise InputError(where, error.problem, _ESTIMATE_AGAIN) from None
