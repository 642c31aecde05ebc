"""The files of a reproduction: results.json, and the tables, figures and reports made from it."""

from __future__ import annotations

import csv
import io
import json
import subprocess
from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gradcon import __version__
from gradcon.damage import inside
from gradcon.errors import InputError
from gradcon.experiments import EXPERIMENTS, load, outputs, report
from gradcon.experiments.datasets import Dataset
from gradcon.experiments.experiment import Claim, Context, Experiment, Findings, Table
from gradcon.experiments.statements import STATEMENTS
from gradcon.files import read_bytes, to_json
from gradcon.identity import sources, versions
from gradcon.jobs import Job, Outcomes
from gradcon.methods.options import PAPER_EPSILON
from gradcon.pictures import figures

REPRODUCTION_FORMAT = "gradcon-reproduction-2"

Results = dict[str, Any]


def assemble(
    context: Context, findings: dict[str, Findings], jobs: dict[str, list[Job]], outcomes: Outcomes
) -> Results:
    """Collect the results, in plain types; `finish` completes them."""
    results = {
        "format": REPRODUCTION_FORMAT,
        "settings": {**asdict(context.setup), "epsilon": PAPER_EPSILON, "sources": sources()},
        "versions": versions(),
        "datasets": {kind: _dataset(dataset) for kind, dataset in context.datasets.items()},
        "experiments": {
            name: {**_described(name, found, context), "left_out": _left_out(name, found, jobs[name], outcomes)}
            for name, found in findings.items()
        },
        "tables": {table.name: table.rows for table in _tables(findings)},
        "curves": {name: found.curves for name, found in findings.items() if found.curves},
        "runs": {job.key: _run(job, outcomes) for some in jobs.values() for job in some},
    }
    plain: Results = json.loads(to_json(results))
    return plain


def finish(results: Results, not_run: dict[str, str]) -> Results:
    """Add the list of everything that was left out, as sentences."""
    sentences = [text for name, text in not_run.items() if name not in results["experiments"]]
    sentences += [text for dataset in results["datasets"].values() for text in dataset["skipped"]]
    by_key: dict[str, str] = {}  # because a job may belong to several experiments
    for described in results["experiments"].values():
        by_key |= described["left_out"]
    return {**results, "not_run": not_run, "left_out": [*sentences, *by_key.values()]}


def with_earlier(results: Results, out: Path) -> Results:
    """Add the experiments that were not run this time, from an earlier run with the same settings and scenes.

    `replaced` is true if an earlier run had other settings or scenes, so that nothing of it is kept.
    """
    earlier = _earlier(out)
    if earlier is None:
        return {**results, "replaced": False}
    scenes = {kind: _hashes(dataset) for kind, dataset in results["datasets"].items()}
    before = {kind: _hashes(dataset) for kind, dataset in earlier["datasets"].items()}
    if earlier["settings"] != results["settings"] or (before | scenes) != (scenes | before):
        return {**results, "replaced": True}
    kept = [
        name
        for name, described in earlier["experiments"].items()
        if name not in results["experiments"]
        and all((out / f"{picture['name']}.png").is_file() for picture in described["pictures"])
    ]
    for part in ("experiments", "tables", "curves"):
        both = {name: earlier[part][name] for name in _table_names(kept) if name in earlier[part]} | results[part]
        results[part] = {name: both[name] for name in _table_names(EXPERIMENTS) if name in both}
    return {
        **results,
        "datasets": earlier["datasets"] | results["datasets"],
        "runs": earlier["runs"] | results["runs"],
        "replaced": False,
    }


def write(out: Path, results: Results, findings: dict[str, Findings]) -> None:
    """Write all files at once, and remove those of an earlier run that are no longer part of the results."""
    drawn = {p.name: figures.encode(p.draw()) for found in findings.values() for p in found.pictures}
    files = {f"{name}.{end}": content for name, both in drawn.items() for end, content in both.items()}
    files |= {f"{table.name}.csv": _csv(table) for table in _tables(findings)}
    pictures = [picture["name"] for described in results["experiments"].values() for picture in described["pictures"]]
    pngs = {
        name: drawn[name]["png"] if name in drawn else read_bytes(inside(out, f"{name}.png", out / "results.json"))
        for name in pictures
    }
    files["report.md"] = report.markdown(results).encode()
    files["report.html"] = report.html(results, pngs).encode()
    files["results.json"] = (to_json(results) + "\n").encode()
    kept = {f"{name}.{end}" for name in pictures for end in ("png", "svg")} | {f"{n}.csv" for n in results["tables"]}
    outputs.write(out, files, keep=kept)


def _earlier(out: Path) -> Results | None:
    """Read the results.json of an earlier run; `outputs.refuse_foreign` has checked that it is unchanged."""
    try:
        found: Results = json.loads(read_bytes(out / "results.json"))
    except InputError:
        return None
    return found if found["format"] == REPRODUCTION_FORMAT else None


def _tables(findings: dict[str, Findings]) -> list[Table]:
    """Return all tables; the first one of an experiment has its name."""
    found = []
    for name, its in findings.items():
        if its.rows:
            found += [Table(name, "", its.rows, its.columns), *its.more_tables]
    return found


def _table_names(experiments: Iterable[str]) -> list[str]:
    return [table for name in experiments for table in (name, *load(name).more_tables)]


def _hashes(dataset: dict[str, Any]) -> dict[str, str]:
    return {scene["name"]: scene["sha256"] for scene in dataset["scenes"]}


def _dataset(dataset: Dataset) -> dict[str, Any]:
    return {
        "label": dataset.kind.label,
        "scenes": [{**asdict(scene), "folder": str(scene.folder)} for scene in dataset.scenes],
        "of": dataset.kind.paper_scenes,
        "folds": dataset.folds,
        "skipped": dataset.skipped,
    }


def _described(name: str, found: Findings, context: Context) -> dict[str, Any]:
    """Return everything that the report says about an experiment, except its numbers."""
    experiment = load(name)
    return {
        "title": experiment.title,
        "paper": experiment.paper,
        "columns": [asdict(column) for column in found.columns],
        "more_tables": [
            {"name": table.name, "title": table.title, "columns": [asdict(column) for column in table.columns]}
            for table in found.more_tables
        ],
        "claims": [_claim(claim) for claim in found.claims],
        "pictures": [{"name": picture.name, "caption": picture.caption} for picture in found.pictures],
        "notes": found.notes,
        "made": _made(experiment, context),
    }


def _claim(claim: Claim) -> dict[str, Any]:
    where = STATEMENTS[claim.statement].where if claim.statement in STATEMENTS else ""
    return {**asdict(claim), "text": claim.text, "where": where}


def _made(experiment: Experiment, context: Context) -> dict[str, Any]:
    """Return by which code, when, how and on which scenes an experiment was made."""
    setup = context.setup
    used = [kind for kind in (experiment.needs, *experiment.also_uses) if kind is not None]
    return {
        "commit": commit(),
        "version": __version__,
        "date": datetime.now(UTC).date().isoformat(),
        "engine": setup.engine,
        "quick": setup.quick,
        "solves": setup.solves if experiment.estimates else None,
        "alphas": setup.alphas if experiment.chooses_alpha else [],
        "scenes": {kind: [s.name for s in context.datasets[kind].scenes] for kind in used if kind in context.datasets},
    }


def commit() -> str | None:
    """Return the commit of the checkout that runs, marked if files differ from it; None if no checkout runs."""
    here = Path(__file__)

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(here.parent), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    try:
        git("ls-files", "--error-unmatch", here.name)  # an installed package may lie inside another checkout
        return git("describe", "--always", "--dirty", "--exclude=*")
    except (OSError, subprocess.CalledProcessError):
        return None


def _left_out(name: str, found: Findings, jobs: list[Job], outcomes: Outcomes) -> dict[str, str]:
    """Return a sentence for each failed job, by its key, and one for the experiment if it has no results."""
    failed = {job.key: f"{job.label}: {outcomes.failures[job.key]}" for job in jobs if job.key in outcomes.failures}
    why = " ".join(found.notes) or "some jobs of every scene failed."
    return failed if found.rows else {**failed, name: f"{name}: {why}"}


def _run(job: Job, outcomes: Outcomes) -> dict[str, Any]:
    """Describe a job: its parameters, every number, and the versions it was computed with if they differ."""
    outcome = outcomes[job]
    found = {"label": job.label, **job.identity, "failed": outcomes.failures.get(job.key)}
    if outcome is not None:
        other = {} if outcome.versions == versions() else {"versions": outcome.versions}
        found |= {**outcome.record, "job_seconds": outcome.seconds, **other}
    return found


def _csv(table: Table) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["key", *(column.heading for column in table.columns)])
    for key, row in table.rows.items():
        values = [column.value(row) for column in table.columns]
        writer.writerow([key, *(" ".join(map(str, v)) if isinstance(v, list) else v for v in values)])
    return text.getvalue().encode()
