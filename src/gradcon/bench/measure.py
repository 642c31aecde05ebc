"""The benchmark: seconds per solve by part, the ratio to the reference engine, memory, and how the cost grows."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TypedDict

from gradcon import engines
from gradcon.bench.memory import run_for_memory
from gradcon.bench.scenes import make_scene
from gradcon.bench.schema import Bench, DeviceFigures, RunFigures, SolveFigures, Sweep, SweepRow
from gradcon.bench.setting import setting
from gradcon.bench.solves import time_solves
from gradcon.errors import InputError
from gradcon.io import open_scene
from gradcon.methods import schedules
from gradcon.methods.options import Options
from gradcon.scene import Scene, Views

SCENE = "occlusion"

# The rows of a sweep: the side of a view in pixels, and how many targets are on the cross (warped by 4 taps) and off it
# (by 16).  First the size grows; then the number of views, all on the cross; then four views are off it for each on it.
SIZES = ((256, 16, 0), (512, 16, 0), (1024, 16, 0), (2048, 16, 0))
VIEWS = ((512, 4, 0), (512, 8, 0), (512, 16, 0), (512, 4, 16), (512, 8, 32), (512, 16, 64))


class GpuFigures(TypedDict, total=False):
    device: DeviceFigures
    run: RunFigures


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
) -> Bench:
    """Measure one engine, and the `reference` engine in turn with it.

    Parameters
    ----------
    engine : {"cpu", "cuda", "reference"}
    size : int
        Side of a view in pixels.
    views : "cross", "star", "all" or int
        Which of the 9 x 9 views to use; the cross has 17.
    scales : int
        Number of scales of the method gcm.
    solves : int
        Number of solves to take the medians of.
    reference : bool
        Measure the `reference` engine too.
    path : Path, optional
        A scene to measure on, instead of one rendered at `size`.
    run_solves : int
        The largest number of solves of the whole runs that are timed for the engine cuda.

    Returns
    -------
    Bench
        A dictionary, as `docs/benchmarks.md` explains: `seconds` per solve (by stage and `total`) and
        `inner_iterations`; the same under `reference`, and the `ratio` of the totals; `peak_memory_mb` of a run, and
        `import_memory_mb`, which it had before it opened the scene; `scene` and the computer.  For the engine cuda also
        `device`, how far its stages are from what the GPU could do, `run`, how long whole runs take, and
        `device_memory_mb`.
    """
    from gradcon import synth

    check(engine, solves, size, run_solves)
    names = list(dict.fromkeys([engine, "reference"] if reference else [engine]))
    with tempfile.TemporaryDirectory() as folder:
        if path is None:
            say(f"rendering the scene {SCENE!r} at {size} x {size} ...")
            path = synth.write(SCENE, Path(folder) / SCENE, (size, size), views=views)
            scene = open_scene(path)
        else:
            scene = open_scene(path, views=views)
        memory = run_for_memory(path, engine, scales, views)  # before this process takes any of a GPU's
        say(f"measuring {' and '.join(names)}, {solves} solves each ...")
        found = time_solves(names, scene, scales, solves)
        on_gpu: GpuFigures = {}
        if engines.ENGINES[engine].keeps_maps:
            on_gpu = _gpu_figures(scene, scales, run_solves, found[engine])
    other = found["reference"] if len(names) > 1 else None
    height, width = scene.shape
    return {
        **setting("solve", engine),
        "scene": {
            "name": scene.name,
            "width": width,
            "height": height,
            "views": len(scene.colours),
            "scales": scales,
        },
        "solves": solves,
        **found[engine],
        "reference": other,
        "ratio": other["seconds"]["total"] / found[engine]["seconds"]["total"] if other else None,
        **memory,
        **on_gpu,
    }


def sweep(engine: str = "cpu", scales: int = 3, solves: int = 5) -> Sweep:
    """Measure seconds per solve for several image sizes and numbers of views."""
    rows: list[SweepRow] = []
    for size, on_cross, off_cross in (*SIZES, *VIEWS):
        check(engine, solves, size)
        views = 1 + on_cross + off_cross
        say(f"measuring {views} views of {size} x {size} ...")
        found = time_solves([engine], make_scene(size, on_cross, off_cross), scales, solves)[engine]
        rows.append(
            {
                "size": size,
                "views": views,
                "on_cross": on_cross,
                "off_cross": off_cross,
                **found,
                "ns_a_pixel_and_view": 1e9 * found["seconds"]["total"] / size**2 / views,
            }
        )
    return {**setting("sweep", engine), "solves": solves, "scales": scales, "rows": rows}


def _gpu_figures(scene: Scene, scales: int, run_solves: int, found: SolveFigures) -> GpuFigures:
    from gradcon.bench import gpu
    from gradcon.engines.cuda.device import current_device

    say(f"measuring whole runs of at most {run_solves} solves ...")
    stage = schedules.build("gcm", scene.baselines, Options.alpha, scales)[0]
    device: DeviceFigures = {"name": current_device().name, **gpu.shares(scene, stage, found, current_device())}
    return {"device": device, "run": gpu.time_runs(scene, scales, run_solves)}


def say(text: str) -> None:
    """Tell the user on stderr what is being done."""
    print(text, file=sys.stderr, flush=True)


def check(engine: str, solves: int, size: int, run_solves: int = 1) -> None:
    """Reject what cannot be measured."""
    if engine not in engines.ENGINES:
        raise InputError("engine", f"{engine!r} is not one of {', '.join(engines.ENGINES)}")
    engines.check_usable(engine)  # before a scene is rendered
    limits = (("solves", solves, 1, 10_000), ("size", size, 8, 8192), ("run-solves", run_solves, 1, 10_000))
    for name, value, low, high in limits:
        if not low <= value <= high:
            raise InputError(name, f"{value} is not a whole number from {low} to {high}")
