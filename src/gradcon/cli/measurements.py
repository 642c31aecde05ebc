"""`gradcon bench` and `reproduce`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from gradcon.cli.app import Json, Out, app, as_json, refuse_unwritable
from gradcon.cli.parameters import Scheduler, Workers
from gradcon.errors import InputError


@app.command("bench")
def _bench(
    engine: Annotated[str, typer.Option(help="cpu, cuda or reference.")] = "cpu",
    size: Annotated[int, typer.Option(help="Pixels a side.")] = 512,
    views: Annotated[str, typer.Option(help="Which of the 9 x 9 views: cross, star, all, or the N nearest.")] = "cross",
    scales: Annotated[int, typer.Option(help="Number of scales.")] = 3,
    solves: Annotated[int, typer.Option(help="Solves to take the medians of.")] = 5,
    reference: Annotated[bool, typer.Option(help="Measure the reference engine too, for the ratio.")] = True,
    scene: Annotated[
        Path | None, typer.Option(metavar="PATH", help="Measure on this scene, not on a rendered one.")
    ] = None,
    run_solves: Annotated[int, typer.Option(help="cuda: at most so many solves of the whole runs it times.")] = 40,
    sweep: Annotated[bool, typer.Option("--sweep", help="How the cost grows with pixels and with views.")] = False,
    json: Json = False,
) -> None:
    """Measure time and memory.

    Seconds a solve by stage, the ratio to the reference engine in the same run, and peak memory.  For cuda, times come
    from device events, with the shares of the GPU's bandwidth and arithmetic, and whole runs are timed too.
    """
    from gradcon import bench

    if sweep:
        found = bench.sweep(engine, scales, solves)
        print(as_json(found) if json else bench.describe_sweep(found))
    else:
        found = bench.bench(
            engine,
            size=size,
            views=views,
            scales=scales,
            solves=solves,
            reference=reference,
            path=scene,
            run_solves=run_solves,
        )
        print(as_json(found) if json else bench.describe(found))


@app.command("reproduce")
def _reproduce(
    out: Out,
    hci: Annotated[Path | None, typer.Option(help="Folder of scenes of the 4D Light Field Benchmark.")] = None,
    middlebury: Annotated[Path | None, typer.Option(help="Folder of scenes of Middlebury 2006.")] = None,
    only: Annotated[str | None, typer.Option(metavar="NAME,...", help="These experiments alone.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Coarser: alpha 0.5 alone, 40 solves.")] = False,
    engine: Annotated[str, typer.Option(help="auto (here the CPU), cuda, cpu or reference.")] = "auto",
    workers: Workers = None,
    scheduler: Scheduler = None,
    json: Json = False,
) -> int:
    """Repeat the paper's evaluation on the scenes at hand.

    Experiments: single-scale, multi-scale, alpha, epsilon, middlebury, panels, robustness, scale-ratio, geometry,
    uncertainty, peers.  Finished jobs are kept in DIR/jobs: run it again to continue.  The exit code is 1 if anything
    was left out.
    """
    from gradcon.experiments.report import overview
    from gradcon.experiments.reproduce import reproduce

    names = None if only is None else [name.strip() for name in only.split(",") if name.strip()]
    if names == []:
        raise InputError("only: names no experiment; leave it out for all of them.")
    refuse_unwritable(out, files=())
    try:
        found = reproduce(
            out,
            hci=hci,
            middlebury=middlebury,
            only=names or [],
            quick=quick,
            engine=engine,
            workers=workers,
            scheduler=scheduler,
            progress=True,
        )
    except KeyboardInterrupt:
        print("reproduce: stopped; finished jobs are kept, run it again to continue", file=sys.stderr)
        raise
    if found["replaced"]:
        print(f"{out}: held a run with other settings or scenes; its report is replaced", file=sys.stderr)
    for text in found["left_out"]:
        print(f"left out: {text}", file=sys.stderr)
    print(as_json(found) if json else overview(found, out))
    return 1 if found["left_out"] else 0
