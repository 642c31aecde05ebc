"""The report of a reproduction, as Markdown and as a self-contained HTML page, both made from results.json alone."""

from __future__ import annotations

import base64
import itertools
from pathlib import Path
from typing import Any

from gradcon.experiments import EXPERIMENTS
from gradcon.experiments.experiment import Column

VERDICTS = {True: "supported", False: "not supported", None: "cannot be judged"}
TEMPLATE = Path(__file__).with_name("report.html.j2")

Results = dict[str, Any]


def markdown(results: Results) -> str:
    """Render report.md, whose figures are the PNG files beside it."""
    lines = ["# The paper's evaluation, repeated", "", *summary(results), ""]
    lines += ["## The paper's claims", "", *_table(claims_table(results)), ""]
    for section in sections(results):
        lines += [f"## {section['title']} (`{section['name']}`)", "", f"In the paper: {section['paper']}.", ""]
        if section["table"]:
            lines += [*_table(section["table"]), ""]
        for title, table in section["more_tables"]:
            lines += [f"### {title}", "", *_table(table), ""]
        for picture in section["pictures"]:
            lines += [f"![{picture['caption']}]({picture['name']}.png)", "", f"*{picture['caption']}*", ""]
        for note in section["notes"]:
            lines += [note, ""]
    lines += ["## Left out", "", *([f"- {text}" for text in results["left_out"]] or ["Nothing."]), ""]
    return "\n".join(lines)


def html(results: Results, pngs: dict[str, bytes]) -> str:
    """Render report.html, which contains its figures."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    embedded = {name: base64.b64encode(png).decode() for name, png in pngs.items()}
    return environment.from_string(TEMPLATE.read_text()).render(
        summary=summary(results),
        claims=claims_table(results),
        sections=sections(results),
        left_out=results["left_out"],
        pngs=embedded,
    )


def summary(results: Results) -> list[str]:
    """Return paragraphs on the scenes, the settings and the work."""
    settings, work = results["settings"], results["work"]
    lines = []
    for dataset in results["datasets"].values():
        names = ", ".join(scene["name"] for scene in dataset["scenes"])
        lines.append(f"{dataset['label']}: {len(dataset['scenes'])} of the paper's {dataset['of']} scenes: {names}.")
        if dataset["skipped"]:
            lines.append(f"{dataset['label']}: folders that could not be used: {len(dataset['skipped'])}; see the end.")
    alphas = ", ".join(f"{alpha:g}" for alpha in settings["alphas"])
    how = f"Quick run: only alpha {alphas}" if settings["quick"] else f"Cross-validation chooses alpha from {alphas}"
    lines.append(
        f"{how}; at most {settings['solves']} solves per run; engine {settings['engine']}. "
        "RMSE is taken over the whole frame."
    )
    damaged = len(work["recomputed_because_damaged"])
    lines.append(
        f"Jobs: {work['computed']} computed, {work['reused']} reused, {work['failed']} failed, {damaged} damaged and "
        f"computed again. Time: {work['seconds'] / 60:.1f} minutes. Workers: {work['workers']}."
    )
    if work["computed"]:
        idle = 1 - work["job_seconds"] / work["worker_seconds"]
        lines.append(f"The workers spent {100 * idle:.1f} % of their time outside jobs.")
    lines.append(", ".join(f"{name} {version}" for name, version in results["versions"].items()) + ".")
    return list(itertools.chain.from_iterable((line, "") for line in lines))[:-1]


def overview(results: Results, out: Path) -> str:
    """Summarise the results for a terminal."""
    lines = [f"{verdict + ':':18}{claim}" for claim, verdict, _ in claims_table(results)[1:]]
    if results["left_out"]:
        lines.append(f"left out: {len(results['left_out'])}; see the messages above, or the end of the report")
    return "\n".join([*lines, f"written to {out}: report.html, report.md, results.json, tables and figures"])


def sections(results: Results) -> list[dict[str, Any]]:
    """Return the experiments, in the order of the report, with their tables as text."""
    found = []
    for name in EXPERIMENTS:
        described = results["experiments"].get(name)
        if described is not None:
            table = _text(described["columns"], results["tables"].get(name, {}))
            more = [(t["title"], _text(t["columns"], results["tables"][t["name"]])) for t in described["more_tables"]]
            found.append({"name": name, **described, "table": table, "more_tables": more})
    return found


def claims_table(results: Results) -> list[list[str]]:
    """Return the paper's claims, one per row."""
    rows = [["the paper says", "these results", "measured"]]
    for name in EXPERIMENTS:
        for claim in results["experiments"].get(name, {}).get("claims", []):
            rows.append([claim["paper"], VERDICTS[claim["supported"]], claim["measured"]])
    return rows


def cell(column: Column, row: dict[str, Any]) -> str:
    """Format a row's value in this column."""
    value = column.value(row)
    if value is None:
        return ""
    if column.form == "list":
        return ", ".join(f"{item:g}" for item in value)
    return format(value, column.form)


def _text(described: list[dict[str, Any]], rows: dict[str, Any]) -> list[list[str]]:
    """Return a table as text, its headings first; empty if it has no rows."""
    columns = [Column(**column) for column in described]
    headings = [[column.heading for column in columns]] if rows else []
    return headings + [[cell(column, row) for column in columns] for row in rows.values()]


def _table(rows: list[list[str]]) -> list[str]:
    clean = [[text.replace("|", "\\|") for text in row] for row in rows]
    lines = ["| " + " | ".join(row) + " |" for row in clean]
    lines.insert(1, "|" + "---|" * len(rows[0]))
    return lines
