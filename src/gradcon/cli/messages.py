"""What the commands print about a result."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from gradcon.cli.app import say
from gradcon.io.outputs import RESULT_FILES
from gradcon.result import Result
from gradcon.result.facts import facts_of, table
from gradcon.scene.units import DISPARITY_UNIT


def warn(texts: Iterable[str]) -> None:
    """Show warnings where they cannot be missed."""
    for text in texts:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.panel import Panel
            from rich.text import Text

            Console(stderr=True).print(Panel(Text(text, style="bold red"), title="WARNING", border_style="red"))
        else:
            say(f"WARNING: {text}", aside=True)


def describe(result: Result, out: Path) -> str:
    """Summarise a result that was saved in `out`, for people."""
    written = ", ".join(name for name in RESULT_FILES if (out / name).is_file())
    return table([*facts_of(result), ("written", f"{out}: {written}")])


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
