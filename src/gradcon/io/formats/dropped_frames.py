"""Detect frames that one camera dropped, by the numbers in the file names.

Frames are paired by their order.  If one camera drops a frame and records another one later, its folder has as many
frames as the others, but all frames in between are paired wrongly.  The numbers in the file names reveal this if they
come from a counter: its steps are one, or several over a gap.  Cameras may start at different numbers, and all of them
may pause together.  Timestamps in file names do not reveal dropped frames, since no two cameras have quite the same.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from gradcon.errors import InputError

_NUMBERS = re.compile(r"((?<=[0-9])\.)?([0-9]+)")  # each number, with the dot that joins it to the one before
Column = tuple[int, ...]  # the k-th number of each frame's name


def refuse_dropped_frames(folders: Mapping[Path, Sequence[Path]]) -> None:
    """Reject folders of frames if their names are numbered and one lacks a number that another has.

    Every folder's frames are sorted, and all folders have the same number of frames.
    """
    views, files = list(folders), list(folders.values())
    counters = _counters(files)
    since_first = [[number - counter[0] for number in counter] for counter in counters]
    k = next((k for k, numbers in enumerate(zip(*since_first, strict=True)) if len(set(numbers)) > 1), None)
    if k is None or not _are_counted(counters):
        return
    there = min(numbers[k] for numbers in since_first)
    view = max(range(len(views)), key=lambda view: since_first[view][k])
    raise InputError(
        views[view],
        f"has no frame {counters[view][0] + there}, between {files[view][k - 1].name} and {files[view][k].name}, but "
        "other views do, so frames would be paired wrongly",
        "add it, or remove it from all views",
    )


def _are_counted(counters: Sequence[Column]) -> bool:
    """Tell counters from timestamps: the smallest step is the usual one, and all others are multiples of it."""
    steps = Counter(after - before for counter in counters for before, after in pairwise(counter))
    least = min(steps)
    return steps[least] == max(steps.values()) and all(step % least == 0 for step in steps)


def _counters(views: Sequence[Sequence[Path]]) -> list[Column]:
    """Return each view's frame counter: the first number in the names that grows in all views; [] if none does.

    The names may also hold measurements, such as a temperature, which do not grow.
    """
    columns = [_columns(files) for files in views]
    if len({len(found) for found in columns}) == 1:
        for counters in zip(*columns, strict=True):
            if all(map(_grows, counters)):
                return list(counters)
    return []


def _grows(column: Column) -> bool:
    return len(column) > 1 and all(before < after for before, after in pairwise(column))


def _columns(files: Sequence[Path]) -> list[Column]:
    """Return the numbers in a view's file names, by position; () for both parts of a decimal number, which is a time.

    Two numbers joined by a dot are not a decimal if the first is the same in all names, like the 02 of shot02.0017.png.
    """
    rows = [_NUMBERS.findall(path.stem) for path in files]
    if len({len(row) for row in rows}) != 1:
        return []
    columns = [tuple(int(digits) for _, digits in column) for column in zip(*rows, strict=True)]
    tied = [any(dot for dot, _ in column) for column in zip(*rows, strict=True)]
    for j in range(1, len(columns)):
        if tied[j] and len(set(columns[j - 1])) != 1:
            columns[j - 1] = columns[j] = ()
    return columns
