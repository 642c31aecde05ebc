"""The history of ratios by version: its rows are whole, and a measurement adds one."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, get_type_hints

from conftest import CHECKOUT
from gradcon.bench.comparisons import _ratio, _skipped
from gradcon.bench.schema import RatiosByName
from gradcon.bench.setting import setting

FOLDER = CHECKOUT / "benchmarks"
FIELDS = ["version", "date", "commit", "machine", "scene", "source", "ratios"]


def add_row(found: str, history: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(FOLDER / "add_row.py"), str(history)]
    return subprocess.run(command, input=found, capture_output=True, text=True, check=False)


def rows(history: Path) -> list[dict[str, Any]]:
    kept = json.loads(history.read_text(encoding="utf-8"))
    assert kept["format"] == "gradcon-benchmarks-1"
    return kept["rows"]


def check(row: dict[str, Any]) -> None:
    assert list(row) == FIELDS
    assert all(isinstance(row[name], str) and row[name] for name in FIELDS[:-1])
    assert list(row["ratios"]) == list(get_type_hints(RatiosByName))
    for values in row["ratios"].values():
        assert values is None or len(values) == 3
        known = [value for value in (values or [1]) if value is not None]
        assert known
        assert all(value > 0 for value in known)


def test_the_history_is_whole() -> None:
    there = rows(FOLDER / "history.json")
    assert {row["version"] for row in there} >= {"0.1.0"}
    for row in there:
        check(row)
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in text for name in FIELDS)


def test_a_measurement_adds_a_row_and_a_repeated_one_replaces_it(tmp_path: Path) -> None:
    history = Path(shutil.copy(FOLDER / "history.json", tmp_path))
    before = rows(history)
    found = {
        **setting("ratios", "cpu"),
        "scene": {"name": "cotton", "width": 512, "height": 512, "views": 17},
        "ratios": {
            name: _skipped("no OpenCV") if name.endswith("dis") else _ratio([8.0, 9.0, 10.0], [2.0, 2.0, 2.0])
            for name in get_type_hints(RatiosByName)
        },
    }
    for again in (False, True):
        done = add_row(json.dumps(found | ({"date": "2030-01-01"} if again else {})), history)
        assert done.returncode == 0, done.stderr
        *others, new = rows(history)
        assert others == before
        check(new)
        assert new["ratios"]["six_scales_to_three"] == [4.5, 4.0, 5.0]
        assert new["ratios"]["gcm_to_dis"] is None
    assert new["date"] == "2030-01-01"


def test_anything_else_is_refused(tmp_path: Path) -> None:
    history = Path(shutil.copy(FOLDER / "history.json", tmp_path))
    before = history.read_bytes()
    assert "nothing was measured" in add_row("", history).stderr
    assert "is not the output of" in add_row(json.dumps({**setting("sweep", "cpu")}), history).stderr
    assert history.read_bytes() == before
