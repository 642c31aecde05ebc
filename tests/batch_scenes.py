"""What the tests of batches share: tiny scenes, ways to run a batch, and what is left of a run."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gradcon import synth
from gradcon.cli import main
from job_kinds import Inline

QUICK = ["--engine", "reference", "--method", "gcm", "--solves", "2"]


def write_scenes(folder: Path, count: int, size: int = 32) -> list[Path]:
    """Light fields of five views."""
    paths = [folder / f"scene{k:02d}" for k in range(count)]
    for seed, path in enumerate(paths):
        synth.write("planes", path, (size, size), views=5, seed=seed)
    return paths


def results(out: Path) -> dict[str, bytes]:
    """All files in the scenes' folders that do not say how long something took."""
    files = [path for path in out.glob("*/*") if path.parent.name != "jobs" and path.name != "result.json"]
    return {str(path.relative_to(out)): path.read_bytes() for path in files}


COMMAND = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell that runs the tests in the background ignores it
from gradcon.cli import run
{}
run()
"""
PAUSE = """
import os, time
from gradcon.jobs import Store
save, saved = Store.save, []
def save_and_pause(*arguments):
    save(*arguments)
    saved.append(arguments)
    while len(saved) == {count} and not os.path.exists({resume!r}):
        time.sleep(0.01)
Store.save = save_and_pause
"""


def start_batch(scenes: Path, out: Path, *more: str, pause_after: int | None = None) -> subprocess.Popen[str]:
    """Start `gradcon batch` in a process of its own; it may pause after it has kept some results, until `resume`."""
    code = COMMAND.format(PAUSE.format(count=pause_after, resume=str(_resume(out))) if pause_after else "")
    command = [sys.executable, "-c", code, "batch", str(scenes), "--out", str(out), *QUICK, *more]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"}
    )


def resume(out: Path) -> None:
    _resume(out).touch()


def _resume(out: Path) -> Path:
    return out.with_name(f"{out.name}.resume")


def batch(*arguments: object) -> int:
    """Run `gradcon batch` in this process, without workers of its own: for tests of what it keeps and says."""

    @contextmanager
    def inline(*_: object) -> Iterator[Inline]:
        yield Inline()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gradcon.batch.run.pool_for", inline)
        return main(["batch", *map(str, arguments), *QUICK])


def leftovers(out: Path) -> list[Path]:
    return [path for path in out.rglob("*") if path.name.endswith(".tmp")]


def rows(out: Path) -> dict[str, dict[str, str]]:
    with open(out / "summary.csv", newline="") as file:
        return {row["folder"]: row for row in csv.DictReader(file)}


def job_files(out: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in (out / "jobs").glob("*.json")}


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
