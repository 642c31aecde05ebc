"""What the tests of batches share: tiny scenes, and what is left of a run."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from pathlib import Path

from gradcon import synth
from gradcon.cli import main

QUICK = ["--engine", "reference", "--solves", "2"]


def write_scenes(folder: Path, count: int, size: int = 32) -> list[Path]:
    """Light fields of five views."""
    paths = [folder / f"scene{k:02d}" for k in range(count)]
    for seed, path in enumerate(paths):
        synth.write("planes", path, (size, size), views=5, seed=seed)
    return paths


def results(out: Path) -> dict[str, bytes]:
    """All files of the scenes' folders that do not say how long something took."""
    files = [path for path in out.glob("*/*") if path.parent.name != "jobs" and path.name != "result.json"]
    return {str(path.relative_to(out)): path.read_bytes() for path in files}


def start_batch(scenes: Path, out: Path, *more: str) -> subprocess.Popen[str]:
    # A shell that started the tests in the background has them ignore SIGINT; the command must not inherit that.
    code = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from gradcon.cli import run; run()"
    command = [sys.executable, "-c", code, "batch", str(scenes), "--out", str(out), *QUICK, *more]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"}
    )


def leftovers(out: Path) -> list[Path]:
    return [path for path in out.rglob("*") if path.name.endswith(".tmp")]


def batch(*arguments: object) -> int:
    return main(["batch", *map(str, arguments), *QUICK, "--workers", "1"])


def rows(out: Path) -> dict[str, dict[str, str]]:
    with open(out / "summary.csv", newline="") as file:
        return {row["folder"]: row for row in csv.DictReader(file)}


def job_files(out: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in (out / "jobs").glob("*.json")}


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
