"""A video.json that another program changed is passed over, and does not stop the estimate."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gradcon.cli.videos import _earlier

STORY = {"source": {"reference": "a", "targets": ["b"]}, "parameters": {}}
ROW = {"frame": 0, "folder": "frame_0000", "content": None}
FOOTAGE: Any = SimpleNamespace(fingerprint=lambda frame, views: None)


def written(folder: Path, *rows: Any) -> Path:
    (folder / "frame_0000").mkdir()
    (folder / "frame_0000" / "result.json").write_text("{}")
    (folder / "video.json").write_text(json.dumps({**STORY, "frames": [*rows]}))
    return folder


def test_rows_of_the_same_video_are_kept(tmp_path: Path) -> None:
    assert _earlier(written(tmp_path, ROW), STORY, FOOTAGE) == [ROW]


@pytest.mark.parametrize("content", [[1], {"a": 1}, 5])
def test_a_fingerprint_that_is_no_text(tmp_path: Path, content: Any) -> None:
    assert _earlier(written(tmp_path, {**ROW, "content": content}), STORY, FOOTAGE) == []
    assert (tmp_path / "frame_0000" / "result.json").is_file()  # nothing is known about it


def test_deep_nesting(tmp_path: Path) -> None:
    (tmp_path / "video.json").write_text("[" * 5000 + "]" * 5000)
    assert _earlier(tmp_path, STORY, FOOTAGE) == []


def test_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "video.json")
    assert _earlier(tmp_path, STORY, FOOTAGE) == []
