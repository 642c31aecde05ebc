"""The guides do what they say: their blocks run from top to bottom in an empty folder, and again in the same folder."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from conftest import CHECKOUT
from gradcon.cli import main

pytestmark = pytest.mark.slow

DOCS = CHECKOUT / "docs"
GUIDES = [CHECKOUT / "README.md", DOCS / "index.md", DOCS / "commands.md", *sorted((DOCS / "guide").glob("*.md"))]
BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("path", GUIDES, ids=lambda path: str(path.relative_to(CHECKOUT)))
def test_guides_run(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("gradcon.pictures.card.open_picture", len)  # no viewer is to open
    blocks = BLOCK.findall(path.read_text(encoding="utf-8"))
    assert blocks
    for _ in range(2):
        variables: dict[str, Any] = {}
        for language, block in blocks:
            if language == "python":
                exec(compile(block, str(path), "exec"), variables)
                continue
            for line in block.replace("\\\n", " ").splitlines():
                if line.startswith("gradcon "):  # other programs are left alone
                    assert main(shlex.split(line, comments=True)[1:]) == 0, line
