"""Adds a row to history.json: reads what `gradcon bench --ratios --json` wrote from stdin.

`make benchmark` runs both.  A row of the same version, commit, machine and scene is replaced, so that a measurement can
be repeated.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
HISTORY = HERE / "history.json"
SCHEMA = "gradcon-bench-1"
SAME = ("version", "commit", "machine", "scene")  # of a row that is measured again


def row_of(found: dict[str, Any]) -> dict[str, Any]:
    """Return the row of a measurement; a ratio is [median, least, largest], or null if it was left out."""
    if (found.get("schema"), found.get("kind")) != (SCHEMA, "ratios"):
        raise SystemExit("add_row.py: stdin is not the output of `gradcon bench --ratios --json`.")
    scene = found["scene"]
    return {
        "version": found["versions"]["gradcon"],
        "date": found["date"],
        "commit": commit(),
        "machine": f"{found['processor']}, {found['cores']} cores, engine {found['engine']}",
        "scene": f"{scene['name']}, {scene['views']} views of {scene['width']} x {scene['height']}",
        "source": "gradcon bench --ratios",
        "ratios": {name: spread(ratio) for name, ratio in found["ratios"].items()},
    }


def spread(ratio: dict[str, Any]) -> list[float] | None:
    return None if ratio["ratio"] is None else [float(f"{ratio[name]:.3g}") for name in ("ratio", "low", "high")]


def commit() -> str | None:
    """Return the checked-out commit, with a plus if files differ from it; None outside a repository."""
    command = ["git", "describe", "--always", "--dirty=+", "--abbrev=7", "--exclude=*"]
    try:
        return subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def add(row: dict[str, Any], history: Path) -> None:
    """Write the history with this row at the end."""
    kept = json.loads(history.read_text(encoding="utf-8"))
    rows = [other for other in kept["rows"] if any(other[name] != row[name] for name in SAME)]
    lines = ",\n".join(f"    {json.dumps(one)}" for one in [*rows, row])  # a row per line, so that changes are readable
    head = json.dumps({name: value for name, value in kept.items() if name != "rows"}, indent=2)[:-2]
    history.write_text(f'{head},\n  "rows": [\n{lines}\n  ]\n}}\n', encoding="utf-8")


if __name__ == "__main__":
    text = sys.stdin.read()
    if not text.strip():
        raise SystemExit("add_row.py: stdin is empty, so nothing was measured.")
    made = row_of(json.loads(text))
    add(made, Path(sys.argv[1]) if len(sys.argv) > 1 else HISTORY)
    print(json.dumps(made, indent=2))
