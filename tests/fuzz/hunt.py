"""Share the cases among processes, and count what becomes of them."""

from __future__ import annotations

import pickle
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from fuzz.batches import Batch
from fuzz.cases import make_case
from fuzz.findings import Findings
from fuzz.sample import Sample
from fuzz.samples import FORMATS
from fuzz.sandbox import make_root
from fuzz.table import Row

BATCH = 1000  # cases of one child
PAUSE = 0.02  # seconds between two looks at the children
LIBRARIES = ("av", "h5py", "OpenEXR", "PIL.Image", "tifffile", "zarr", "fuzz.readers", "fuzz.samples.results")


def make_samples(names: Sequence[str]) -> dict[str, list[Sample]]:
    """Make the samples in a process of its own, because the libraries start threads, which do not survive a fork."""
    code = "import pickle, sys; from fuzz.samples import FORMATS; keep = sys.stdout.buffer; "
    code += "made = {name: FORMATS[name].samples() for name in sys.argv[1:]}; pickle.dump(made, keep)"
    made = subprocess.run([sys.executable, "-W", "ignore", "-c", code, *names], stdout=subprocess.PIPE, check=True)
    samples: dict[str, list[Sample]] = pickle.loads(made.stdout)
    return samples


def import_libraries() -> None:
    """Import everything once, so that a child is ready as soon as it is forked."""
    for name in LIBRARIES:
        __import__(name)


def hunt(
    names: Sequence[str],
    findings: Findings,
    *,
    cases: int | None = None,
    minutes: float | None = None,
    seed: int = 0,
    processes: int = 2,
    tell: Callable[[str], None] = lambda text: None,
) -> list[Row]:
    """Run this many cases, or for this long, and return the counts by format."""
    samples = make_samples(names)
    import_libraries()
    begun = time.monotonic()

    def over() -> bool:
        return minutes is not None and time.monotonic() - begun > 60 * minutes

    plan = _plan(names, cases, over)
    rows = {name: Row(name) for name in names}
    running: list[tuple[Batch, float]] = []
    root, told = make_root(), begun
    try:
        while True:
            while len(running) < processes and (task := next(plan, None)) is not None:
                name, numbers = task
                folder = root / f"{name.replace(' ', '-')}-{numbers.start}"
                folder.mkdir()
                running.append((Batch(name, samples[name], seed, numbers, folder), time.monotonic()))
            if not running:
                break
            time.sleep(PAUSE)
            for batch, _ in running:
                batch.stop() if over() else batch.poll()
            for batch, since in [pair for pair in running if pair[0].done]:
                rows[batch.name].add(batch.counts, time.monotonic() - since, batch.slowest, batch.growth)
                for number, what in batch.found:
                    case = make_case(batch.name, batch.samples, seed, number)
                    findings.add(batch.name, seed, number, what, case)
                shutil.rmtree(batch.folder)
            running = [pair for pair in running if not pair[0].done]
            if time.monotonic() - told > 30:
                told = time.monotonic()
                tell(f"{sum(row.cases for row in rows.values()):,} cases in {told - begun:.0f} s")
    finally:
        for batch, _ in running:
            batch.stop()
        shutil.rmtree(root, ignore_errors=True)
    return list(rows.values())


def _plan(names: Sequence[str], cases: int | None, over: Callable[[], bool]) -> Iterator[tuple[str, range]]:
    """Yield batches: always of the format that is furthest behind its share."""
    weight = sum(FORMATS[name].weight for name in names)
    shares = {name: FORMATS[name].weight / weight for name in names}
    most = {name: max(1, round(cases * shares[name])) if cases is not None else sys.maxsize for name in names}
    planned = dict.fromkeys(names, 0)
    while not over():
        behind = [name for name in names if planned[name] < most[name]]
        if not behind:
            return
        name = min(behind, key=lambda name: planned[name] / shares[name])
        first = planned[name]
        planned[name] = min(first + BATCH, most[name])
        yield name, range(first, planned[name])


def repeat(name: str, seed: int, number: int) -> tuple[str, Path]:
    """Run one case again; return what was found, or an empty text, and the folder of its files, which is kept."""
    samples = make_samples([name])[name]
    import_libraries()
    folder = make_root()
    batch = Batch(name, samples, seed, range(number, number + 1), folder)
    while not batch.done:
        time.sleep(PAUSE)
        batch.poll()
    return " ".join(what for _, what in batch.found), folder / str(make_case(name, samples, seed, number).place)
