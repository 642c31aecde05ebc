"""`gradcon batch`: estimate many scenes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gradcon.cli import openings
from gradcon.cli.app import Json, Out, app, as_json, refuse_unwritable, say
from gradcon.cli.groups import grouped
from gradcon.cli.parameters import Engine, Flip, KeepWeights, OptionsGiven, Points, Scheduler, Workers
from gradcon.errors import printable

SOME_FAILED, ALL_FAILED = 1, 2  # exit codes


@app.command("batch")
@grouped
def _batch(
    scenes: Annotated[list[Path], typer.Argument(metavar="SCENE", help="Scenes, or folders of scenes.")],
    out: Out,
    options: OptionsGiven,
    views: openings.Views = "all",
    engine: Engine = "auto",
    initial: Annotated[float | None, typer.Option(help="The disparity to start from, for the paper's methods.")] = None,
    flip: Flip = None,
    points: Points = False,
    keep_weights: KeepWeights = False,
    reports: Annotated[
        bool, typer.Option("--reports", help="Write report.html into the folder of each scene.")
    ] = False,
    workers: Workers = None,
    scheduler: Scheduler = None,
    json: Json = False,
    *,
    told: openings.ToldAboutScene,
) -> int:
    """Estimate any number of scenes, each into a folder of its own.

    Run the command again to continue: finished scenes are not repeated.  A scene that fails is retried and then listed;
    the others go on.  summary.csv and index.html show all scenes.  The exit code is 1 if some failed.
    """
    from gradcon.batch import run_batch

    refuse_unwritable(out, files=())
    try:
        found = run_batch(
            scenes,
            out,
            options,
            views=views,
            engine=engine,
            points=points,
            keep_weights=keep_weights,
            flip=flip,
            initial=initial,
            reports=reports,
            workers=workers,
            scheduler=scheduler,
            progress=True,
            **told,
        )
    except (KeyboardInterrupt, SystemExit):
        say("batch: stopped; finished scenes are kept, and the same command continues", aside=True)
        raise
    for text in found["recomputed_because_damaged"]:
        say(printable(f"computed again: {text}"), aside=True)
    for path in found["passed_over"]:
        say(printable(f"passed over: {path}: is not recognised as a scene; gradcon info says why."), aside=True)
    for text in [row["error"] for row in found["scenes"] if row["error"]] + found["left_out"]:
        say(printable(f"failed: {text}"), aside=True)
    done = found["computed"] + found["reused"]
    if json:
        say(as_json(found))
    else:
        say(
            f"scenes done: {done} of {len(found['scenes'])} ({found['reused']} of them earlier), "
            f"{found['failed']} failed, {found['seconds']:.0f} s\n"
            f"{out / 'summary.csv'}: all numbers\n"
            f"{out / 'index.html'}: an overview; open {(out / 'index.html').resolve().as_uri()} in a browser"
        )
    if not done:
        return ALL_FAILED
    return SOME_FAILED if found["failed"] or found["left_out"] else 0
