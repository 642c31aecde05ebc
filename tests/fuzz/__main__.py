"""`make fuzz`: hunt for defects and exit with 1 if there are findings."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from fuzz.command_runs import run_commands
from fuzz.findings import Findings
from fuzz.hunt import hunt, repeat
from fuzz.samples import FORMATS
from fuzz.table import markdown


def main() -> int:
    told = _arguments()
    if told.repeat:
        what, folder = repeat(told.repeat, told.seed, told.case)
        print(f"{what or 'nothing was found'}\nthe files are in {folder}")
        return 1 if what else 0
    tell = partial(print, file=sys.stderr, flush=True)
    odd = _commands(told, tell) if told.commands else 0
    findings, begun = Findings(told.out), time.monotonic()
    rows = hunt(
        told.formats.split(",") if told.formats else list(FORMATS),
        findings,
        cases=told.cases,
        minutes=told.minutes if told.cases is None else None,
        seed=told.seed,
        processes=told.processes,
        tell=tell,
    )
    table = markdown(rows, time.monotonic() - begun)
    if told.table:
        told.table.write_text(f"{table}\n")
    print(table)
    if findings.kinds:
        print(f"\nfindings, which are kept in {findings.folder}:\n{findings.text()}")
    return 1 if findings.kinds or odd else 0


def _commands(told: argparse.Namespace, tell: Callable[[str], None]) -> int:
    """Run random command lines, print how they ended, and return the number of findings."""
    codes, found = run_commands(told.commands, told.seed, told.processes, tell)
    ends = ", ".join(f"{count} x {code}" for code, count in sorted(codes.items()))
    print(f"{told.commands} command lines, exit codes {ends}; findings: {len(found)}\n")
    for number, line, what in found:
        print(f"command {number}: {line}\n    {what}")
    return len(found)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--cases", type=int, help="instead of --minutes")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--formats", help=f"some of {', '.join(FORMATS)}, separated by commas")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--out", type=Path, default=Path("fuzz-findings"), help="the folder for findings")
    parser.add_argument("--table", type=Path, help="a file for the table, as Markdown")
    parser.add_argument("--commands", type=int, default=0, help="the number of random command lines")
    parser.add_argument("--repeat", metavar="FORMAT", help="run one case of this format again")
    parser.add_argument("--case", type=int, default=0)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
