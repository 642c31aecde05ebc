"""Folders whose file names give the cameras' positions, by a pattern such as "2067_{row}_{col}.png".

The names are those of images or, for a light-field video, of folders of frames or video files.  {row} and {col} stand
for digits, with or without leading zeros; everything else is literal.  Rows run down and columns to the right, as the
cameras stand; with only one of the two fields, the cameras form a column or a row.  The unit baseline is one step of
the numbers.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from gradcon.errors import InputError
from gradcon.files import files_in
from gradcon.io.formats.format import Format, Hints
from gradcon.io.formats.frames import IMAGE_SUFFIXES, open_views
from gradcon.io.formats.video import SUFFIXES as VIDEO_SUFFIXES
from gradcon.io.listing import Listing, View, by_cell, find_reference, stands_at
from gradcon.io.outputs import is_output

SUFFIXES = (*IMAGE_SUFFIXES, *VIDEO_SUFFIXES)
MOST_COUNTED = 9999  # larger numbers are dates or times, not rows or columns
_FIELD = re.compile(r"\{(row|col)\}")
# The last two numbers, unless they are fractions: the 5 in x_0.5.png or x_.5.png is not a column, but in a.5.png it is.
_NUMBER = r"(?<![0-9])(?:(?<!\.)|(?<=[^\W\d_]\.))([0-9]+)"
_TWO_NUMBERS = re.compile(rf"(.*?){_NUMBER}([^0-9]+){_NUMBER}([^0-9]*)")


def list_pattern(folder: Path, hints: Hints) -> Listing:
    """List the files that match the pattern in `hints`, or the inferred one."""
    if not folder.is_dir():
        raise InputError(folder, "is a file, but a pattern is for a folder of images", "leave one of the two out")
    pattern = infer_pattern(folder) if hints.pattern is None else hints.pattern
    assert pattern is not None  # otherwise the format would not have been recognised
    return _list(folder, pattern, hints.reference)


def infer_pattern(folder: Path) -> str | None:
    """Infer the pattern by which most images, videos or folders of images count rows and columns."""
    return _clearest(*candidates(folder))[0]


def _clearest(found: Counter[str], others: int) -> tuple[str | None, int]:
    """Return the pattern that the majority of names fit, or None, and how many names do not fit it."""
    pattern, count = (found.most_common(1) or [("", 0)])[0]
    rest = found.total() - count + others
    return (pattern if count > max(1, rest) else None), rest


def candidates(folder: Path) -> tuple[Counter[str], int]:
    """Count the names that fit each pattern of their last two numbers, and those that fit none.

    Files that are neither images nor videos are ignored, and so are the outputs of this program.
    """
    found, others = Counter[str](), 0
    for path in files_in(folder):
        is_folder = path.is_dir()
        if path.name.startswith(".") or not (is_folder or path.suffix.lower() in SUFFIXES) or is_output(path):
            continue
        suffix = "" if is_folder else path.suffix  # the 4 of .mp4 is not a column
        match = _TWO_NUMBERS.fullmatch(path.name.removesuffix(suffix))
        strange = "{" in path.name or (is_folder and not _holds_an_image(path))
        if match is None or strange or max(int(match[2]), int(match[4])) > MOST_COUNTED:
            others += 1
        else:
            found[f"{match[1]}{{row}}{match[3]}{{col}}{match[5]}{suffix}"] += 1
    return found, others


def _holds_an_image(folder: Path) -> bool:
    return any(path.suffix.lower() in IMAGE_SUFFIXES for path in files_in(folder))


def _told(path: Path, hints: Hints) -> str | None:
    return f"the pattern {hints.pattern!r} was given" if hints.pattern is not None else None


def _inferred(path: Path, hints: Hints) -> str | None:
    pattern, others = _clearest(*candidates(path)) if path.is_dir() else (None, 0)
    if pattern is None:
        return None
    return f"its files fit the pattern {pattern!r}" + (f", except for {others} of them" if others else "")


NAME = "a folder whose file names give the cameras' positions"
TOLD = Format(NAME, _told, list_pattern, frozenset({"pattern"}))
INFERRED = Format(NAME, _inferred, list_pattern)


def _list(folder: Path, pattern: str, reference: str | None) -> Listing:
    """List the files that match; the reference is the view nearest to the middle unless `reference` names another."""
    expression = compile_pattern(pattern)
    cells = []
    for path in files_in(folder):
        if match := expression.fullmatch(path.name):
            found = match.groupdict()
            cells.append(((int(found.get("row", 0)), int(found.get("col", 0))), path))
    if len(cells) < 2:
        matches = "only one file matches" if cells else "no file matches"
        raise InputError(
            folder,
            f"{matches} the pattern {pattern!r}, but at least two views are needed",
            "check the pattern against the file names",
        )
    files = by_cell(cells)
    reads, frames = open_views(list(files.values()))
    grid = {cell: View(files[cell].name, stands_at(*cell), read) for cell, read in zip(files, reads, strict=True)}
    chosen = find_reference(grid.values(), reference, _middle(grid).name, folder)
    return Listing(
        source=folder,
        views=list(grid.values()),
        reference=chosen,
        metadata={"format": "pattern", "pattern": pattern},
        frames=frames,
    )


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Compile a pattern to a regular expression for file names, with the groups `row` and `col`."""
    literals_and_fields = _FIELD.split(pattern)
    fields = literals_and_fields[1::2]
    if not fields:
        raise InputError("pattern", f"{pattern!r} has no {{row}} or {{col}}", "write one in place of the numbers")
    if len(set(fields)) < len(fields):
        raise InputError("pattern", f"{pattern!r} names a field twice", "use {row} and {col} once each")
    if len(fields) == 2 and not literals_and_fields[2]:
        problem = f"{pattern!r} has nothing between its fields, so their numbers cannot be told apart"
        raise InputError("pattern", problem, "rename the files with a separator")
    if "/" in pattern or "\\" in pattern:
        remedy = "give the folder as the scene, and a pattern of file names only"
        raise InputError("pattern", f"{pattern!r} names a folder", remedy)
    parts = [f"(?P<{part}>[0-9]{{1,9}})" if k % 2 else re.escape(part) for k, part in enumerate(literals_and_fields)]
    return re.compile("".join(parts))


def _middle(grid: dict[tuple[int, int], View]) -> View:
    """Return the view nearest to the middle of the range of rows and columns; of equals, the lower right one."""
    rows, columns = zip(*grid, strict=True)
    row2, column2 = min(rows) + max(rows), min(columns) + max(columns)

    def off_centre(cell: tuple[int, int]) -> tuple[int, int, int]:
        return (2 * cell[0] - row2) ** 2 + (2 * cell[1] - column2) ** 2, -cell[0], -cell[1]

    return grid[min(grid, key=off_centre)]
