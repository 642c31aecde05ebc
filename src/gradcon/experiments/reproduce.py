"""All of it: find the scenes, run the jobs, conclude, write."""

from __future__ import annotations

import csv
import io
import json
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from gradcon import engines
from gradcon.errors import InputError
from gradcon.estimate import Options
from gradcon.experiments import EXPERIMENTS, figures, module, outputs, report
from gradcon.experiments.comparison import Plan
from gradcon.experiments.datasets import KINDS, find
from gradcon.experiments.experiment import Claim, Context, Findings
from gradcon.experiments.trial import compile_engine
from gradcon.io.files import read_bytes
from gradcon.io.results import to_json, versions
from gradcon.jobs import Job, Report, Store, run
from gradcon.jobs.display import Progress
from gradcon.jobs.job import model_sha256
from gradcon.jobs.runner import cores

FORMAT = "gradcon-reproduction-1"
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
    workers : int, optional
        Processes; by default one for each core.
    progress : bool
        Show on stderr how much is done and about how long the rest will take.

    Returns
    -------
    dict
        What results.json holds; `left_out` lists, as sentences, whatever could not be done.
    """
    start = time.perf_counter()
    names = _selected(only)
    modules = {name: module(name) for name in names}
    folders = {kind: folder for kind, folder in (("hci", hci), ("middlebury", middlebury)) if folder is not None}
    not_run = []
    for name, experiment in list(modules.items()):
        if experiment.NEEDS is not None and experiment.NEEDS not in folders:
            if name in only:
                raise InputError(
                    f"{name}: needs scenes of the {KINDS[experiment.NEEDS].label}; add --{experiment.NEEDS}."
                )
            not_run.append(
                f"{name}: no folder of the {KINDS[experiment.NEEDS].label} was given (--{experiment.NEEDS})."
            )
            del modules[name]
    _check(engine, workers)
    outputs.refuse_foreign(out, ["results.json", "report.md", "report.html"])
    outputs.refuse_foreign(out, [f"{name}.csv" for name in modules])
    outputs.refuse_foreign(out, [f"{p}.{end}" for m in modules.values() for p in m.PICTURES for end in ("png", "svg")])
    needed = {experiment.NEEDS for experiment in modules.values()}
    datasets = {kind: find(folder, kind) for kind, folder in folders.items() if kind in needed}

    plan = Plan(
        engine="cpu" if engine == "auto" else engine,
        alphas=QUICK_ALPHAS if quick else ALPHAS,
        solves=QUICK_SOLVES if quick else Options.solves,
        quick=quick,
    )
    context = Context(plan, datasets)
    store = Store(out / "jobs")
    done = Report()
    jobs = {name: experiment.jobs(context) for name, experiment in modules.items()}
    part = "reproduce, part 1 of 2" if any(hasattr(m, "follow_up") for m in modules.values()) else "reproduce"
    display = Progress(part) if progress else None
    done.add(run(_all(jobs), store, workers=workers, warm_up=compile_engine, display=display))
    more = {name: m.follow_up(context, done) for name, m in modules.items() if hasattr(m, "follow_up")}
    display = Progress("reproduce, part 2 of 2") if progress else None
    done.add(run(_all(more), store, workers=workers, warm_up=compile_engine, display=display))
    jobs = {name: jobs[name] + more.get(name, []) for name in jobs}

    findings = {name: experiment.conclude(context, done) for name, experiment in modules.items()}
    results: dict[str, Any] = {
        "format": FORMAT,
        "settings": {
            "quick": quick,
            "engine": plan.engine,
            "alphas": plan.alphas,
            "solves": plan.solves,
            "epsilon": Options.epsilon,
            "model_sha256": model_sha256(),
        },
        "versions": versions(),
        "datasets": {
            kind: {
                "label": dataset.kind.label,
                "scenes": [{**asdict(entry), "folder": str(entry.folder)} for entry in dataset.entries],
                "of": dataset.kind.scenes,
                "folds": dataset.folds,
                "skipped": dataset.skipped,
            }
            for kind, dataset in datasets.items()
        },
        "experiments": {
            name: {**_described(name, found, plan), "left_out": _missing(name, found, jobs[name], done)}
            for name, found in findings.items()
        },
        "tables": {name: found.rows for name, found in findings.items() if found.rows},
        "curves": {name: found.curves for name, found in findings.items() if found.curves},
        "not_run": not_run,
        "work": _work(done, store, workers or cores(), time.perf_counter() - start),
        "runs": {job.key: _run(job, done) for job in _all(jobs)},
    }
    results = _with_earlier(json.loads(to_json(results)), out / "results.json")
    results["left_out"] = _left_out(results)
    pictures = {p.name: figures.encode(p.draw()) for found in findings.values() for p in found.pictures}
    _write(out, results, pictures, findings)
    return results


def _selected(only: Sequence[str]) -> list[str]:
    for name in only:
        if name not in EXPERIMENTS:
            raise InputError(f"only: {name!r} is not one of {', '.join(EXPERIMENTS)}.")
    return [name for name in EXPERIMENTS if not only or name in only]


def _check(engine: str, workers: int | None) -> None:
    if engine not in engines.ENGINES:
        raise InputError(f"engine: {engine!r} is not one of {', '.join(engines.ENGINES)}.")
    if workers is not None and not 1 <= workers <= 1024:
        raise InputError(f"workers: {workers} is not a number of processes from 1 to 1024.")


def _described(name: str, found: Findings, plan: Plan) -> dict[str, Any]:
    """All that the report says of an experiment besides its numbers."""
    experiment = module(name)
    return {
        "title": experiment.TITLE,
        "paper": experiment.PAPER,
        "columns": [asdict(column) for column in found.columns],
        "claims": [asdict(_judged(claim, plan)) for claim in found.claims],
        "pictures": [{"name": picture.name, "caption": picture.caption} for picture in found.pictures],
        "notes": found.notes,
    }


def _all(jobs: dict[str, list[Job]]) -> list[Job]:
    return [job for some in jobs.values() for job in some]


def _missing(name: str, found: Findings, jobs: list[Job], done: Report) -> list[str]:
    """What an experiment had to do without."""
    failed = {job.key: f"{job.label}: {done.failures[job.key]}" for job in jobs if job.key in done.failures}
    why = " ".join(found.notes) or "none of its scenes has all its jobs done."
    return [*failed.values(), *([] if found.rows else [f"{name}: {why}"])]


def _left_out(results: dict[str, Any]) -> list[str]:
    """A sentence for everything that could not be done."""
    sentences = [
        *results["not_run"],
        *(text for dataset in results["datasets"].values() for text in dataset["skipped"]),
        *(text for described in results["experiments"].values() for text in described["left_out"]),
    ]
    return list(dict.fromkeys(sentences))  # a job may belong to several experiments


def _judged(claim: Claim, plan: Plan) -> Claim:
    if not (plan.quick and claim.needs_end):
        return claim
    return replace(claim, supported=None, measured=f"runs were cut after {plan.solves} solves; {claim.measured}")


def _work(done: Report, store: Store, workers: int, seconds: float) -> dict[str, Any]:
    return {
        "workers": workers,
        "seconds": seconds,
        "computed": done.computed,
        "reused": done.reused,
        "failed": len(done.failures),
        "recomputed_because_damaged": store.damaged,
        "job_seconds": done.work_seconds,
        "worker_seconds": done.wall_seconds,
    }


def _run(job: Job, done: Report) -> dict[str, Any]:
    """A job in results.json: what was asked, and the numbers but for its curve, which is in `curves`."""
    outcome = done[job]
    record = (
        {} if outcome is None else {k: v for k, v in outcome.record.items() if k != "rmse" or not isinstance(v, list)}
    )
    return {"label": job.label, **job.identity, **record, "failed": done.failures.get(job.key)}


def _with_earlier(results: dict[str, Any], path: Path) -> dict[str, Any]:
    """Add the experiments of an earlier run with the same settings on the same scenes, as far as this one left them."""
    if not path.exists():
        return results
    earlier = json.loads(read_bytes(path))  # `refuse_foreign` has seen that it is ours, unchanged
    same_scenes = all(earlier["datasets"].get(kind, found) == found for kind, found in results["datasets"].items())
    if earlier["format"] != FORMAT or earlier["settings"] != results["settings"] or not same_scenes:
        return results
    now = set(results["experiments"])
    for part in ("experiments", "tables", "curves"):
        both = {name: earlier[part][name] for name in earlier[part] if name not in now} | results[part]
        results[part] = {name: both[name] for name in EXPERIMENTS if name in both}
    results["not_run"] = [text for text in results["not_run"] if text.split(":")[0] not in results["experiments"]]
    results["datasets"] = earlier["datasets"] | results["datasets"]
    results["runs"] = earlier["runs"] | results["runs"]
    return results


def _write(
    out: Path, results: dict[str, Any], pictures: dict[str, dict[str, bytes]], findings: dict[str, Findings]
) -> None:
    files = {f"{name}.{end}": content for name, both in pictures.items() for end, content in both.items()}
    files |= {f"{name}.csv": _csv(found) for name, found in findings.items() if found.rows}
    pngs = {}
    for described in results["experiments"].values():
        for picture in described["pictures"]:
            name = f"{picture['name']}.png"
            pngs[picture["name"]] = files[name] if name in files else read_bytes(out / name)
    files["report.md"] = report.markdown(results).encode()
    files["report.html"] = report.html(results, pngs).encode()
    files["results.json"] = (to_json(results) + "\n").encode()
    outputs.write(out, files)


def _csv(found: Findings) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["key", *(column.heading for column in found.columns)])
    for key, row in found.rows.items():
        values = [column.value(row) for column in found.columns]
        writer.writerow([key, *(" ".join(map(str, v)) if isinstance(v, list) else v for v in values)])
    return text.getvalue().encode()
