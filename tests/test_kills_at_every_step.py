"""A command is killed before each of its file operations in turn; the next run leaves what a single run would have."""

from __future__ import annotations

import contextlib
import shutil
import sys
import time
from pathlib import Path

import pytest

from batch_scenes import batch
from gradcon import estimate, read_maps, synth
from gradcon.cli import main
from gradcon.errors import InputError
from stopping import kill_at_every_step, once, run

QUICK = ["--engine", "reference", "--method", "gcm"]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="a command is stopped in a forked process"),
]


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two tiny scenes."""
    root = tmp_path_factory.mktemp("scenes")
    for seed, name in enumerate(("one", "two")):
        synth.write("planes", root / "stills" / name, (16, 16), views=3, seed=seed)
    return root


@pytest.fixture(autouse=True)
def same_every_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every run state the same times, and compute each map once, as only the files matter here."""
    monkeypatch.setattr(time, "perf_counter", lambda: 0.0)
    estimate_once = once(estimate)
    monkeypatch.setattr("gradcon.cli.estimates.estimate", estimate_once)
    monkeypatch.setattr("gradcon.batch.work.estimate", estimate_once)


def estimated(scene: Path, out: Path, solves: int, *more: str) -> int:
    return main(["estimate", str(scene), "--out", str(out), *QUICK, "--solves", str(solves), *more])


def test_estimate(scenes: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    kill_at_every_step(out, lambda: estimated(scenes / "stills" / "one", out / "result", 1))


def test_estimate_in_place_of_another_result(scenes: Path, tmp_path: Path) -> None:
    """Nor does a reader ever find maps of both."""
    out, old = tmp_path / "out", tmp_path / "old"
    run(lambda: estimated(scenes / "stills" / "two", old, 2, "--keep-weights"))
    new = lambda: estimated(scenes / "stills" / "one", out / "result", 1)  # noqa: E731
    run(new)
    both = [{map_.name: map_.values.tobytes() for map_ in read_maps(folder)} for folder in (old, out / "result")]

    def check() -> None:
        with contextlib.suppress(InputError):
            assert {map_.name: map_.values.tobytes() for map_ in read_maps(out / "result")} in both

    kill_at_every_step(out, new, lambda: shutil.copytree(old, out / "result"), check)


@pytest.mark.parametrize("replaced", [False, True])
def test_report(scenes: Path, tmp_path: Path, replaced: bool) -> None:
    out, result = tmp_path / "out", tmp_path / "result"
    run(lambda: estimated(scenes / "stills" / "one", result, 1))
    page = out / "pages" / "page.html"

    def before() -> None:
        if replaced:
            page.parent.mkdir()
            page.write_text("an older page")

    kill_at_every_step(out, lambda: main(["report", str(result), "--out", str(page)]), before)


@pytest.mark.parametrize("name", ["map.tif", "map.png", "map.npz", "map.pfm"])
def test_convert(scenes: Path, tmp_path: Path, name: str) -> None:
    out, result = tmp_path / "out", tmp_path / "result"
    run(lambda: estimated(scenes / "stills" / "one", result, 1))
    choice = [] if name.endswith(".npz") else ["--quantity", "disparity"]
    command = ["convert", str(result), str(out / "maps" / name), "--force", *choice]
    kill_at_every_step(out, lambda: main(command))
    kill_at_every_step(out, lambda: main(command), lambda: [(out / "maps").mkdir(), (out / "maps" / name).touch()])


def test_batch(scenes: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    kill_at_every_step(out, lambda: batch(scenes / "stills", "--out", out / "batch", "--reports"))


def test_batch_of_a_scene_that_has_changed(scenes: Path, tmp_path: Path) -> None:
    out, scene = tmp_path / "out", tmp_path / "stills" / "one"
    shutil.copytree(scenes / "stills" / "one", scene)
    run(lambda: batch(scene.parent, "--out", tmp_path / "old"))
    for path in (scenes / "stills" / "two").iterdir():
        shutil.copyfile(path, scene / path.name)
    command = lambda: batch(scene.parent, "--out", out / "batch")  # noqa: E731
    kill_at_every_step(out, command, lambda: shutil.copytree(tmp_path / "old", out / "batch"))
