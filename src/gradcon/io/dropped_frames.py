"""Frames that one camera lacks: as many in every folder, and yet of different moments.

Frames are paired by their order, so where one is missing and another was added, all between are paired wrongly.  Their
numbers tell, if they are a counter's: its steps are one, or several over a gap.  Cameras may count from different
numbers, and all may pause together.  Times for numbers tell nothing, since no two cameras have quite the same.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from gradcon.errors import InputError

_NUMBERS = re.compile(r"((?<=[0-9])\.)?([0-9]+)")  # each with the dot that ties it to the number before, if one does
Column = tuple[int, ...]  # one number of the names, frame by frame


def refuse_dropped_frames(folders: Mapping[Path, Sequence[Path]]) -> None:
    """Refuse folders of frames, each sorted and all as long, if their names count and one lacks what another has."""
    views, files = list(folders), list(folders.values())
    counters = _counters(files)
    since_first = [[number - counter[0] for number in counter] for counter in counters]
    k = next((k for k, numbers in enumerate(zip(*since_first, strict=True)) if len(set(numbers)) > 1), None)
    if k is None or not _are_counted(counters):
        return
    there = min(numbers[k] for numbers in since_first)
    view = max(range(len(views)), key=lambda view: since_first[view][k])
    raise InputError(
        f"{views[view]}: has no frame {counters[view][0] + there}, between {files[view][k - 1].name} and "
        f"{files[view][k].name}, and the numbers of the views' frames differ, so they would be paired wrongly; add it, "
        "or remove it from all views."
    )


def _are_counted(counters: Sequence[Column]) -> bool:
    """Whether the least step is the usual one and all others are multiples of it, as those of times are not."""
    steps = Counter(after - before for counter in counters for before, after in pairwise(counter))
    least = min(steps)
    return steps[least] == max(steps.values()) and all(step % least == 0 for step in steps)


def _counters(views: Sequence[Sequence[Path]]) -> list[Column]:
    """What counts the frames of each view: the first of the names' numbers that grows in all; [] where there is none.

    What was measured as a frame was taken, such as a temperature, may stand in its name too.
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
    """The numbers of a view's names, one after the other; () for those of a decimal number, which is a time.

    It is none if what stands before the dot is the same in all, such as the 02 of shot02.0017.png.
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
