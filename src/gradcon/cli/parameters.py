"""The options of all commands that estimate."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import typer

from gradcon import engines
from gradcon.methods.registry import METHODS, MODEL_TERMS


def one_of(names: Iterable[str]) -> str:
    """List names as a choice: a, b or c."""
    *others, last = names
    return f"{', '.join(others)} or {last}"


Method = Annotated[str, typer.Option(help=f"{one_of(METHODS)}.")]
Without = Annotated[str | None, typer.Option(help=f"Leave out a term of gcm: {one_of(MODEL_TERMS)}.")]
Alpha = Annotated[float, typer.Option(help="The weight of the smoothness term.")]
Epsilon = Annotated[float, typer.Option(help="The noise of the images, whose range is 0 to 1.")]
Scales = Annotated[int | None, typer.Option(help="The number of scales; the default depends on the method.")]
Solves = Annotated[int, typer.Option(help="The largest number of solves.")]
Engine = Annotated[str, typer.Option(help=f"{one_of(engines.NAMES)}.")]
Flip = Annotated[str | None, typer.Option(help="Reverse the baselines along x, y or both (xy).")]
Points = Annotated[bool, typer.Option("--points", help="Also write a point cloud, points.ply.")]
KeepWeights = Annotated[
    bool, typer.Option("--keep-weights", help="Record which views and scales were trusted, for `gradcon report`.")
]
Workers = Annotated[
    int | None, typer.Option(help="The number of processes; by default one per core, or one with cuda.")
]
Scheduler = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="Run on the Dask cluster of this scheduler (tcp://host:port).")
]
