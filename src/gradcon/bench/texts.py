"""The figures of the benchmark as text, for people."""

from __future__ import annotations

from typing import Any

from gradcon.bench.solves import STAGES

Figures = dict[str, Any]


def describe(figures: Figures) -> str:
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


def describe_sweep(figures: Figures) -> str:
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


def _describe_engine(name: str, figures: Figures) -> str:
    seconds = figures["seconds"]
    stages = ", ".join(f"{stage} {1e3 * seconds[stage]:.1f}" for stage in STAGES)
    return (
        f"{name:10} {1e3 * seconds['total']:.1f} ms per solve: {stages} "
        f"({figures['inner_iterations']:.0f} inner iterations)"
    )


def _describe_gpu(figures: Figures) -> list[str]:
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
