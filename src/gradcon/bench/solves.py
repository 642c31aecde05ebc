"""How long a solve takes, stage by stage, and how much memory a run needs.

A solve is timed from a disparity in the middle of a run, that of the scene "occlusion" after a few solves: the first
solves of a run are not like the others.  Engines take turns from that same disparity, so that what else the machine
does hits all of them.  Memory is that of a fresh process that opens the scene from files and estimates.

How the cost grows is measured on a texture on a waving surface, which is quick to make at any size.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from gradcon import engines
from gradcon.errors import InputError
from gradcon.io import open_scene
from gradcon.methods import schedules
from gradcon.methods.loop import minimise
from gradcon.methods.options import Options
from gradcon.scene import Scene, Views

SCENE = "occlusion"
STAGES = ("warp", "data_term", "solve", "update")
WARM_UP = 4  # solves to the middle of a run; the first of them also compiles
REFUSED = 2  # exit code of the process that measures memory, where its input cannot be used
MEMORY_SOLVES = 3  # memory has stopped growing after the second

# Of a sweep: pixels a side, and how many other views are on the cross (warped by 4 taps) and off it (by 16).  Sizes at
# the same views; then more and more views, all on the cross; then with four off it for each one on it.
SIZES = ((256, 16, 0), (512, 16, 0), (1024, 16, 0), (2048, 16, 0))
VIEWS = ((512, 4, 0), (512, 8, 0), (512, 16, 0), (512, 4, 16), (512, 8, 32), (512, 16, 64))

Figures = dict[str, Any]


def bench(
    engine: str = "cpu",
    *,
    size: int = 512,
    views: Views = "cross",
    scales: int = 3,
    solves: int = 5,
    reference: bool = True,
    path: Path | None = None,
    run_solves: int = 40,
) -> Figures:
    """Measure one engine, and the `reference` engine in turn with it.

    Parameters
    ----------
    engine : {"cpu", "cuda", "reference"}
    size : int
        Pixels a side.
    views : "cross", "star", "all" or int
        Which of 9 x 9 views; the cross has 17.
    scales : int
        Of the method gcm.
    solves : int
        Solves to take the medians of.
    reference : bool
        Measure the `reference` engine too.
    path : Path, optional
        A scene to measure on, instead of one rendered at `size`.
    run_solves : int
        At most so many solves of the whole runs that are timed for the engine cuda.

    Returns
    -------
    dict
        `seconds` a solve (by stage and `total`) and `inner_iterations`; the same under `reference`, and the `ratio` of
        the totals; `peak_memory_mb` of a run, and `import_memory_mb`, which it had before it opened the scene; `scene`,
        `cores`, `versions`.  For the engine cuda also `device`, how far its stages are from what the GPU could do,
        `run`, how long whole runs take, and `device_memory_mb`.
    """
    from gradcon import synth

    _check(engine, solves, size, run_solves)
    names = list(dict.fromkeys([engine, "reference"] if reference else [engine]))
    with tempfile.TemporaryDirectory() as folder:
        if path is None:
            _say(f"rendering the scene {SCENE!r} at {size} x {size} ...")
            path = synth.write(SCENE, Path(folder) / SCENE, (size, size), views=views)
            scene = open_scene(path)
        else:
            scene = open_scene(path, views=views)
        memory = _run_for_memory(path, engine, scales, views)  # before this process takes any of a GPU's
        _say(f"measuring {' and '.join(names)}, {solves} solves each ...")
        found = time_solves(names, scene, scales, solves)
        cuda = _cuda_figures(scene, scales, run_solves, found["cuda"]) if engine == "cuda" else {}
    other = found["reference"] if len(names) > 1 else None
    height, width = scene.shape
    return {
        "scene": {
            "name": scene.name,
            "width": width,
            "height": height,
            "views": 1 + len(scene.targets),
            "scales": scales,
        },
        **_machine(),
        "engine": engine,
        "solves": solves,
        **found[engine],
        "reference": other,
        "ratio": other["seconds"]["total"] / found[engine]["seconds"]["total"] if other else None,
        **memory,
        **cuda,
    }


def _cuda_figures(scene: Scene, scales: int, run_solves: int, found: Figures) -> Figures:
    from gradcon.bench import cuda as bench_cuda
    from gradcon.engines.cuda.device import current_device

    _say(f"measuring whole runs of at most {run_solves} solves ...")
    stage = schedules.build("gcm", scene.baselines, Options.alpha, scales)[0]
    device = {"name": current_device().name, **bench_cuda.shares(scene, stage, found, current_device())}
    return {"device": device, "run": bench_cuda.time_runs(scene, scales, run_solves)}


def sweep(engine: str = "cpu", scales: int = 3, solves: int = 5) -> Figures:
    """Seconds a solve over image sizes, and over numbers of views."""
    rows = []
    for size, on_cross, off_cross in (*SIZES, *VIEWS):
        _check(engine, solves, size)
        views = 1 + on_cross + off_cross
        _say(f"measuring {views} views of {size} x {size} ...")
        found = time_solves([engine], make_scene(size, on_cross, off_cross), scales, solves)[engine]
        row = {"size": size, "views": views, "on_cross": on_cross, "off_cross": off_cross, **found}
        rows.append({**row, "ns_a_pixel_and_view": 1e9 * found["seconds"]["total"] / size**2 / views})
    return {**_machine(), "engine": engine, "solves": solves, "scales": scales, "rows": rows}


def time_solves(names: Sequence[str], scene: Scene, scales: int, solves: int) -> dict[str, Figures]:
    """By engine: medians over solves of gcm's first stage, all from the same disparity, the engines taking turns."""
    stage = schedules.build("gcm", scene.baselines, Options.alpha, scales)[0]
    options = Options(scales=scales)
    machines = {name: engines.create(name, scene, options) for name in names}
    first = machines[names[0]] if names[0] != "reference" else engines.create("cpu", scene, options)
    w = first.upload(np.zeros(scene.shape, np.float32))
    for k in range(WARM_UP):
        w, *_ = _timed_solve(first, w, stage, reweight=k > 0)
    start = {name: machine.upload(first.download(w)) for name, machine in machines.items()}
    laps: dict[str, list[list[float]]] = {name: [] for name in names}
    for _ in range(solves):
        for name, machine in machines.items():
            _, seconds, iterations = _timed_solve(machine, start[name], stage, reweight=True)
            laps[name].append([*seconds, sum(seconds), iterations])
    found = {}
    for name in names:
        *seconds, iterations = (statistics.median(column) for column in zip(*laps[name], strict=True))
        found[name] = {
            "seconds": dict(zip([*STAGES, "total"], seconds, strict=True)),
            "inner_iterations": iterations,
        }
    return found


def _timed_solve(machine: engines.Engine, w: Any, stage: schedules.Stage, reweight: bool) -> tuple[Any, Any, int]:
    """The disparity after one solve, the seconds of its stages on the engine's clock, and the inner iterations."""
    marks = [machine.mark()]
    warped = machine.warp(w, stage)
    marks.append(machine.mark())
    term = machine.data_term(w, warped, stage, reweight)
    marks.append(machine.mark())
    dw = machine.solve(w, term, stage.alpha, reweight)
    marks.append(machine.mark())
    after = machine.update(w, dw, stage.limit)
    report = machine.report(w, after)
    marks.append(machine.mark())
    machine.wait()
    return after, [machine.elapsed(*pair) for pair in pairwise(marks)], report.inner_iterations


def make_scene(size: int, on_cross: int, off_cross: int) -> Scene:
    """A texture on a waving surface, seen by the nearest views of a 9 x 9 grid that are on its cross and off it."""
    from scipy.ndimage import gaussian_filter, map_coordinates

    steps = sorted(np.ndindex(9, 9), key=lambda cell: (np.hypot(cell[0] - 4, cell[1] - 4), cell))
    around = [(v - 4, u - 4) for v, u in steps[1:]]
    chosen = [(v, u) for v, u in around if v * u == 0][:on_cross] + [(v, u) for v, u in around if v * u][:off_cross]
    noise = np.random.default_rng(0).standard_normal((size, size))
    texture = sum(gaussian_filter(noise, sigma, mode="wrap") * sigma for sigma in (0.8, 2.0, 6.0))
    texture = 127.5 + 50 * texture / texture.std()
    y, x = np.mgrid[:size, :size].astype(np.float32)
    disparity = np.sin(x / 40) * np.cos(y / 60)  # pixels per unit baseline, the same waves at any size
    images = np.empty((1 + len(chosen), size, size), np.uint8)
    for image, (v, u) in zip(images, [(0, 0), *chosen], strict=True):
        # A point at x in the reference is at x - u * disparity here; the waves are long enough to invert it so.
        seen = map_coordinates(texture, (y + v * disparity, x + u * disparity), order=1, mode="nearest")
        image[:] = np.clip(np.round(seen), 0, 255)
    return Scene(images[0], images[1:], [(-u, -v) for v, u in chosen], name="waves")


def describe(figures: Figures) -> str:
    """The figures of `bench`, for people."""
    scene, versions = figures["scene"], figures["versions"]
    lines = [
        f"{scene['name']}: {scene['views']} views of {scene['width']} x {scene['height']}, {scene['scales']} scales; "
        f"{figures['cores']} cores; medians of {figures['solves']} solves",
        ", ".join(f"{name} {version}" for name, version in versions.items()),
        _describe_engine(figures["engine"], figures),
    ]
    if figures["reference"]:
        lines += [_describe_engine("reference", figures["reference"]), f"ratio      {figures['ratio']:.1f}"]
    peak, imports = figures["peak_memory_mb"], figures["import_memory_mb"]
    lines.append(f"memory     {peak:.0f} MB at the peak, {imports:.0f} MB of it imports")
    if figures["engine"] == "cuda":
        from gradcon.bench import cuda as bench_cuda

        lines += [f"GPU memory {figures['device_memory_mb']:.0f} MB", *bench_cuda.describe(figures)]
    return "\n".join(lines)


def describe_sweep(figures: Figures) -> str:
    """The figures of `sweep`, for people."""
    lines = [
        f"engine {figures['engine']}, {figures['scales']} scales, {figures['cores']} cores",
        "views: all, and the targets on the cross (warped by 4 taps) and off it (by 16)",
        f"{'size':>11} {'views':>5} {'on':>3} {'off':>3} {'ms a solve':>10} {'ns a pixel and view':>19}",
    ]
    for row in figures["rows"]:
        size = f"{row['size']} x {row['size']}"
        lines.append(
            f"{size:>11} {row['views']:5} {row['on_cross']:3} {row['off_cross']:3} "
            f"{1e3 * row['seconds']['total']:10.1f} {row['ns_a_pixel_and_view']:19.2f}"
        )
    return "\n".join(lines)


def _describe_engine(name: str, figures: Figures) -> str:
    seconds = figures["seconds"]
    stages = ", ".join(f"{stage} {1e3 * seconds[stage]:.1f}" for stage in STAGES)
    return (
        f"{name:10} {1e3 * seconds['total']:.1f} ms a solve: {stages} "
        f"({figures['inner_iterations']:.0f} inner iterations)"
    )


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _check(engine: str, solves: int, size: int, run_solves: int = 1) -> None:
    if engine == "auto":
        raise InputError(f"engine: 'auto' is not one of {', '.join(engines.ENGINES[1:])}.")
    engines.check_usable(engine)  # before a scene is rendered
    limits = (("solves", solves, 1, 10_000), ("size", size, 8, 8192), ("run-solves", run_solves, 1, 10_000))
    for name, value, low, high in limits:
        if not low <= value <= high:
            raise InputError(f"{name}: {value} is not a whole number from {low} to {high}.")


def _machine() -> Figures:
    from gradcon.identity import versions

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {"cores": cores, "versions": versions()}


def _run_for_memory(folder: Path, engine: str, scales: int, views: Views) -> Figures:
    """Have a fresh process open the scene and estimate: neither the other engine nor the rendering counts."""
    command = [sys.executable, "-m", "gradcon.bench", str(folder), engine, str(scales), str(views)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode == REFUSED:
        raise InputError(done.stderr.strip())
    if done.returncode:
        raise RuntimeError(done.stderr)
    figures: Figures = json.loads(done.stdout)
    return figures


def _memory(folder: str, engine: str, scales: str, views: str) -> Figures:
    """What that process does."""
    from gradcon.engines import cpu, reference  # noqa: F401  # imports must not count as the run's memory

    imports = _peak_mb()
    minimise(open_scene(folder, views=views), Options(scales=int(scales), solves=MEMORY_SOLVES), engine=engine)
    found = {"peak_memory_mb": _peak_mb(), "import_memory_mb": imports}
    if engine == "cuda":
        import cupy

        found["device_memory_mb"] = cupy.get_default_memory_pool().total_bytes() / 1e6
    return found


def _peak_mb() -> float:
    """The most memory that this process has had resident."""
    status = Path("/proc/self/status")
    if status.exists():  # getrusage would count what the parent had when it started us
        (line,) = (line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024 / 1e6
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6


if __name__ == "__main__":
    try:
        print(json.dumps(_memory(*sys.argv[1:])))
    except InputError as refusal:
        print(refusal, file=sys.stderr)
        sys.exit(REFUSED)
