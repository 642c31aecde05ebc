"""What `gradcon bench` measures of the engine `cuda` besides a solve's stages.

How close each stage is to what it needs: the bytes that it must move at least (every input read once, every output
written once, whatever lies between them), and the arithmetic that the model asks for, over the time that it took, as
shares of what the GPU can do.  And whole runs, from the device to the device and from the host to the host.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

from gradcon import engines
from gradcon.engines import model
from gradcon.engines.cuda.engine import CudaEngine
from gradcon.engines.views import COLUMN, ROW, kind_of
from gradcon.methods.estimation import estimate
from gradcon.methods.loop import minimise
from gradcon.methods.options import Options
from gradcon.methods.schedules import Stage
from gradcon.scene import Scene

COPY_BYTES = 1 << 28
REPEATS = 5

# Floating-point operations, counted in the kernels: a view and pixel warped along an axis or in both directions; an
# equation (view and scale) weighed; a pixel of an iteration of the linear solver, all levels; a pixel's median.
WARP_ALONG, WARP_BOTH, WEIGH, ITERATION, MEDIAN = 20, 70, 40, 80, 250
ITERATION_PLANES = 22  # that an iteration reads and writes on the finest level; a third more on the others

Figures = dict[str, Any]


def needs(scene: Scene, stage: Stage, inner_iterations: float) -> dict[str, tuple[float, float]]:
    """By stage of a solve: the least bytes and the floating-point operations."""
    pixels = scene.shape[0] * scene.shape[1]
    T, Q = len(stage.views), len(stage.scales)
    kinds = [kind_of(scene.M[t], scene.m[t]) for t in stage.views]
    taps = {q: len(model.gaussian(model.sigma(q))) for q in {*stage.scales, 0}}
    coarser = [q for q in stage.scales if q > 0]
    # Passes of a filter over a view: smoothed across, smoothed and derived along; in both directions where it must be.
    passes = sum({ROW: 3, COLUMN: 4}.get(kind, 5) for kind in kinds)
    filters = 2 * passes * sum(taps.values()) + 2 * 2 * (T + 1) * sum(taps[q] for q in coarser)
    warp = sum(WARP_ALONG if kind in (ROW, COLUMN) else WARP_BOTH for kind in kinds)
    planes = {
        "warp": 2 * T + 2,
        "data_term": T + 3 * Q + 3,
        "solve": 4 + ITERATION_PLANES * 4 / 3 * inner_iterations,
        "update": 3,
    }
    operations = {
        "warp": warp,
        "data_term": filters + WEIGH * T * Q,
        "solve": ITERATION * (1 + inner_iterations),
        "update": MEDIAN,
    }
    return {name: (4.0 * pixels * planes[name], float(pixels * operations[name])) for name in planes}


def shares(scene: Scene, stage: Stage, found: Figures, device: Any) -> Figures:
    """By stage: least bytes and operations, and the shares of the GPU's bandwidth and arithmetic that they are."""
    bandwidth, arithmetic = copy_bandwidth(device), peak_arithmetic(device)
    rows = {}
    for name, (moved, operations) in needs(scene, stage, found["inner_iterations"]).items():
        seconds = found["seconds"][name]
        rows[name] = {
            "bytes": moved,
            "operations": operations,
            "bandwidth_share": moved / seconds / bandwidth,
            "arithmetic_share": operations / seconds / arithmetic,
            "floor_seconds": max(moved / bandwidth, operations / arithmetic),
        }
    return {"stages": rows, "copy_bytes_a_second": bandwidth, "operations_a_second": arithmetic}


def copy_bandwidth(device: Any) -> float:
    """Bytes a second that a large copy reads and writes, measured."""
    source, target = device.empty((COPY_BYTES // 4,)), device.empty((COPY_BYTES // 4,))
    laps = []
    for _ in range(REPEATS + 1):
        start = device.mark()
        target[:] = source
        end = device.mark()
        device.wait()
        laps.append(device.elapsed(start, end))
    return 2 * COPY_BYTES / statistics.median(laps[1:])


def peak_arithmetic(device: Any) -> float:
    """float32 operations a second at the clock that the GPU gives as its own; a fused multiply-add counts as two."""
    return 2.0 * float(device.float_units) * float(device.processors) * float(device.clock_hz)


def time_runs(scene: Scene, scales: int, solves: int) -> Figures:
    """Milliseconds of whole runs, medians: the loop alone with all data on the device; from the host's arrays to the
    host's disparity; and `estimate`, with uncertainty and the check of directions."""
    options = Options(scales=scales, solves=solves)
    on_device = scene.to_device()
    machine = engines.create("cuda", on_device, options)
    assert isinstance(machine, CudaEngine)
    counted: list[int] = []

    def loop() -> None:
        counted.append(len(minimise(on_device, options, engine=machine).history))
        machine.wait()

    def from_host() -> None:
        minimise(scene, options, engine=engines.create("cuda", scene, options, after=machine)).disparity()

    def everything() -> None:
        estimate(scene, options, engine="cuda")

    figures = {"on_device": _median_ms(loop), "host_to_host": _median_ms(from_host)}
    machine.release()  # `estimate` has its own
    figures["estimate"] = _median_ms(everything)
    return {"solves": counted[-1], "milliseconds": figures}


def _median_ms(work: Callable[[], None]) -> float:
    laps = []
    for _ in range(REPEATS + 1):
        start = time.perf_counter()
        work()
        laps.append(1e3 * (time.perf_counter() - start))
    return statistics.median(laps[1:])


def describe(figures: Figures) -> list[str]:
    """Lines for people."""
    device, lines = figures["device"], []
    lines.append(
        f"{device['name']}: {device['copy_bytes_a_second'] / 1e12:.2f} TB/s copied, "
        f"{device['operations_a_second'] / 1e12:.0f} TFLOP/s at its clock"
    )
    for name, row in device["stages"].items():
        lines.append(
            f"{name:10} floor {1e3 * row['floor_seconds']:6.3f} ms, took {1e3 * figures['seconds'][name]:6.3f} ms: "
            f"{100 * row['bandwidth_share']:3.0f} % of the bandwidth, {100 * row['arithmetic_share']:3.0f} % of the "
            "arithmetic"
        )
    run = figures["run"]
    times = run["milliseconds"]
    lines.append(
        f"a run      {run['solves']} solves: {times['on_device']:.1f} ms on the device, {times['host_to_host']:.1f} ms "
        f"from host to host, {times['estimate']:.1f} ms with uncertainty and checks"
    )
    return lines
