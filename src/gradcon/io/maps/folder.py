"""The maps of a folder of results, described by its result.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from gradcon.errors import InputError
from gradcon.files import read_text
from gradcon.io import pfm
from gradcon.io.maps.map import QUANTITIES, Map
from gradcon.io.outputs import RESULT_FORMAT, SUMMARY, VIDEO_LIST

FILES = {quantity: f"{quantity}.pfm" for quantity in QUANTITIES}
MAX_RESULT_BYTES = 2**26


def read_all(folder: Path) -> list[Map]:
    """Every map there is, the disparity first."""
    summary = read_summary(folder)
    there = [name for quantity, name in FILES.items() if entry(summary, quantity) and (folder / name).exists()]
    if not there:
        raise InputError(f"{folder}: holds no {FILES['disparity']}; give a folder that `gradcon estimate` wrote.")
    return [_described(folder / name, summary) for name in there]


def read(folder: Path, name: str) -> Map:
    """The map in the file `name` of a folder of results."""
    return _described(folder / name, read_summary(folder))


def read_summary(folder: Path) -> dict[str, Any]:
    """What result.json holds."""
    path = folder / SUMMARY
    if folder.is_file():
        raise InputError(f"{folder}: is a file; give the folder that `gradcon estimate` wrote.")
    if (folder / VIDEO_LIST).is_file():
        raise InputError(f"{folder}: holds the results of a video; give the folder of one of its frames.")
    if folder.is_dir() and not path.exists():
        raise InputError(f"{folder}: holds no {SUMMARY}; give a folder that `gradcon estimate` wrote.")
    text = read_text(path, MAX_RESULT_BYTES)
    try:
        summary = json.loads(text)
    except (RecursionError, ValueError):  # such as a number of more digits than Python reads
        raise InputError(f"{path}: is not valid JSON; estimate the scene again.") from None
    version = summary.get("format") if isinstance(summary, dict) else None
    if isinstance(version, str) and version.startswith(RESULT_FORMAT.rstrip("0123456789")) and version != RESULT_FORMAT:
        raise InputError(f"{path}: is of another version ({version[:40]!r}); estimate the scene again.")
    if not isinstance(summary, dict) or version != RESULT_FORMAT:
        raise InputError(f"{path}: is not a result of gradcon ({RESULT_FORMAT}); estimate the scene again.")
    return summary


def entry(summary: dict[str, Any], name: str) -> dict[str, Any]:
    """An object of the summary; empty where there is none."""
    found = summary.get(name)
    return found if isinstance(found, dict) else {}


def _described(path: Path, summary: dict[str, Any]) -> Map:
    quantity = path.stem
    values = pfm.read_pfm(path)
    about, source = entry(summary, quantity), entry(summary, "source")
    if not about:
        raise InputError(f"{path}: {SUMMARY} beside it knows of no {quantity}, so it is another run's; remove it.")
    stated = source.get("width"), source.get("height")
    if stated != (values.shape[1], values.shape[0]):
        raise InputError(
            f"{path}: is {values.shape[1]} x {values.shape[0]} pixels, but {SUMMARY} beside it says "
            f"{stated[0]} x {stated[1]}; they belong to different results."
        )
    texts = {
        "unit": about.get("unit") or None,
        "sign": about.get("sign"),
        "reference": about.get("reference", source.get("reference")),
        "scene": source.get("name"),
    }
    try:
        return Map(values, quantity, **texts)
    except InputError as reason:
        raise InputError(f"{path.parent / SUMMARY}: {str(reason).rstrip('.')}; estimate the scene again.") from None
