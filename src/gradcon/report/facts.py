"""What the page says about its results: a name for each, the table of key facts, and the warnings."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from gradcon.progress import plural
from gradcon.report.folder import ResultPage
from gradcon.result.facts import choices_in_words
from gradcon.result.metrics import BADPIX
from gradcon.scene.numbers import finite_number

MAX_COLUMNS = 12  # for parameters that differ between the results
MAX_LETTERS = 60  # of the value of one parameter


def letter(k: int, count: int) -> str:
    """Return the letter of a result among several: A, B, C, ...; a single result has none."""
    if count == 1:
        return ""
    return chr(65 + k) if k < 26 else str(k + 1)


def kinds(results: Sequence[ResultPage], form: Callable[[str], str] = str) -> str:
    """Return what the rows of the results' histories are: solve, pass, or solve or pass; `form` is theirs."""
    return " or ".join(map(form, sorted({result.kind for result in results}, reverse=True)))


def labels(folders: Sequence[Path]) -> list[str]:
    """Return the shortest ending of each path that tells it apart from the others."""
    paths = [Path(os.path.abspath(folder)).parts for folder in folders]
    return [_ending(path, {other for other in paths if other != path}) for path in paths]


def _ending(path: tuple[str, ...], others: set[tuple[str, ...]]) -> str:
    count = 1
    while count < len(path) and any(other[-count:] == path[-count:] for other in others):
        count += 1
    return str(Path(*path[-count:]))


def facts(results: Sequence[ResultPage]) -> dict[str, Any]:
    """Return the headings of the table of key facts, and a row for each result, without empty columns."""
    differing = _differing(results)
    headings = ["result", "scene", "size", "method", "alpha", *differing, "views"]
    headings += [kinds(results, plural), "seconds", "RMSE"]
    headings += [f"BadPix {limit:g}" for limit in sorted(BADPIX, reverse=True)]
    names = labels([result.folder for result in results])
    rows = []
    for k, result in enumerate(results):
        without = result.parameters.get("without")
        method = str(result.parameters.get("method") or "")
        views = len(result.targets) + 1 if result.targets else None
        rows.append(
            [
                f"{letter(k, len(results))} {names[k]}".strip(),
                result.name,
                f"{result.width} x {result.height}",
                f"{method} without {without}" if without else method,
                _number(result.parameters.get("alpha"), "g"),
                *(values[k] for values in differing.values()),
                _number(views, "g"),
                _number(result.solves or None, "g"),
                _number(result.seconds, ".1f"),
                _number(result.metrics.get("rmse"), ".4f"),
                *(_number(badpix(result, limit), ".2f", " %") for limit in sorted(BADPIX, reverse=True)),
            ]
        )
    used = [k for k in range(len(headings)) if any(row[k] for row in rows)]
    return {"headings": [text(headings[k]) for k in used], "rows": [[text(row[k]) for k in used] for row in rows]}


def _differing(results: Sequence[ResultPage]) -> dict[str, list[str]]:
    """Return the other parameters that differ between the results, by their headings."""
    names = dict.fromkeys(name for result in results for name in result.parameters)
    columns = {
        {"solves": "solves allowed"}.get(name, name): [_plain(result.parameters.get(name)) for result in results]
        for name in names
        if name not in ("method", "without", "alpha")
    }
    columns["engine"] = [result.engine for result in results]
    columns = {"reference": [result.reference[:MAX_LETTERS] for result in results], **columns}
    differing = {name: values for name, values in columns.items() if len(set(values)) > 1}
    return dict(list(differing.items())[:MAX_COLUMNS])


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        return choices_in_words(value)[:MAX_LETTERS]
    if isinstance(value, str | bool):
        return str(value)[:MAX_LETTERS]
    return _number(value, "g")


def notes(results: Sequence[ResultPage], left_out: Sequence[str]) -> list[tuple[str, str]]:
    """Return the warnings, each with the letter of its result (empty if there is only one) and a sentence."""
    return [
        *(("", text(f"Left out: {reason}")) for reason in left_out),
        *(
            (letter(k, len(results)), text(note))
            for k, result in enumerate(results)
            for note in (*result.notes, *result.warnings)
        ),
    ]


def badpix(result: ResultPage, limit: float) -> float | None:
    """Return the share of bad pixels in percent, or None if it is unknown."""
    return finite_number(result.metrics.get(f"badpix_{round(100 * limit):03d}"))


def _number(value: Any, form: str, unit: str = "") -> str:
    if isinstance(value, float) and math.isinf(value):
        return "infinite"
    number = finite_number(value)
    return "" if number is None else format(number, form) + unit


def text(value: str) -> str:
    """Escape what cannot be encoded, because a file name need not be valid text."""
    return value.encode("utf-8", "backslashreplace").decode("utf-8")
