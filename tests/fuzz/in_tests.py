"""Run a fixed share of the hunt in the tests, in a process of its own, because it forks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]


def hunt_in_tests(out: Path, *arguments: str) -> None:
    """Run `python -m fuzz` with these arguments, and fail with its findings if it has some."""
    path = os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])
    threads = dict.fromkeys(("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    command = [sys.executable, "-m", "fuzz", "--processes", "1", "--out", str(out), *arguments]
    environment = {**os.environ, **threads, "PYTHONPATH": path}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr[-3000:]}"
