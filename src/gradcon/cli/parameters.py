"""The options of all commands that estimate."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import typer

from gradcon import engines
from gradcon.methods.registry import METHODS
from gradcon.pictures.colour_maps import COLOUR_MAPS


def one_of(names: Iterable[str]) -> str:
    """List names as a choice: a, b or c."""
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last


def _not_for(parameter: str) -> str:
    """Name the methods that lack a parameter."""
    return f"not for {one_of(name for name, method in METHODS.items() if parameter not in method.parameters)}"


_TERMS = " or ".join(f"{name} ({', '.join(method.terms)})" for name, method in METHODS.items() if method.terms)

Method = Annotated[str, typer.Option(help=f"{one_of(METHODS)}.")]
Without = Annotated[str | None, typer.Option(help=f"Leave out an ingredient of {_TERMS}.")]
Alpha = Annotated[float, typer.Option(help=f"The weight of the smoothness term; {_not_for('alpha')}.")]
Epsilon = Annotated[
    float | None,
    typer.Option(help="The noise of the images, whose range is 0 to 1; found from the images unless given."),
]
Scales = Annotated[
    int | None,
    typer.Option(help=f"The number of scales; found from the images unless given; {_not_for('scales')}."),
]
Solves = Annotated[int, typer.Option(help=f"The largest number of solves; {_not_for('solves')}.")]
Engine = Annotated[str, typer.Option(help=f"{one_of(engines.NAMES)}.")]
Flip = Annotated[str | None, typer.Option(help="Reverse the baselines along x, y or both (xy).")]
ColourMap = Annotated[
    str, typer.Option("--cmap", metavar="NAME", help=f"The colours of the disparity: {one_of(COLOUR_MAPS)}.")
]
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
