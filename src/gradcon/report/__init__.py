"""The page of results: one HTML file that opens offline and shows one result, or several side by side.

folder    reads a folder that `gradcon estimate` wrote, and refuses a damaged one
weights   reads what --keep-weights recorded
every_view  reads a folder of `gradcon estimate --every-view`, and fuses its maps
fused     holds the points of such a fused cloud
packing   turns arrays into text that the page's script unpacks
facts     writes names, the table of key facts, and warnings
page      puts results, script and style into one file
script/   draws everything in the browser, one file for each panel
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from gradcon.errors import InputError
from gradcon.files import as_path, several, write_file
from gradcon.pictures.colour_maps import DEFAULT_MAP, check_colour_map
from gradcon.report.every_view import read_result
from gradcon.report.page import render


class WrittenPage(NamedTuple):
    """A page that `write_report` has written.

    Attributes
    ----------
    path : Path
        Where the page is.
    size : int
        Its size in bytes.
    shown : list of Path
        The folders that it shows.
    left_out : list of str
        A sentence for each folder, or part of one, that could not be used.
    """

    path: Path
    size: int
    shown: list[Path]
    left_out: list[str]


def write_report(folders: str | Path | Sequence[str | Path], out: str | Path, cmap: str = DEFAULT_MAP) -> WrittenPage:
    """Write one self-contained HTML page of results.

    Parameters
    ----------
    folders : str or Path, or a sequence of them
        Folders that `gradcon estimate` wrote; several are shown side by side.  Of a folder with a map for every view,
        the page shows the reference's result, and the points of all maps fused.
    out : str or Path
        The page to write, a name that ends in .html.  An existing file is replaced.
    cmap : str
        The colours of the disparity, as in `Result.show`.

    Returns
    -------
    WrittenPage
        With a sentence for each folder that was left out because it is damaged.

    Raises
    ------
    InputError
        If no folder can be used, or if the page cannot be written.  Nothing is written then.
    """
    check_colour_map(cmap)
    out = as_path(out, "out")
    if out.is_dir():
        raise InputError(out, "is a folder", "give the name of a page, which ends in .html")
    if out.suffix.lower() not in (".html", ".htm"):
        raise InputError(out, "is not the name of a page", "give a name that ends in .html")
    listed = several(folders, "folders")
    if not listed:
        raise InputError("report", "has no result to show", "give a folder that `gradcon estimate` wrote")
    results, shown, left_out = [], [], []
    damaged: list[InputError] = []
    for given in listed:
        try:
            folder = as_path(given)
            result = read_result(folder)
        except InputError as reason:
            damaged.append(reason)
            left_out.append(str(reason))
            continue
        results.append(result)
        shown.append(folder)
        left_out += result.notes
    if not results:
        raise _nothing_to_show(out, damaged)
    content = render(results, [str(reason) for reason in damaged], cmap).encode("utf-8", "backslashreplace")
    write_file(out, content)
    return WrittenPage(out, len(content), shown, left_out)


def _nothing_to_show(out: Path, damaged: list[InputError]) -> InputError:
    if len(damaged) == 1:
        return damaged[0]
    reasons = "; ".join(str(reason).rstrip(".") for reason in damaged)
    return InputError(out, f"was not written, because none of the results can be shown: {reasons}")
