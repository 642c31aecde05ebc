"""What `gradcon bench` measures on a GPU besides the parts of a solve.

It compares each part with what it needs: the bytes that it must move at least (every input read once, every output
written once, whatever lies between them) and the arithmetic that the model asks for, as shares of what the GPU can do
in the time that the part took.  It also times whole runs, from device to device and from host to host.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import cast

from gradcon import engines
from gradcon.bench.schema import RunFigures, SharesFigures, SolveFigures, StageFigures, StagesFigures
from gradcon.bench.solves import Part
from gradcon.engines import Stage, cascade
from gradcon.engines.cuda.device import CupyGpu
from gradcon.engines.views import COLUMN, ROW, kind_of
from gradcon.methods import schedules
from gradcon.methods.estimation import estimate
from gradcon.methods.loop import minimise
from gradcon.methods.options import Options
from gradcon.scene import Scene

COPY_BYTES = 1 << 28
REPEATS = 5

# Floating-point operations, counted in the kernels: a view and pixel warped along an axis or in both directions; an
# equation (view and scale) weighed; a pixel of an iteration of the linear solver, all levels; a pixel's median.
WARP_ALONG, WARP_BOTH, WEIGH, ITERATION, MEDIAN = 20, 70, 40, 80, 250
ITERATION_PLANES = 22  # that an iteration reads and writes on the finest level; a third more on the others


def needs(scene: Scene, stage: Stage, inner_iterations: float) -> dict[Part, tuple[float, float]]:
    """Return, for each stage of a solve, the least bytes to move and the floating-point operations."""
    pixels = scene.shape[0] * scene.shape[1]
    T, Q = len(stage.views), len(stage.scales)
    kinds = [kind_of(scene.M[t], scene.m[t]) for t in stage.views]
    taps = {q: 2 * cascade.radius(q) + 1 for q in {*stage.scales, 0}}
    coarser = [q for q in stage.scales if q > 0]
    # Passes of a filter over a view: smoothed across, smoothed and derived along; in both directions where it must be.
    passes = sum({ROW: 3, COLUMN: 4}.get(kind, 5) for kind in kinds)
    filters = 2 * passes * sum(taps.values()) + 2 * 2 * (T + 1) * sum(taps[q] for q in coarser)
    warp = sum(WARP_ALONG if kind in (ROW, COLUMN) else WARP_BOTH for kind in kinds)
    planes: dict[Part, float] = {
        "warp": 2 * T + 2,
        "data_term": T + 3 * Q + 3,
        "solve": 4 + ITERATION_PLANES * 4 / 3 * inner_iterations,
        "update": 3,
    }
    operations: dict[Part, float] = {
        "warp": warp,
        "data_term": filters + WEIGH * T * Q,
        "solve": ITERATION * (1 + inner_iterations),
        "update": MEDIAN,
    }
    return {name: (4.0 * pixels * planes[name], float(pixels * operations[name])) for name in planes}


def shares(scene: Scene, stage: Stage, found: SolveFigures, device: CupyGpu) -> SharesFigures:
    """Return, for each stage, these needs, and the shares of the GPU's bandwidth and arithmetic that it reached."""
    bandwidth, arithmetic = copy_bandwidth(device), peak_arithmetic(device)
    rows: dict[Part, StageFigures] = {}
    for name, (moved, operations) in needs(scene, stage, found["inner_iterations"]).items():
        seconds = found["seconds"][name]
        rows[name] = {
            "bytes": moved,
            "operations": operations,
            "bandwidth_share": moved / seconds / bandwidth,
            "arithmetic_share": operations / seconds / arithmetic,
            "floor_seconds": max(moved / bandwidth, operations / arithmetic),
        }
    stages = cast(StagesFigures, rows)
    return {"stages": stages, "copy_bytes_a_second": bandwidth, "operations_a_second": arithmetic}


def copy_bandwidth(device: CupyGpu) -> float:
    """Measure how many bytes per second a large copy reads and writes."""
    source, target = device.empty((COPY_BYTES // 4,)), device.empty((COPY_BYTES // 4,))
    laps = []
    for _ in range(REPEATS + 1):
        start = device.mark()
        target[:] = source
        end = device.mark()
        device.wait()
        laps.append(device.elapsed(start, end))
    return 2 * COPY_BYTES / statistics.median(laps[1:])


def peak_arithmetic(device: CupyGpu) -> float:
    """Return the float32 operations per second at the GPU's stated clock; a fused multiply-add counts as two."""
    return 2.0 * float(device.float_units) * float(device.processors) * float(device.clock_hz)


def time_runs(scene: Scene, scales: int, solves: int) -> RunFigures:
    """Return the median milliseconds of whole runs.

    They are the loop alone with all data on the device, the way from the host's arrays to the host's disparity, and
    `estimate` with uncertainty and the check of directions.
    """
    options = Options("gcm", scales=scales, solves=solves)
    on_device = scene.to_device()
    stages = schedules.stages_of(scene, options)
    engine = engines.create("cuda", on_device, options.noise_parameter, stages)
    counted: list[int] = []

    def loop() -> None:
        counted.append(len(minimise(on_device, options, engine=engine).history))
        engine.device.wait()

    def from_host() -> None:
        again = engines.create("cuda", scene, options.noise_parameter, stages, after=engine)
        minimise(scene, options, engine=again).disparity()

    def everything() -> None:
        estimate(scene, options, engine="cuda")

    return {
        "milliseconds": {
            "on_device": _median_ms(loop),
            "host_to_host": _median_ms(from_host),
            "estimate": _median_ms(everything),
        },
        "solves": counted[-1],
    }


def _median_ms(work: Callable[[], None]) -> float:
    laps = []
    for _ in range(REPEATS + 1):
        start = time.perf_counter()
        work()
        laps.append(1e3 * (time.perf_counter() - start))
    return statistics.median(laps[1:])
