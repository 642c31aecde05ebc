"""The options of an estimate, for all commands that make one."""

from __future__ import annotations

from typing import Annotated

import typer

Method = Annotated[str, typer.Option(help="gcm, naive, progressive or coarse-to-fine.")]
Without = Annotated[str | None, typer.Option(help="Leave a term of gcm out: gradient or scale.")]
Alpha = Annotated[float, typer.Option(help="Weight of the smoothness term.")]
Epsilon = Annotated[float, typer.Option(help="Noise of the images, whose range is 0 to 1.")]
Scales = Annotated[int | None, typer.Option(help="Number of scales; by default the method's own.")]
Solves = Annotated[int, typer.Option(help="At most so many solves.")]
Engine = Annotated[str, typer.Option(help="auto, cuda, cpu or reference.")]
Flip = Annotated[str | None, typer.Option(help="Turn baselines around along x, y or xy.")]
Points = Annotated[bool, typer.Option("--points", help="Write points.ply too, a point cloud.")]
KeepWeights = Annotated[
    bool, typer.Option("--keep-weights", help="Record which views and scales were trusted, for `gradcon report`.")
]
Workers = Annotated[int | None, typer.Option(help="Processes; by default one a core, with cuda one.")]
Scheduler = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="Work on the Dask cluster of this scheduler (tcp://host:port).")
]
