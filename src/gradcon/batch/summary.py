"""Writes the overview of a batch: summary.csv, and index.html with a small picture of every scene."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any
from urllib.parse import quote

from gradcon.batch.folder import INDEX, REPORT, TABLE, BatchFolder
from gradcon.errors import InputError
from gradcon.files import write_files
from gradcon.io.outputs import SUMMARY as RESULT
from gradcon.pictures.thumbnail import FILE as THUMBNAIL

COLUMNS = (
    "folder", "name", "status", "width", "height", "views", "solves", "seconds", "engine", "rmse", "badpix",
    "stopped", "warnings", "error", "source",
)  # fmt: skip
_BEGINS_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def write_summary(folder: BatchFolder) -> list[dict[str, Any]]:
    """Write both files for all scenes in the folder; return one row for each scene."""
    finished, failures = folder.finished(), folder.failures()
    rows = []
    for name, source in folder.scenes().items():
        row: dict[str, Any] = dict.fromkeys(COLUMNS) | {"folder": name, "name": name, "source": source}
        if name in failures:
            rows.append(row | {"status": "failed", "error": failures[name]})
        elif name in finished:
            rows.append(row | finished[name][-1]["record"] | {"status": "done"})
    files = [(TABLE, _table(rows)), (INDEX, _index(folder.path, rows))]
    write_files(folder.path, files)
    return rows


def write_reports(folder: BatchFolder) -> list[str]:
    """Write report.html for each finished scene that lacks an up-to-date one; return a sentence for each failure."""
    from gradcon.report import write_report

    left_out = []
    for name in folder.finished():
        place = folder.path / name
        try:
            if (place / REPORT).exists() and _written(place / REPORT) >= _written(place / RESULT):
                continue
            write_report([place], place / REPORT)
        except (InputError, OSError) as error:
            left_out.append(str(error))
    return left_out


def _written(path: Path) -> int:
    return path.stat().st_mtime_ns


def _table(rows: list[dict[str, Any]]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for row in rows:
        writer.writerow([_cell(row[name]) for name in COLUMNS])
    return text.getvalue().encode("utf-8", "backslashreplace")


def _cell(value: Any) -> Any:
    if isinstance(value, list):
        value = " ".join(value)
    if isinstance(value, str) and value.startswith(_BEGINS_FORMULA):
        return f"'{value}"  # otherwise a spreadsheet would take it for a formula
    return value


def _index(out: Path, rows: list[dict[str, Any]]) -> bytes:
    from jinja2 import Environment, PackageLoader

    environment = Environment(
        loader=PackageLoader("gradcon.batch", "."), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    done = [row | _links(out, row["folder"]) for row in rows if row["status"] == "done"]
    page = environment.get_template("index.html.j2").render(
        title=out.resolve().name,
        done=done,
        failed=[row for row in rows if row["status"] == "failed"],
        seconds=sum(row["seconds"] for row in done),
        has_truth=any(row["rmse"] is not None for row in done),
    )
    return page.encode("utf-8", "backslashreplace")


def _links(out: Path, folder: str) -> dict[str, Any]:
    there = [name for name in (REPORT, "disparity.png", RESULT) if (out / folder / name).is_file()]
    labels = {REPORT: "report", "disparity.png": "disparity", RESULT: "numbers"}
    return {
        "place": f"{quote(folder)}/",
        "thumbnail": f"{quote(folder)}/{THUMBNAIL}",
        "links": [(f"{quote(folder)}/{name}", labels[name]) for name in there],
    }
