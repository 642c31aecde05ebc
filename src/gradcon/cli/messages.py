"""What the commands print about a result."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from gradcon.io.outputs import RESULT_FILES
from gradcon.result import Result
from gradcon.result.depth import calibration_of, depth_remarks, depth_summary
from gradcon.scene.units import DISPARITY_SIGN, DISPARITY_UNIT


def warn(result: Result) -> None:
    """Show the warnings of a result where they cannot be missed."""
    for text in result.warnings:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.panel import Panel
            from rich.text import Text

            Console(stderr=True).print(Panel(Text(text, style="bold red"), title="WARNING", border_style="red"))
        else:
            print(f"WARNING: {text}", file=sys.stderr)


def describe(result: Result, out: Path) -> str:
    """Summarise a result that was saved in `out`, for people."""
    import numpy as np

    source, w = result.source, result.disparity
    note = f" ({result.engine_note})" if result.engine_note else ""
    rows = [
        ("scene", f"{source['name']}: {source['views']} views of {source['width']} x {source['height']}, "
                  f"reference {source['reference']}"),
        ("disparity", f"{w.min():.3f} to {w.max():.3f} {DISPARITY_UNIT} ({DISPARITY_SIGN})"),
        ("uncertainty", f"{np.median(result.uncertainty):.4f} {DISPARITY_UNIT}: median predicted standard deviation"),
        ("engine", f"{result.engine}{note}, {result.effort} in {result.seconds['total']:.2f} s"),
        ("stopped", str(result.stopped)),
        ("written", f"{out}: {', '.join(name for name in RESULT_FILES if (out / name).is_file())}"),
    ]  # fmt: skip
    if result.metrics:
        rmse, bad = result.metrics["rmse"], result.metrics["badpix_007"]
        rows.insert(3, ("accuracy", f"RMSE {rmse:.4f}, {bad:.1f} % of pixels off by more than 0.07"))
    if result.scene.calibration is not None:
        rows.insert(2, ("depth", _depth(result)))
    return "\n".join(f"{name:11} {text}" for name, text in rows)


def _depth(result: Result) -> str:
    fields = depth_summary(result.depth(), calibration_of(result.scene).unit)
    if not fields["unknown_pixels"] < result.disparity.size:
        return "unknown: all disparities are beyond that of infinity"
    unit = fields["unit"] or "in the unit of the cameras' positions"
    text = f"{fields['min']:.4g} to {fields['max']:.4g} {unit}, median {fields['median']:.4g}"
    return "; ".join([text, *depth_remarks(fields)])


def metrics_table(metrics: dict[str, float]) -> str:
    """Format what `evaluate` returns."""
    from gradcon.result.metrics import BADPIX, BORDER

    rows = [("RMSE, whole frame", metrics["rmse"], DISPARITY_UNIT)]
    rows += [(f"RMSE, without {BORDER} px of border", metrics["rmse_inner"], DISPARITY_UNIT)]
    rows += [("MSE x 100", metrics["mse_100"], "squared pixels x 100")]
    rows += [(f"BadPix {bad}", metrics[f"badpix_{round(100 * bad):03d}"], "% of pixels") for bad in BADPIX]
    rows += [("Q25", metrics["q25"], "pixels x 100, 25th percentile of the error")]
    return "\n".join(f"{name:30} {value:10.4f}  {unit}" for name, value, unit in rows)


def jumps_table(found: dict[str, float | None]) -> str:
    """Format what `evaluate_at_jumps` returns, without what could not be measured."""
    rows = [
        ("RMSE beside depth jumps", found["rmse_at_jumps"], DISPARITY_UNIT),
        ("RMSE elsewhere", found["rmse_elsewhere"], DISPARITY_UNIT),
        ("pixels beside depth jumps", found["jump_pixels"], "% of pixels, within 5 px of a jump"),
    ]
    return "\n".join(f"{name:30} {value:10.4f}  {unit}" for name, value, unit in rows if value is not None)


def uncertainty_table(found: dict[str, Any]) -> str:
    """Format what `evaluate_uncertainty` returns."""
    ratio = f"; the ratio is {found['ratio']:.2f}" if found["ratio"] is not None else ""
    rows = [
        ("a fifth dropped lowers RMSE by", found["reduction_20"], f"% (at best {found['reduction_20_oracle']:.1f} %)"),
        ("median predicted deviation", found["median_predicted"], DISPARITY_UNIT),
        ("median error", found["median_error"], DISPARITY_UNIT + ratio),
    ]
    rows += [(f"errors within {k} deviation{'s' * (k != '1')}", share, "%") for k, share in found["within"].items()]
    return "\n".join(f"{name:30} {value:10.4f}  {unit}" for name, value, unit in rows)
