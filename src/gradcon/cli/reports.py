"""`gradcon report`: show results in one page for a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gradcon.cli.app import app, say
from gradcon.cli.parameters import ColourMap
from gradcon.pictures.colour_maps import DEFAULT_MAP


@app.command("report")
def _report(
    results: Annotated[list[Path], typer.Argument(metavar="RESULT", help="Folders that `gradcon estimate` wrote.")],
    out: Annotated[Path, typer.Option(help="The page to write; it is replaced if it exists.")] = Path("report.html"),
    cmap: ColourMap = DEFAULT_MAP,
) -> int:
    """Write a page that shows one result, or several side by side.

    The page is one HTML file that opens offline.  Of a folder with a map for every view, it shows the result of the
    reference and the points of all maps fused.  A damaged result is named and left out; the exit code is then 1.
    """
    from gradcon.report import write_report

    report = write_report(results, out, cmap)
    for text in report.left_out:
        say(f"gradcon: {text}", aside=True)
    address = report.path.resolve().as_uri()
    say(f"written {report.path} ({report.size / 1e6:.1f} MB); open it in a browser: {address}")
    return int(bool(report.left_out))
