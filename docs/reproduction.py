"""Make the page reproduction.md from the results in reproduction.json and the prose in reproduction.md.j2.

    python docs/reproduction.py              # make the page
    python docs/reproduction.py FOLDER       # first take over the results of `gradcon reproduce --out FOLDER`

Experiments that FOLDER does not hold stay as they are, so the page can show results that were made at different times.
"""

import io
import json
import sys
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined
from PIL import Image

from gradcon.experiments import EXPERIMENTS
from gradcon.experiments.counts import COUNTS_EXPLAINED
from gradcon.experiments.experiment import VERDICTS, Column
from gradcon.experiments.report import claims_table, made, sections, table_lines
from gradcon.experiments.results import commit
from gradcon.files import to_json
from gradcon.identity import sources

DOCS = Path(__file__).parent
RESULTS, TEMPLATE, PAGE = (DOCS / f"reproduction.{end}" for end in ("json", "md.j2", "md"))
PICTURES = "images/reproduction-"
COLOURS = 256  # of a picture
DIGITS = 6  # of a number
COUNTED = {"supported": "are supported", "not supported": "are not", "cannot tell": "cannot be judged"}  # by verdict

Results = dict[str, Any]


def take_over(folder: Path, into: Results) -> dict[str, bytes]:
    """Add the experiments of a reproduction to the results of the page, and return their pictures by name."""
    found: Results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    same_code = found["settings"]["sources"] == sources()
    for name, described in found["experiments"].items():
        if described["made"]["commit"] is None and same_code:  # it ran elsewhere, on a copy without a repository
            described["made"]["commit"] = commit()
        tables = {name: described["columns"], **{one["name"]: one["columns"] for one in described["more_tables"]}}
        into["experiments"][name] = described
        into["tables"] |= {table: _shown(found["tables"].get(table, {}), columns) for table, columns in tables.items()}
    into["experiments"] = {name: into["experiments"][name] for name in EXPERIMENTS if name in into["experiments"]}
    names = [table for name, one in into["experiments"].items() for table in (name, *_names(one["more_tables"]))]
    into["tables"] = {name: into["tables"][name] for name in names}
    pictures = [name for described in found["experiments"].values() for name in _names(described["pictures"])]
    return {name: _small((folder / f"{name}.png").read_bytes()) for name in pictures}


def page(results: Results) -> str:
    """Return the page."""
    environment = Environment(
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    by_name = {section["name"]: section for section in sections(results)}

    def value(table: str, row: str, path: str, form: str = ".3f") -> str:
        """Return a number of a table, or a question mark if the results do not hold it."""
        number = Column(path, "").value(results["tables"].get(table, {}).get(row, {}))
        return "?" if number is None else format(number, form)

    return environment.from_string(TEMPLATE.read_text(encoding="utf-8")).render(
        counts=COUNTS_EXPLAINED,
        statements="\n".join(table_lines(claims_table(results))),
        verdicts=_verdicts(results),
        section=lambda name: _section(by_name[name]) if name in by_name else "These results are still to be made.",
        value=value,
    )


def _verdicts(results: Results) -> str:
    """Count the verdicts on the statements, for gradcon's choices and as printed."""
    texts = []
    for form, key in (("with gradcon's choices", "supported"), ("as printed", "as_printed")):
        claims = [claim[key] for one in results["experiments"].values() for claim in one["claims"]]
        found = [VERDICTS[claim] if key == "supported" else claim for claim in claims if key == "supported" or claim]
        counts = [f"{found.count(verdict)} {words}" for verdict, words in COUNTED.items() if verdict in found]
        texts.append(f"{form}, {', '.join(counts)}, of {len(found)}")
    return "; ".join(texts)


def _names(described: list[dict[str, Any]]) -> list[str]:
    return [one["name"] for one in described]


def _section(section: dict[str, Any]) -> str:
    """Return the tables, pictures and notes of an experiment as Markdown."""
    lines = [made(section["made"]), ""]
    lines += [*table_lines(section["table"]), ""] if section["table"] else []
    for title, table in section["more_tables"]:
        lines += [f"{title}:", "", *table_lines(table), ""] if table else []
    for picture in section["pictures"]:
        lines += [f"![{picture['caption']}]({PICTURES}{picture['name']}.png)", "", f"*{picture['caption']}*", ""]
    for note in section["notes"]:
        lines += [note, ""]
    return "\n".join(lines).rstrip()


def _shown(rows: dict[str, Any], columns: list[dict[str, str]]) -> dict[str, Any]:
    """Return the rows with nothing but what the columns show."""
    kept: dict[str, Any] = {}
    for key, row in rows.items():
        kept[key] = {}
        for column in columns:
            place, *parts = kept[key], *column["path"].split("|")
            for part in parts[:-1]:
                place = place.setdefault(part, {})
            place[parts[-1]] = _rounded(Column(column["path"], "").value(row))
    return kept


def _rounded(value: Any) -> Any:
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def _small(png: bytes) -> bytes:
    """Return a picture with a palette."""
    buffer = io.BytesIO()
    with Image.open(io.BytesIO(png)) as image:
        image.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(buffer, "PNG", optimize=True)
    return buffer.getvalue()


def main(arguments: list[str]) -> None:
    results: Results = json.loads(RESULTS.read_text(encoding="utf-8"))
    for folder in arguments:
        for name, png in take_over(Path(folder), results).items():
            (DOCS / f"{PICTURES}{name}.png").write_bytes(png)
        RESULTS.write_text(to_json(results) + "\n", encoding="utf-8")
    PAGE.write_text(page(results), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
