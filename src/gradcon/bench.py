"""How long a solve takes, stage by stage, and how much memory a run needs.

The scene is a random texture on a waving surface: quick to make at any size, so that measuring starts soon.  Time is
taken in this process, after one solve that also compiles; memory in a fresh one that opens the scene from files and
estimates, so that neither the other engine nor the scene's making counts.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon import engines, schedules
from gradcon.errors import InputError
from gradcon.estimate import Options, estimate
from gradcon.io import open_scene
from gradcon.scene import Scene

GRID = 9  # cameras a side
STAGES = ("warp", "data_term", "solve", "update")
SIZES, VIEWS = (256, 512, 1024, 2048), (5, 9, 17, 33, 81)  # of a sweep
REFERENCE_SOLVES = 2
MEMORY_SOLVES = 3  # memory has stopped growing after the second

Figures = dict[str, Any]


def bench(
    engine: str = "cpu", *, size: int = 512, views: int = 17, scales: int = 3, solves: int = 10, reference: bool = True
) -> Figures:
    """Measure one engine on one scene.

    Parameters
    ----------
    engine : {"cpu", "reference"}
    size, views, scales : int
        Pixels a side, views (the reference counted), scales of the method gcm.
    solves : int
        Solves to take the median of, after one to warm up.
    reference : bool
        Measure the `reference` engine in the same run too, for the ratio.

    Returns
    -------
    dict
        `seconds` a solve (by stage and `total`), `inner_iterations`, `reference` (the same for that engine) and
        `ratio`, `memory` in MB (`imports`: before the scene is opened; `peak`), `scene`, `machine`.
    """
    _check(engine, solves, size, views)
    images, cells = make_views(size, views)
    scene = _scene(images, cells)
    figures: Figures = {
        "scene": {"width": size, "height": size, "views": views, "scales": scales},
        "machine": _machine(),
        "engine": engine,
        **time_solves(engine, scene, scales, solves),
        "reference": None,
        "ratio": None,
    }
    if reference and engine != "reference":
        figures["reference"] = time_solves("reference", scene, scales, REFERENCE_SOLVES)
        figures["ratio"] = figures["reference"]["seconds"]["total"] / figures["seconds"]["total"]
    figures["memory"] = measure_memory(engine, images, cells, scales)
    return figures


def sweep(engine: str = "cpu", scales: int = 3, solves: int = 10) -> Figures:
    """Seconds a solve over image sizes at 17 views, and over numbers of views at 512 x 512."""
    rows = []
    for size, views in [*((size, 17) for size in SIZES), *((512, views) for views in VIEWS)]:
        _check(engine, solves, size, views)
        print(f"measuring {views} views of {size} x {size} ...", file=sys.stderr, flush=True)
        found = time_solves(engine, _scene(*make_views(size, views)), scales, solves)
        seconds = found["seconds"]["total"]
        rows.append({"size": size, "views": views, **found, "ns_a_pixel_and_view": 1e9 * seconds / size**2 / views})
    return {"machine": _machine(), "engine": engine, "scales": scales, "rows": rows}


def time_solves(engine: str, scene: Scene, scales: int, solves: int) -> Figures:
    """Medians over `solves` solves of the method's first stage, after one to warm up."""
    stage = schedules.build("gcm", scene.baselines, Options.alpha, scales)[0]
    machine = engines.create(engine, scene, Options.epsilon)
    w, reweight = machine.upload(np.zeros(scene.shape)), False
    laps, iterations = [], []
    for _ in range(1 + solves):
        lap = [time.perf_counter()]
        warped = machine.warp(w, stage)
        lap.append(time.perf_counter())
        term = machine.data_term(w, warped, stage, reweight)
        lap.append(time.perf_counter())
        dw, inner = machine.solve(w, term, stage.alpha, reweight)
        lap.append(time.perf_counter())
        w, reweight = machine.update(w, dw, stage.limit).w, True
        lap.append(time.perf_counter())
        laps.append([*np.diff(lap).tolist(), lap[-1] - lap[0]])
        iterations.append(int(inner))
    medians = [statistics.median(column) for column in zip(*laps[1:], strict=True)]
    return {
        "solves": solves,
        "seconds": dict(zip([*STAGES, "total"], medians, strict=True)),
        "inner_iterations": statistics.median(iterations[1:]),
    }


def measure_memory(engine: str, images: NDArray[np.uint8], cells: Sequence[tuple[int, int]], scales: int) -> Figures:
    """MB of a process that opens the scene and estimates: once everything is imported, and at the peak."""
    from gradcon.io.hci import write_hci

    parameters = {"focal_length_mm": 50.0, "sensor_size_mm": 36.0, "baseline_mm": 1.0, "focus_distance_m": 1.0}
    with tempfile.TemporaryDirectory() as folder:
        grid = np.zeros((GRID, GRID, *images.shape[1:]), np.uint8)
        for cell, image in zip(cells, images, strict=True):
            grid[cell] = image
        write_hci(folder, grid, parameters={**parameters, "scene": "bench", "category": "synthetic"}, cells=cells)
        command = [sys.executable, "-m", "gradcon.bench", folder, engine, str(scales)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    figures: Figures = json.loads(done.stdout)
    return figures


def make_views(size: int, views: int) -> tuple[NDArray[np.uint8], list[tuple[int, int]]]:
    """Images (views, size, size) of a texture on a waving surface, and their cells in the grid; the reference first.

    The cross is filled first, then the diagonals, then the rest, from the middle outwards: 17 views are the whole
    cross, 33 the star, 81 all.
    """
    from scipy.ndimage import gaussian_filter, map_coordinates

    middle = GRID // 2
    steps = [(v - middle, u - middle) for v in range(GRID) for u in range(GRID)]
    steps.sort(key=lambda s: ((0 not in s) + (0 not in s and abs(s[0]) != abs(s[1])), np.hypot(*s), s))
    noise = np.random.default_rng(0).standard_normal((size, size))
    texture = sum(gaussian_filter(noise, sigma, mode="wrap") * sigma for sigma in (0.8, 2.0, 6.0))
    texture = 127.5 + 50 * texture / texture.std()
    y, x = np.mgrid[:size, :size].astype(np.float32)
    disparity = np.sin(x / 40) * np.cos(y / 60)  # pixels per unit baseline, the same waves at any size
    images = np.empty((views, size, size), np.uint8)
    for image, (v, u) in zip(images, steps[:views], strict=True):
        # A point at x in the reference is at x - u * disparity here; the waves are long enough to invert it so.
        seen = map_coordinates(texture, (y + v * disparity, x + u * disparity), order=1, mode="nearest")
        image[:] = np.clip(np.round(seen), 0, 255)
    return images, [(middle + v, middle + u) for v, u in steps[:views]]


def describe(figures: Figures) -> str:
    """The figures of `bench`, for people."""
    scene, machine, memory = figures["scene"], figures["machine"], figures["memory"]
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    lines = [
        f"{scene['views']} views of {scene['width']} x {scene['height']}, {scene['scales']} scales; "
        f"{machine['cores']} cores; {versions}",
        _describe_engine(figures["engine"], figures),
    ]
    if figures["reference"]:
        lines += [_describe_engine("reference", figures["reference"]), f"ratio      {figures['ratio']:.1f}"]
    lines.append(f"memory     {memory['peak']:.0f} MB at the peak, {memory['imports']:.0f} MB of it imports")
    return "\n".join(lines)


def describe_sweep(figures: Figures) -> str:
    """The figures of `sweep`, for people."""
    lines = [f"engine {figures['engine']}, {figures['scales']} scales, {figures['machine']['cores']} cores"]
    lines += [f"{'size':>11} {'views':>5} {'ms a solve':>10} {'ns a pixel and view':>19}"]
    for row in figures["rows"]:
        size = f"{row['size']} x {row['size']}"
        lines.append(
            f"{size:>11} {row['views']:5} {1e3 * row['seconds']['total']:10.1f} {row['ns_a_pixel_and_view']:19.2f}"
        )
    return "\n".join(lines)


def _describe_engine(name: str, figures: Figures) -> str:
    seconds = figures["seconds"]
    stages = ", ".join(f"{stage} {1e3 * seconds[stage]:.1f}" for stage in STAGES)
    return (
        f"{name:10} {1e3 * seconds['total']:.1f} ms a solve: {stages} "
        f"(medians of {figures['solves']}; {figures['inner_iterations']:.0f} inner iterations)"
    )


def _check(engine: str, solves: int, size: int, views: int) -> None:
    if engine not in ("cpu", "reference"):
        raise InputError(f"engine: {engine!r} is not one of cpu, reference.")
    for name, value, low, high in (
        ("solves", solves, 1, 10_000),
        ("size", size, 8, 8192),
        ("views", views, 2, GRID**2),
    ):
        if not low <= value <= high:
            raise InputError(f"{name}: {value} is not a whole number from {low} to {high}.")


def _scene(images: NDArray[np.uint8], cells: Sequence[tuple[int, int]]) -> Scene:
    (row, column), *others = cells
    return Scene(images[0], images[1:], [(column - u, row - v) for v, u in others], name="bench")


def _machine() -> Figures:
    from gradcon.io.results import versions

    return {"cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
            "versions": versions()}  # fmt: skip


def _peak_mb() -> float:
    """The most memory that this process has had resident."""
    status = Path("/proc/self/status")
    if status.exists():  # getrusage would count what the parent had when it started us
        (line,) = (line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024 / 1e6
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6


def _memory(folder: str, engine: str, scales: str) -> None:
    """What `measure_memory` starts: open, estimate, print the peaks."""
    from gradcon.engines import cpu, reference  # noqa: F401  # imports must not count as the run's memory

    imports = _peak_mb()
    estimate(open_scene(folder), Options(scales=int(scales), solves=MEMORY_SOLVES), engine=engine)
    print(json.dumps({"imports": imports, "peak": _peak_mb()}))


if __name__ == "__main__":
    _memory(*sys.argv[1:])
