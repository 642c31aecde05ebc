"""A whole batch: find the scenes, estimate the missing ones, write the summary."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from gradcon import engines
from gradcon.batch.folder import BatchFolder
from gradcon.batch.scenes import SceneFolder, find_scenes, unrecognised
from gradcon.batch.summary import write_reports, write_summary
from gradcon.batch.work import scene_jobs, work_parameters
from gradcon.errors import InputError
from gradcon.files import as_path, several
from gradcon.io.formats.format import Hints
from gradcon.jobs import Job, Outcomes, run
from gradcon.jobs.pools import check_workers, pool_for
from gradcon.jobs.tally import Tally
from gradcon.methods.compilation import to_compile
from gradcon.methods.kernel_parts import OF_PHOTOGRAPHS
from gradcon.methods.options import Options
from gradcon.methods.registry import check_start
from gradcon.methods.warm_up import compile_engine
from gradcon.scene.layout import Layout


def run_batch(
    scenes: str | Path | Sequence[str | Path],
    out: str | Path,
    options: Options | None = None,
    *,
    views: str | int = "all",
    engine: str = "auto",
    points: bool = False,
    keep_weights: bool = False,
    flip: str | None = None,
    initial: float | None = None,
    reports: bool = False,
    workers: int | None = None,
    scheduler: str | None = None,
    progress: bool = False,
    **hints: Any,
) -> dict[str, Any]:
    """Estimate any number of scenes, each into a folder of its own; finished scenes are not done again.

    Parameters
    ----------
    scenes : str or Path, or a sequence of them
        Scenes, or folders of scenes.
    out : str or Path
        Gets a folder for each scene, summary.csv and index.html, and `jobs`, which records what is finished.
    options : Options, optional
    views, engine
        As for `gradcon.open_scene` and `gradcon.estimate`.
    points, keep_weights : bool
        Also write points.ply, and weights.npz.
    flip : {"x", "y", "xy", "t", "tx", "ty", "txy"}, optional
        Reverse the direction of the baselines.
    initial : float, optional
        Disparity to start from, in pixels per unit baseline, for the paper's methods.
    reports : bool
        Write report.html into each scene's folder.
    workers : int, optional
        Number of processes on this machine; by default one for each core, or one for each GPU.
    scheduler : str, optional
        Address of a Dask cluster's scheduler, or its scheduler file, if the cluster is to do the work.
    progress : bool
        Show the progress on stderr.
    **hints
        Other keyword arguments of `gradcon.open_scene`, for all scenes.

    Returns
    -------
    dict
        `scenes` has a row for each scene that was asked for; `computed`, `reused` and `failed` count them;
        `passed_over` lists the folders of images that were not recognised as scenes.

    Raises
    ------
    InputError
        The work cannot begin, or cannot go on (a full disk, a lost scheduler).  Finished scenes are kept, and appear in
        the summary.
    """
    start = time.perf_counter()
    out, told, options = Path(out), Hints(**hints), options or Options()
    engines.check(engine)
    check_workers(workers, scheduler)
    warm_up, environments = None, list[dict[str, str]]()
    if scheduler is None:
        engines.check_usable(engine)
        kind = engines.kind_for(engine)
        environments = kind.environments()
        if workers is None and kind.workers is not None:
            workers = kind.workers * max(1, len(environments))
        if kind.compiles:
            warm_up = partial(compile_engine, kind.name, options.method)
    Layout.parse(flip)
    check_start(options.method, initial)
    parameters = work_parameters(
        options,
        told,
        views=str(views),
        engine=engine,
        points=points,
        keep_weights=keep_weights,
        flip=flip,
        initial=initial,
    )
    folder = BatchFolder(out, parameters)
    folder.refuse_other()
    given = [as_path(path, "scenes") for path in several(scenes, "scenes")]
    paths = find_scenes(given, told, out)
    folder.refuse_foreign_results(paths)
    if warm_up is not None and progress and (text := to_compile(*warm_up.args, pixels=OF_PHOTOGRAPHS)):
        print(f"batch: {text}", file=sys.stderr, flush=True)
    with pool_for(workers, scheduler, environments) as pool, folder.store.locked():
        entries = folder.note_scenes(paths)
        keys: dict[str, str] = {}
        tally = Tally("batch", "scenes", speed=True) if progress else None
        source = _noted(scene_jobs(entries, parameters, out), entries, keys)
        done = Outcomes()
        try:
            run(source, folder.store, pool=pool, warm_up=warm_up, tally=tally, total=len(entries), done=done)
        except BaseException:  # Ctrl-C, a full disk, a lost cluster: the summary still shows what is finished
            with suppress(InputError):
                _note_how_it_went(folder, keys, done)
                write_summary(folder)
            raise
        folder.remove_superseded({name: key for name, key in keys.items() if key in done.outcomes})
        failures = _note_how_it_went(folder, keys, done)
        left_out = write_reports(folder) if reports else []
        rows = write_summary(folder)
    asked = {entry.folder for entry in entries}
    return {
        "out": str(out),
        "scenes": [row for row in rows if row["folder"] in asked],
        "computed": done.computed,
        "reused": done.reused,
        "failed": len(failures),
        "left_out": left_out,
        "passed_over": [str(path) for path in unrecognised(given, paths)],
        "recomputed_because_damaged": folder.store.damaged,
        "workers": pool.size,
        "seconds": time.perf_counter() - start,
        "job_seconds": done.work_seconds,
        "worker_seconds": done.wall_seconds,
    }


def _note_how_it_went(folder: BatchFolder, keys: dict[str, str], done: Outcomes) -> dict[str, str]:
    """Note the failures in the folder, and return their reasons by the scenes' folders."""
    failures = {name: done.failures[key] for name, key in keys.items() if key in done.failures}
    folder.note_failures([name for name, key in keys.items() if key in done.outcomes], failures)
    return failures


def _noted(source: Iterator[Job], entries: list[SceneFolder], keys: dict[str, str]) -> Iterator[Job]:
    """Pass the jobs on, and note the key of each under its scene's folder."""
    for entry, job in zip(entries, source, strict=True):
        keys[entry.folder] = job.key
        yield job
