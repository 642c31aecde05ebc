"""Frames that one camera lacks: as many in every folder, and yet of different moments.

Frames are paired by their order, so where one is missing and another was added, all between are paired wrongly.  Their
numbers tell: they differ from view to view, and there is a gap.  Views that merely begin at different numbers are let
pass, and so are times for numbers, which are not evenly spaced.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from gradcon.errors import InputError


def refuse_dropped_frames(folders: Mapping[Path, Sequence[Path]]) -> None:
    """Refuse folders of frames, each sorted, if their numbers differ and one of them has a gap."""
    numbers = {folder: _counted(files) for folder, files in folders.items()}
    if len(set(numbers.values())) < 2 or () in numbers.values():
        return
    steps = [after - before for counted in numbers.values() for before, after in pairwise(counted)]
    step = min((step for step in steps if step > 0), default=0)
    for folder, counted in numbers.items():
        for k, (before, after) in enumerate(pairwise(counted)):
            if step > 0 and after - before >= 2 * step:
                between = f"{folders[folder][k].name} and {folders[folder][k + 1].name}"
                raise InputError(
                    f"{folder}: has no frame {before + step}, between {between}, and the numbers of the views' frames "
                    "differ, so they would be paired wrongly; add it, or remove it from all views."
                )


def _counted(files: Sequence[Path]) -> tuple[int, ...]:
    """What counts the frames: the last number in their names that is not the same in all; () where there is none."""
    rows = [[int(number) for number in re.findall(r"[0-9]+", path.stem)] for path in files]
    if len({len(row) for row in rows}) != 1:
        return ()
    columns = [column for column in zip(*rows, strict=True) if len(set(column)) > 1]
    return columns[-1] if columns else ()
