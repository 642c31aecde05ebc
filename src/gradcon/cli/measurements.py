"""`gradcon bench` and `reproduce`: measure speed and accuracy."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gradcon import engines
from gradcon.cli.app import Json, Out, app, as_json, refuse_unwritable, say
from gradcon.cli.openings import GridViews
from gradcon.cli.parameters import Scheduler, Workers, one_of
from gradcon.errors import InputError
from gradcon.experiments import MORE, PAPER


@app.command("bench")
def _bench(
    engine: Annotated[str, typer.Option(help=f"{one_of(engines.ENGINES)}.")] = "cpu",
    size: Annotated[int, typer.Option(help="The side of the square views, in pixels.")] = 512,
    views: GridViews = "cross",
    scales: Annotated[int, typer.Option(help="The number of scales.")] = 3,
    solves: Annotated[int, typer.Option(help="The number of solves; the medians are reported.")] = 5,
    reference: Annotated[bool, typer.Option(help="Also measure the reference engine, for the ratio.")] = True,
    scene: Annotated[
        Path | None, typer.Option(metavar="PATH", help="Measure on this scene instead of a rendered one.")
    ] = None,
    run_solves: Annotated[int, typer.Option(help="cuda: the largest number of solves of the whole runs.")] = 40,
    sweep: Annotated[
        bool, typer.Option("--sweep", help="Measure how the cost grows with pixels and with views.")
    ] = False,
    ratios: Annotated[
        bool,
        typer.Option(
            "--ratios", help="Measure the ratios of the history in benchmarks/, also to a tuned optical flow."
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Measure time and memory.

    The command reports the seconds per solve by stage, the ratio to the reference engine in the same run, and the peak
    memory.  For cuda, times come from device events; the shares of the GPU's bandwidth and arithmetic are reported
    too, and so is the time of whole runs.
    """
    from gradcon import bench

    if sweep and ratios:
        raise InputError("ratios", "cannot be measured together with --sweep", "leave out one of the two")
    if sweep:
        grown = bench.sweep(engine, scales, solves)
        say(as_json({**grown}) if json else bench.describe_sweep(grown))
    elif ratios:
        compared = bench.ratios(engine, size=size, solves=solves, path=scene)
        say(as_json({**compared}) if json else bench.describe_ratios(compared))
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
        say(as_json({**found}) if json else bench.describe(found))


@app.command("reproduce")
def _reproduce(
    out: Out,
    hci: Annotated[Path | None, typer.Option(help="A folder of scenes of the 4D Light Field Benchmark.")] = None,
    middlebury: Annotated[Path | None, typer.Option(help="A folder of scenes of Middlebury 2006.")] = None,
    only: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,...",
            help=f"Only these: paper ({', '.join(PAPER)}), more ({', '.join(MORE)}), or single ones of them.",
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Save time: one alpha for each method, 40 solves, and fewer scenes.")
    ] = False,
    engine: Annotated[str, typer.Option(help=f"{one_of(engines.NAMES)}; auto is the CPU here.")] = "auto",
    workers: Workers = None,
    scheduler: Scheduler = None,
    json: Json = False,
) -> int:
    """Repeat the paper's evaluation on the scenes at hand.

    Finished jobs are kept in OUT/jobs: run the command again to continue.  The exit code is 1 if anything was left
    out.
    """
    from gradcon.experiments.report import overview
    from gradcon.experiments.reproduce import reproduce

    names = None if only is None else [name.strip() for name in only.split(",") if name.strip()]
    if names == []:
        raise InputError("only", "names no experiment", "leave it out to run all of them")
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
        say("reproduce: stopped; finished jobs are kept, and the same command continues", aside=True)
        raise
    if found["replaced"]:
        say(f"{out}: the report of a run with other settings or scenes was replaced", aside=True)
    for text in found["left_out"]:
        say(f"left out: {text}", aside=True)
    say(as_json(found) if json else overview(found, out))
    return 1 if found["left_out"] else 0
