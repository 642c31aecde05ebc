"""The memory that a run needs, measured in a fresh process that opens the scene from files and estimates it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from gradcon.bench.schema import MemoryFigures
from gradcon.errors import InputError
from gradcon.io import open_scene
from gradcon.methods.loop import minimise
from gradcon.methods.options import Options
from gradcon.scene import Views

REFUSED = 2  # exit code of the process if its input cannot be used
SOLVES = 3  # memory has stopped growing after the second


def run_for_memory(folder: Path, engine: str, scales: int, views: Views) -> MemoryFigures:
    """Let a fresh process open the scene and estimate, so that neither other engines nor the rendering count."""
    command = [sys.executable, "-m", "gradcon.bench.memory", str(folder), engine, str(scales), str(views)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode == REFUSED:
        raise InputError(*json.loads(done.stderr))
    if done.returncode:
        raise RuntimeError(done.stderr)
    figures: MemoryFigures = json.loads(done.stdout)
    return figures


def _measure(folder: str, engine: str, scales: str, views: str) -> MemoryFigures:
    """Measure, in that process."""
    from gradcon.engines import reference  # noqa: F401  # imports must not count as the run's memory
    from gradcon.engines.cpu import engine as _  # noqa: F401

    imports = _peak_mb()
    run = minimise(open_scene(folder, views=views), Options("gcm", scales=int(scales), solves=SOLVES), engine=engine)
    found: MemoryFigures = {"peak_memory_mb": _peak_mb(), "import_memory_mb": imports}
    allocated = run.engine.device.allocated_bytes()
    return found if allocated is None else {**found, "device_memory_mb": allocated / 1e6}


def _peak_mb() -> float:
    """Return the peak resident memory of this process."""
    status = Path("/proc/self/status")
    if status.exists():  # getrusage would count what the parent had when it started us
        (line,) = (line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024 / 1e6
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6


if __name__ == "__main__":
    try:
        print(json.dumps(_measure(*sys.argv[1:])))
    except InputError as refusal:
        print(json.dumps([refusal.where, refusal.problem, refusal.remedy]), file=sys.stderr)
        sys.exit(REFUSED)
