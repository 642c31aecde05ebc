"""`gradcon batch`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from gradcon.cli.app import Json, Out, app, as_json, refuse_unwritable
from gradcon.cli.openings import Told, Views, opens_scene
from gradcon.cli.parameters import (
    Alpha,
    Engine,
    Epsilon,
    Flip,
    KeepWeights,
    Method,
    Points,
    Scales,
    Scheduler,
    Solves,
    Without,
    Workers,
)
from gradcon.methods.options import Options

SOME_FAILED, ALL_FAILED = 1, 2  # exit codes


@app.command("batch")
@opens_scene
def _batch(
    scenes: Annotated[list[Path], typer.Argument(metavar="SCENE", help="Scenes, or folders of scenes.")],
    out: Out,
    method: Method = "gcm",
    without: Without = None,
    alpha: Alpha = Options.alpha,
    epsilon: Epsilon = Options.epsilon,
    scales: Scales = None,
    solves: Solves = Options.solves,
    views: Views = "all",
    engine: Engine = "auto",
    flip: Flip = None,
    initial: Annotated[float | None, typer.Option(help="Disparity to start from.")] = None,
    points: Points = False,
    keep_weights: KeepWeights = False,
    reports: Annotated[bool, typer.Option("--reports", help="Write report.html into every scene's folder.")] = False,
    workers: Workers = None,
    scheduler: Scheduler = None,
    json: Json = False,
    *,
    told: Told,
) -> int:
    """Estimate any number of scenes, each into a folder of its own.

    Run it again to continue: finished scenes are not done again.  A scene that fails is tried again, then listed, and
    stops no other.  summary.csv and index.html show all of them.  The exit code is 1 if some failed.
    """
    from gradcon.batch import run_batch

    options = Options(method, alpha, epsilon, scales, solves, without)
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
        print("batch: stopped; finished scenes are kept, run it again to continue", file=sys.stderr)
        raise
    for text in found["recomputed_because_damaged"]:
        print(_line(f"computed again: {text}"), file=sys.stderr)
    for path in found["passed_over"]:
        print(_line(f"passed over: {path}: is not recognised as a scene; gradcon info says why."), file=sys.stderr)
    for text in [row["error"] for row in found["scenes"] if row["error"]] + found["left_out"]:
        print(_line(f"failed: {text}"), file=sys.stderr)
    done = found["computed"] + found["reused"]
    if json:
        print(as_json(found))
    else:
        print(
            f"scenes done: {done} of {len(found['scenes'])} ({found['reused']} of them before), "
            f"{found['failed']} failed, {found['seconds']:.0f} s\n"
            f"{out / 'summary.csv'}: all numbers\n"
            f"{out / 'index.html'}: to look at, open {(out / 'index.html').resolve().as_uri()} in a browser"
        )
    if not done:
        return ALL_FAILED
    return SOME_FAILED if found["failed"] or found["left_out"] else 0


def _line(text: str) -> str:
    """Names of files may hold anything."""
    return text.replace("\n", "\\n").replace("\r", "\\r")
