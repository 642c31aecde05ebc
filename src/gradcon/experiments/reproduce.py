"""The whole evaluation: find the scenes, run the jobs, draw the conclusions, write the report."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from gradcon import engines
from gradcon.errors import InputError
from gradcon.experiments import EXPERIMENTS, FORMER_NAMES, GROUPS, load, outputs
from gradcon.experiments.datasets import KINDS, Dataset, find
from gradcon.experiments.experiment import Context, Experiment, Setup
from gradcon.experiments.results import assemble, finish, with_earlier, write
from gradcon.jobs import Job, Outcomes, Store, run
from gradcon.jobs.pools import check_workers, pool_for
from gradcon.jobs.tally import Tally
from gradcon.jobs.workers import Pool, WarmUp
from gradcon.methods.options import Options
from gradcon.methods.warm_up import compile_engine

ALPHAS = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)  # a note of the report says if a fold chose an end
QUICK_SOLVES = 40
AUTO_ENGINE = "cpu"  # its cores work on many jobs at once


def reproduce(
    out: Path,
    *,
    hci: Path | None = None,
    middlebury: Path | None = None,
    only: Sequence[str] = (),
    quick: bool = False,
    engine: str = "auto",
    workers: int | None = None,
    scheduler: str | None = None,
    progress: bool = False,
) -> dict[str, Any]:
    """Repeat the paper's experiments on the given scenes.

    Parameters
    ----------
    out : Path
        Folder for results.json, report.md, report.html, a CSV file per table, a PNG and an SVG file per figure, and
        `jobs`, the finished work, from which another call continues.
    hci, middlebury : Path, optional
        Folders of scenes.  Experiments that need a folder that is not given are left out.
    only : sequence of str
        Names from `gradcon.experiments.EXPERIMENTS`, or of one of its `GROUPS`; by default all experiments.  The
        results of others that `out` already holds are kept if their scenes and settings are the same.
    quick : bool
        Work less thoroughly: one alpha for each method, 40 solves, and fewer scenes in some experiments.
    engine : str
        `auto` is the CPU, whose cores work on many jobs at once.
    workers : int, optional
        Number of processes; by default one per core, or one for each GPU.
    scheduler : str, optional
        Address of the scheduler of a Dask cluster, or its scheduler file; the cluster then does the work.
    progress : bool
        Show progress and the estimated time left on stderr.

    Returns
    -------
    dict
        The content of results.json; `left_out` lists, as sentences, everything that could not be done.
    """
    start = time.perf_counter()
    only = [FORMER_NAMES.get(name, name) for name in only]
    _check(only, engine, workers, scheduler)
    setup = Setup(
        engine=AUTO_ENGINE if engine == engines.AUTO else engine,
        alphas=() if quick else ALPHAS,
        solves=QUICK_SOLVES if quick else Options.solves,
        quick=quick,
    )
    engine_kind = engines.ENGINES[setup.engine]
    # Compile once, before the processes start, what each of them would compile.
    warm_up = partial(compile_engine, setup.engine, "gcm", "naive", "sweep") if engine_kind.compiles else None
    folders = {kind: folder for kind, folder in (("hci", hci), ("middlebury", middlebury)) if folder is not None}
    experiments, not_run = _selected(only, folders)
    _refuse_foreign(out, experiments)
    context = Context(setup, _found(folders, experiments, progress))
    store = Store(out / "jobs")
    environments = engine_kind.environments() if scheduler is None else []
    if workers is None and engine_kind.workers is not None:
        workers = engine_kind.workers * max(1, len(environments))
    with pool_for(workers, scheduler, environments) as pool, store.locked():
        jobs, outcomes = _run_all(context, experiments, store, pool, progress, warm_up)
        findings = {name: experiment.conclude(context, outcomes) for name, experiment in experiments.items()}
        results = with_earlier(assemble(context, findings, jobs, outcomes), out)
        results = finish(results, not_run)
        results["work"] = {
            "workers": pool.size,
            "seconds": time.perf_counter() - start,
            "computed": outcomes.computed,
            "reused": outcomes.reused,
            "failed": len(outcomes.failures),
            "recomputed_because_damaged": store.damaged,
            "job_seconds": outcomes.work_seconds,
            "worker_seconds": outcomes.wall_seconds,
        }
        write(out, results, findings)
    return results


def _run_all(
    context: Context,
    experiments: dict[str, Experiment],
    store: Store,
    pool: Pool,
    progress: bool,
    warm_up: WarmUp | None,
) -> tuple[dict[str, list[Job]], Outcomes]:
    """Run the jobs of every experiment, and then the jobs that depend on their outcomes."""

    def run_part(jobs: dict[str, list[Job]], name: str) -> Outcomes:
        # Do the jobs of a scene one after the other, because a worker keeps the scene that it has opened.
        flat = sorted((job for some in jobs.values() for job in some), key=lambda job: job.inputs)
        return run(flat, store, pool=pool, warm_up=warm_up, tally=Tally(name) if progress else None)

    follow_ups = {name: e.follow_up for name, e in experiments.items() if e.follow_up is not None}
    jobs = {name: experiment.jobs(context) for name, experiment in experiments.items()}
    outcomes = run_part(jobs, "reproduce, part 1 of 2" if follow_ups else "reproduce")
    more = {name: follow_up(context, outcomes) for name, follow_up in follow_ups.items()}
    outcomes.add(run_part(more, "reproduce, part 2 of 2"))
    return {name: jobs[name] + more.get(name, []) for name in jobs}, outcomes


def _found(folders: dict[str, Path], experiments: dict[str, Experiment], progress: bool) -> dict[str, Dataset]:
    """Find the scenes that the experiments use."""
    used = {kind for experiment in experiments.values() for kind in (experiment.needs, *experiment.also_uses)}
    datasets = {}
    for kind, folder in folders.items():
        if kind in used:
            if progress and folder.is_dir():
                print(f"reproduce: reading the scenes in {folder}", file=sys.stderr, flush=True)
            datasets[kind] = find(folder, kind)
    return datasets


def _refuse_foreign(out: Path, experiments: dict[str, Experiment]) -> None:
    """Refuse to overwrite a user's file, before the long work starts."""
    tables = [table for name, experiment in experiments.items() for table in (name, *experiment.more_tables)]
    names = ["results.json", "report.md", "report.html", *(f"{table}.csv" for table in tables)]
    pictures = [picture for experiment in experiments.values() for picture in experiment.pictures]
    outputs.refuse_foreign(out, [*names, *(f"{picture}.{end}" for picture in pictures for end in ("png", "svg"))])


def _selected(only: Sequence[str], folders: dict[str, Path]) -> tuple[dict[str, Experiment], dict[str, str]]:
    """Return the requested experiments that can run, and a sentence for each that cannot."""
    asked = {member for name in only for member in GROUPS.get(name, (name,))}
    experiments, not_run = {}, {}
    for name in EXPERIMENTS:
        if asked and name not in asked:
            continue
        experiment = load(name)
        if experiment.needs is None or experiment.needs in folders:
            experiments[name] = experiment
            continue
        refusal = InputError(
            name, f"needs scenes of the {KINDS[experiment.needs].label}", f"add --{experiment.needs} DIR"
        )
        if name in only:
            raise refusal
        not_run[name] = str(refusal)
    return experiments, not_run


def _check(only: Sequence[str], engine: str, workers: int | None, scheduler: str | None) -> None:
    for name in only:
        if name not in EXPERIMENTS and name not in GROUPS:
            choose = f"choose from {', '.join((*GROUPS, *EXPERIMENTS))}"
            raise InputError("only", f"{name!r} is not an experiment", choose)
    if scheduler is None:
        engines.check_usable(engine)
    else:
        engines.check(engine)
    check_workers(workers, scheduler)
