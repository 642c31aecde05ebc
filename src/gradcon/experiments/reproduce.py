"""All of it: find the scenes, run the jobs, conclude, write."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from gradcon import engines
from gradcon.errors import InputError
from gradcon.experiments import EXPERIMENTS, module, outputs
from gradcon.experiments.comparison import Setup
from gradcon.experiments.datasets import KINDS, find
from gradcon.experiments.experiment import Context
from gradcon.experiments.results import assemble, finish, with_earlier, write
from gradcon.experiments.trial import compile_engine
from gradcon.jobs import Job, Outcomes, Store, run
from gradcon.jobs.display import Progress
from gradcon.jobs.pools import check_workers, pool_for
from gradcon.jobs.workers import Pool, WarmUp
from gradcon.methods.options import Options

ALPHAS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
QUICK_ALPHAS, QUICK_SOLVES = (0.5,), 40


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
    """Repeat the paper's experiments on the scenes at hand.

    Parameters
    ----------
    out : Path
        Folder of results.json, report.md, report.html, a CSV a table, a PNG and an SVG a figure; and of `jobs`, the
        finished work, which another call continues from.
    hci, middlebury : Path, optional
        Folders of scenes; experiments that need one that is not given are left out.
    only : sequence of str
        Names from `gradcon.experiments.EXPERIMENTS`; all of them by default.  What `out` already holds of the
        others, for the same scenes and settings, stays.
    quick : bool
        Coarser: alpha 0.5 alone, at most 40 solves, fewer scenes where it says so.
    engine : str
        `auto` is the CPU: its cores work on many jobs at once.
    workers : int, optional
        Processes; by default one for each core, and one for the engine cuda.
    scheduler : str, optional
        Address of a Dask cluster's scheduler, or its scheduler file: the work is done there instead.
    progress : bool
        Show on stderr how much is done and about how long the rest will take.

    Returns
    -------
    dict
        What results.json holds; `left_out` lists, as sentences, whatever could not be done.
    """
    start = time.perf_counter()
    _check(only, engine, workers, scheduler)
    if engine == "cuda" and workers is None:
        workers = 1  # one GPU, one process
    folders = {kind: folder for kind, folder in (("hci", hci), ("middlebury", middlebury)) if folder is not None}
    modules, not_run = _selected(only, folders)
    outputs.refuse_foreign(out, ["results.json", "report.md", "report.html"])
    outputs.refuse_foreign(out, [f"{name}.csv" for name in modules])
    outputs.refuse_foreign(out, [f"{p}.{end}" for m in modules.values() for p in m.PICTURES for end in ("png", "svg")])
    needed = {kind for experiment in modules.values() for kind in getattr(experiment, "USES", (experiment.NEEDS,))}
    datasets = {}
    for kind, folder in folders.items():
        if kind in needed:
            if progress and folder.is_dir():
                print(f"reproduce: reading the scenes in {folder}", file=sys.stderr, flush=True)
            datasets[kind] = find(folder, kind)
    plan = Setup(
        engine="cpu" if engine == "auto" else engine,
        alphas=QUICK_ALPHAS if quick else ALPHAS,
        solves=QUICK_SOLVES if quick else Options.solves,
        quick=quick,
    )
    context = Context(plan, datasets)
    store = Store(out / "jobs")
    with pool_for(workers, scheduler) as pool, store.locked():
        jobs, done = _run_all(context, modules, store, pool, progress)
        findings = {name: experiment.conclude(context, done) for name, experiment in modules.items()}
        results = with_earlier(assemble(context, findings, jobs, done), out)
        results = finish(results, not_run)
        results["work"] = {
            "workers": pool.size,
            "seconds": time.perf_counter() - start,
            "computed": done.computed,
            "reused": done.reused,
            "failed": len(done.failures),
            "recomputed_because_damaged": store.damaged,
            "job_seconds": done.work_seconds,
            "worker_seconds": done.wall_seconds,
        }
        write(out, results, findings)
    return results


def _run_all(
    context: Context, modules: dict[str, ModuleType], store: Store, pool: Pool, progress: bool
) -> tuple[dict[str, list[Job]], Outcomes]:
    """Every experiment's jobs, and how they went; those that need the outcomes of others come in a second part."""
    jobs = {name: experiment.jobs(context) for name, experiment in modules.items()}
    parts = any(hasattr(experiment, "follow_up") for experiment in modules.values())
    # What every process would compile for itself is compiled once, before.
    warm_up = compile_engine if context.plan.engine == "cpu" else None
    done = _run_part(jobs, "reproduce, part 1 of 2" if parts else "reproduce", store, pool, progress, warm_up)
    more = {name: m.follow_up(context, done) for name, m in modules.items() if hasattr(m, "follow_up")}
    done.add(_run_part(more, "reproduce, part 2 of 2", store, pool, progress, warm_up))
    return {name: jobs[name] + more.get(name, []) for name in jobs}, done


def _run_part(
    jobs: dict[str, list[Job]],
    name: str,
    store: Store,
    pool: Pool,
    progress: bool,
    warm_up: WarmUp | None,
) -> Outcomes:
    flat = [job for some in jobs.values() for job in some]
    return run(flat, store, pool=pool, warm_up=warm_up, display=Progress(name) if progress else None)


def _selected(only: Sequence[str], folders: dict[str, Path]) -> tuple[dict[str, ModuleType], dict[str, str]]:
    """The experiments that were asked for and can be done; and why the others can not."""
    modules, not_run = {}, {}
    for name in EXPERIMENTS:
        if only and name not in only:
            continue
        experiment = module(name)
        if experiment.NEEDS is None or experiment.NEEDS in folders:
            modules[name] = experiment
            continue
        label = KINDS[experiment.NEEDS].label
        if only:
            raise InputError(f"{name}: needs scenes of the {label}; add --{experiment.NEEDS}.")
        not_run[name] = f"{name}: no folder of the {label} was given (--{experiment.NEEDS})."
    return modules, not_run


def _check(only: Sequence[str], engine: str, workers: int | None, scheduler: str | None) -> None:
    for name in only:
        if name not in EXPERIMENTS:
            raise InputError(f"only: {name!r} is not one of {', '.join(EXPERIMENTS)}.")
    if scheduler is None:
        engines.check_usable(engine)
    else:
        engines.check(engine)
    check_workers(workers, scheduler)
