"""The report of a reproduction, as Markdown and as a self-contained HTML page, both made from results.json alone."""

from __future__ import annotations

import base64
import itertools
from pathlib import Path
from typing import Any

from gradcon.experiments import EXPERIMENTS
from gradcon.experiments.counts import COUNTS_EXPLAINED
from gradcon.experiments.datasets import KINDS
from gradcon.experiments.experiment import VERDICTS, Column
from gradcon.experiments.statements import STATEMENTS

TEMPLATE = Path(__file__).with_name("report.html.j2")

Results = dict[str, Any]


def markdown(results: Results) -> str:
    """Render report.md, whose figures are the PNG files beside it."""
    lines = ["# The paper's evaluation, repeated", "", *summary(results), ""]
    lines += ["## The paper's statements", "", *table_lines(claims_table(results)), ""]
    for section in sections(results):
        lines += [f"## {section['title']} (`{section['name']}`)", "", f"In the paper: {section['paper']}.", ""]
        lines += [made(section["made"]), ""]
        if section["table"]:
            lines += [*table_lines(section["table"]), ""]
        for title, table in section["more_tables"]:
            lines += [f"### {title}", "", *table_lines(table), ""]
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
        made=made,
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
    if settings["quick"]:
        lines.append(
            f"This is a quick run: each method has one alpha and {settings['solves']} solves, and some experiments use "
            "a few of the scenes."
        )
    lines.append(f"RMSE is taken over the whole frame. {COUNTS_EXPLAINED}")
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
    lines = [f"{verdict + ':':15}{claim}" for _, claim, verdict, *_ in claims_table(results)[1:]]
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
    """Return the claims, one per row: those of the paper in its order, and then our own."""
    claims = [claim for name in EXPERIMENTS for claim in results["experiments"].get(name, {}).get("claims", [])]
    order = list(STATEMENTS)
    claims.sort(key=lambda claim: order.index(claim["statement"]) if claim["statement"] in STATEMENTS else len(order))
    return [
        ["part", "the paper says", "these results", "as printed", "measured"],
        *(
            [claim["where"], claim["text"], VERDICTS[claim["supported"]], claim["as_printed"], claim["measured"]]
            for claim in claims
        ),
    ]


def made(how: dict[str, Any]) -> str:
    """Return a paragraph on how an experiment was made."""
    source = f"commit {how['commit']}" if how["commit"] else f"gradcon {how['version']}"
    lines = [f"Made on {how['date']} by {source}"]
    if how["solves"] is not None:
        lines[0] += f" with the engine {how['engine']}, with {how['solves']} solves for each run"
    lines[0] += "."
    if how["alphas"]:
        lines.append(f"Cross-validation chooses alpha from {', '.join(f'{alpha:g}' for alpha in how['alphas'])}.")
    for kind, names in how["scenes"].items():
        lines.append(f"{KINDS[kind].label}, {len(names)} of {KINDS[kind].paper_scenes} scenes: {', '.join(names)}.")
    return " ".join(lines)


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


def table_lines(rows: list[list[str]]) -> list[str]:
    clean = [[text.replace("|", "\\|") for text in row] for row in rows]
    lines = ["| " + " | ".join(row) + " |" for row in clean]
    lines.insert(1, "|" + "---|" * len(rows[0]))
    return lines
