"""The figures of the benchmark as text, for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from gradcon.bench.schema import Bench, Ratio, Ratios, SolveFigures, Sweep
from gradcon.bench.solves import STAGES

RATIOS = {
    "reference_to_engine": "a solve: `reference` to this engine",
    "gcm_to_dis": "a whole estimate: `gcm` to the tuned DIS flow",
    "sweep_to_dis": "a whole estimate: `sweep` to the tuned DIS flow",
    "six_scales_to_three": "a solve: six scales to three",
    "views_81_to_17": "a solve: 81 views to 17",
}


def describe(figures: Bench) -> str:
    """Describe the figures of `bench`."""
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
    if "device" in figures:
        lines += [f"GPU memory {figures['device_memory_mb']:.0f} MB", *_describe_gpu(figures)]
    return "\n".join(lines)


def describe_sweep(figures: Sweep) -> str:
    """Describe the figures of `sweep`."""
    lines = [
        f"engine {figures['engine']}, {figures['scales']} scales, {figures['cores']} cores",
        "views: all, and the targets on the cross (warped by 4 taps) and off it (by 16)",
        f"{'size':>11} {'views':>5} {'on':>3} {'off':>3} {'ms per solve':>12} {'ns per pixel and view':>21}",
    ]
    for row in figures["rows"]:
        size = f"{row['size']} x {row['size']}"
        lines.append(
            f"{size:>11} {row['views']:5} {row['on_cross']:3} {row['off_cross']:3} "
            f"{1e3 * row['seconds']['total']:12.1f} {row['ns_a_pixel_and_view']:21.2f}"
        )
    return "\n".join(lines)


def describe_ratios(figures: Ratios) -> str:
    """Describe the figures of `ratios`."""
    scene, versions = figures["scene"], figures["versions"]
    lines = [
        f"{scene['name']}: {scene['views']} views of {scene['width']} x {scene['height']}; engine {figures['engine']}, "
        f"{figures['cores']} cores of {figures['processor']}",
        ", ".join(f"{name} {version}" for name, version in versions.items()),
    ]
    for name, row in cast(Mapping[str, Ratio], figures["ratios"]).items():
        if row["ratio"] is None:
            lines.append(f"{RATIOS[name]:50} left out: {row['skipped']}")
        else:
            lines.append(f"{RATIOS[name]:50} {row['ratio']:6.2f}  ({row['low']:.2f} to {row['high']:.2f})")
    return "\n".join(lines)


def _describe_engine(name: str, figures: SolveFigures) -> str:
    seconds = figures["seconds"]
    stages = ", ".join(f"{stage} {1e3 * seconds[stage]:.1f}" for stage in STAGES)
    return (
        f"{name:10} {1e3 * seconds['total']:.1f} ms per solve: {stages} "
        f"({figures['inner_iterations']:.0f} inner iterations)"
    )


def _describe_gpu(figures: Bench) -> list[str]:
    device, lines = figures["device"], []
    lines.append(
        f"{device['name']}: {device['copy_bytes_a_second'] / 1e12:.2f} TB/s copied, "
        f"{device['operations_a_second'] / 1e12:.0f} TFLOP/s at its clock"
    )
    for name in STAGES:
        row = device["stages"][name]
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
