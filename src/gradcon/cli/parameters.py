"""The options of all commands that estimate."""

from __future__ import annotations

from typing import Annotated

import typer

Method = Annotated[str, typer.Option(help="gcm, naive, progressive or coarse-to-fine.")]
Without = Annotated[str | None, typer.Option(help="Leave out a term of gcm: gradient or scale.")]
Alpha = Annotated[float, typer.Option(help="The weight of the smoothness term.")]
Epsilon = Annotated[float, typer.Option(help="The noise of the images, whose range is 0 to 1.")]
Scales = Annotated[int | None, typer.Option(help="The number of scales; the default depends on the method.")]
Solves = Annotated[int, typer.Option(help="The largest number of solves.")]
Engine = Annotated[str, typer.Option(help="auto, cuda, cpu or reference.")]
Flip = Annotated[str | None, typer.Option(help="Reverse the baselines along x, y or xy.")]
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
