"""A process that compiles the cpu engine and one that loads it from the cache compute the same bytes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow  # it compiles everything once

HASH_OF_MAPS = """
import hashlib
from gradcon import Options, estimate, synth

maps = hashlib.sha256()
paper = Options("gcm", solves=3), Options("naive", solves=3)
runs = ("occlusion", paper[0]), ("occlusion", paper[1]), ("rotated", paper[0]), ("occlusion", Options())
runs += (("rotated", Options.printed(solves=3)),)
for name, options in runs:
    scene = synth.render(name, (40, 52), grid=3)
    result = estimate(scene, options, engine="cpu", check_directions=False)
    maps.update(result.disparity.tobytes() + result.uncertainty.tobytes())
print(maps.hexdigest())
"""


def test_the_first_run_and_later_ones_give_the_same_bytes(tmp_path: Path) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", HASH_OF_MAPS]
    first, second = (subprocess.run(command, env=environment, check=True, capture_output=True).stdout for _ in range(2))
    assert list(tmp_path.rglob("*.nbc"))  # the second run had something to load
    assert first == second
