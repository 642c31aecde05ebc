"""A batch and its workers are killed at random moments: no result is lost, and no half-written file is left."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import time
from functools import partial
from itertools import cycle
from pathlib import Path

import pytest

from batch_scenes import leftovers, results, start_batch, write_scenes
from job_kinds import children, wait_until_gone
from waiting import PATIENCE

KILLS = int(os.environ.get("GRADCON_KILLS", "7"))  # for each number of workers
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc to find the workers"),
]


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_kill_9_at_random_moments(tmp_path: Path, workers: int) -> None:
    start = partial(start_batch, tmp_path / "in")
    crew = ("--workers", str(workers))
    write_scenes(tmp_path / "in", 5, size=24)
    clean = tmp_path / "clean"
    begun = time.monotonic()
    assert start(clean, *crew).wait(timeout=PATIENCE) == 0
    whole = time.monotonic() - begun
    expected = results(clean)
    out, moments, kills = tmp_path / "out", random.Random(workers), 0
    for whom in cycle(["workers", "the batch", "the batch"]):
        if kills >= KILLS:
            break
        process = start(out, *crew)
        time.sleep(moments.uniform(0.2, 0.8) * whole)
        if process.poll() is not None:  # it ended too soon: try again from the beginning
            whole /= 2
            assert results(out) == expected
            shutil.rmtree(out)
            continue
        if whom == "the batch":
            all_of_them = children(process.pid)
            process.kill()
            process.wait()
            wait_until_gone(all_of_them)
            kills += 1
        else:
            for _ in range(4):
                if alive := [pid for pid in children(process.pid) if is_worker(pid)]:
                    os.kill(moments.choice(alive), signal.SIGKILL)
                    kills += 1
                time.sleep(moments.uniform(0.0, 0.3))
            _, errors = process.communicate(timeout=PATIENCE)
            assert process.returncode in (0, 1), errors  # 1 if two processes were killed while doing the same scene
            assert "Traceback" not in errors
            assert not leftovers(out)
        for path in (out / "jobs").glob("*.json"):
            for name in json.loads(path.read_text())["files"]:  # it is whole, and the files that it names exist
                assert (out / name).read_bytes() == expected.get(name, (out / name).read_bytes())
    assert start(out, *crew).wait(timeout=PATIENCE) == 0
    assert results(out) == expected
    assert not leftovers(out)


def is_worker(pid: int) -> bool:
    """Return whether it is a worker, and not the process that cleans up after multiprocessing."""
    try:
        return b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
