"""The page of results: one HTML file that opens offline and shows one result, or several side by side.

folder    reads a folder that `gradcon estimate` wrote, and refuses a damaged one
fields    its result.json
views     its small copies of the views
weights   what --keep-weights recorded
packing   arrays as text that a browser unpacks
facts     names, the table of key facts, and warnings
page      puts results, script and style into one file
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from gradcon.errors import InputError
from gradcon.files import write_file
from gradcon.report.folder import read_folder
from gradcon.report.page import render


class WrittenPage(NamedTuple):
    """What became of a page.

    Attributes
    ----------
    path : Path
        Of the page.
    size : int
        In bytes.
    shown : list of Path
        The folders in it.
    left_out : list of str
        A sentence for each folder, or part of one, that could not be used.
    """

    path: Path
    size: int
    shown: list[Path]
    left_out: list[str]


def write_report(folders: Sequence[str | Path], out: str | Path) -> WrittenPage:
    """Write one self-contained HTML page of results.

    Parameters
    ----------
    folders : sequence of str or Path
        That `gradcon estimate` wrote; several are shown side by side.
    out : str or Path
        The page, whose name ends in .html; replaced where it exists.

    Returns
    -------
    WrittenPage
        With a sentence for each folder that was left out because it is damaged.

    Raises
    ------
    InputError
        No folder could be used, and nothing was written, or the page cannot be written.
    """
    out = Path(out)
    if out.is_dir():
        raise InputError(f"{out}: is a folder; give the name of a page, which ends in .html.")
    if out.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"{out}: a report is a page for browsers; give a name that ends in .html.")
    if not folders:
        raise InputError("report: there is no result to show; give a folder that `gradcon estimate` wrote.")
    results, shown, absent, left_out = [], [], [], []
    for folder in map(Path, folders):
        try:
            result = read_folder(folder)
        except InputError as reason:
            absent.append(str(reason))
            left_out.append(str(reason))
            continue
        results.append(result)
        shown.append(folder)
        left_out += result.notes
    if not results:
        reasons = "; ".join(text.rstrip(".") for text in left_out)
        raise InputError(f"{reasons}; no result is left, so nothing was written.")
    content = render(results, absent).encode("utf-8", "backslashreplace")
    write_file(out, content)
    return WrittenPage(out, len(content), shown, left_out)
