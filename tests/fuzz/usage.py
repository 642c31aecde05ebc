"""What a process group takes: the CPU time and the memory of a child and of the processes that it started."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

_TICK = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


class Usage(NamedTuple):
    """CPU time in seconds, and resident memory in bytes."""

    seconds: float
    memory: int


def usage_of(leader: int) -> Usage:
    """Return what the leader, its session and its children take, and what those of them that have ended took.

    A child may have a session of its own.  It must count while it runs, or all its time would seem to be spent when it
    ends.
    """
    seconds, memory = 0.0, 0
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit():
            continue
        try:
            fields = Path(entry.path, "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has ended in the meantime
            continue
        if leader in (int(fields[1]), int(fields[3])):  # its parent, or its session; see `man 5 proc` from the third on
            own, ended = sum(map(int, fields[11:13])), sum(map(int, fields[13:15]))
            seconds += (own + ended) / _TICK
            memory += int(fields[21]) * _PAGE
    return Usage(seconds, memory)
