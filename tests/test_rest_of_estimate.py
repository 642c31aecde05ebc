"""What an estimate does besides its passes or solves: views are read once, times add up, and little is imported."""

from __future__ import annotations

import math
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from gradcon import Options, cli, estimate, synth
from gradcon.io.images import png, reading

SIZE = (48, 48)
AFTER = {"look", "uncertainty", "direction_check", "evaluation", "other"}  # parts that all methods have


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return synth.write("planes", tmp_path_factory.mktemp("once") / "scene", SIZE)


@pytest.mark.parametrize("options", [["--keep-weights"], ["--method", "gcm", "--solves", "2"], ["--views", "5"]])
def test_a_view_is_read_and_decoded_once(
    options: list[str], folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    decoded: list[bytes] = []
    read_bytes, decode = reading.read_bytes, png.decode

    def counted_read(path: Path) -> bytes:
        read.append(path.name)
        return read_bytes(path)

    def counted_decode(data: bytes) -> object:
        decoded.append(data)
        return decode(data)

    monkeypatch.setattr(reading, "read_bytes", counted_read)
    monkeypatch.setattr(png, "decode", counted_decode)
    assert cli.main(["estimate", str(folder), "--out", str(tmp_path / "out"), *options]) == 0
    views = 5 if "--views" in options else len(list(folder.glob("*.png")))
    assert len(read) == len(decoded) == views
    assert set(Counter(read).values()) == {1}


@pytest.mark.parametrize(
    ("method", "parts"),
    [("sweep", {"noise", "first", "second", "third"}), ("gcm", {"warp", "data_term", "solve", "update"})],
)
def test_the_seconds_of_the_parts_add_up_to_the_total(method: str, parts: set[str]) -> None:
    options = Options(method, solves=2) if method == "gcm" else Options(method)
    seconds = dict(estimate(synth.render("planes", size=SIZE), options).seconds)
    total = seconds.pop("total")
    assert seconds.keys() == AFTER | parts
    assert all(math.isfinite(value) and value >= 0 for value in seconds.values())
    assert sum(seconds.values()) <= total * (1 + 1e-9)
    assert sum(seconds.values()) == pytest.approx(total)


def test_an_estimate_imports_neither_matplotlib_nor_filters(folder: Path, tmp_path: Path) -> None:
    code = (
        "import sys; from gradcon import cli\n"
        f"assert cli.main(['estimate', {str(folder)!r}, '--out', {str(tmp_path / 'out')!r}, '--json']) == 0\n"
        "print([name for name in ('matplotlib', 'scipy.ndimage', 'scipy.sparse.linalg') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
