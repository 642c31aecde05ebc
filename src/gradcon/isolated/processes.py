"""The child processes of this process: one for most files, and one per processor for videos, which take long."""

from __future__ import annotations

import atexit
import itertools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gradcon.isolated.limits import Limits
from gradcon.isolated.process import Child, Reply

MOST = 8  # as many as views are read at once

_children: list[Child] = []
_numbers: Iterator[int] = itertools.count()


def call(
    operation: str, path: Path, limits: Limits | None = None, most: int = 0, number: int = 0, **arguments: Any
) -> Reply:
    """Carry out an operation on a file in a child process.

    Parameters
    ----------
    operation : str
        Module and function, such as "hdf5_file.describe".
    path : Path
        The file, which errors name.
    limits : Limits, optional
        The time and memory that it may take.
    most : int
        The largest array, in bytes, that the operation may give.
    number : int
        Which child to ask; equal numbers reach the same one.
    **arguments
        What the function takes, as JSON can say it.

    Raises
    ------
    InputError
        The file cannot be used, or the child crashed, or took too long, or needed too much memory.
    LibraryError
        The library reported an error.
    """
    return _child(number).call(operation, path, arguments, limits or Limits(), most)


def tell(operation: str, path: Path, number: int, **arguments: Any) -> None:
    """Have an operation carried out without waiting for it, if the child with this number knows the file."""
    limits = Limits()
    order = {"operation": operation, "path": os.fsencode(path).decode("latin-1"), "arguments": arguments}
    _child(number).tell(order | {"limits": [limits.seconds, limits.memory]})


def next_number() -> int:
    """Return a number that no other file has; files with consecutive numbers are read side by side."""
    return next(_numbers)


def _child(number: int) -> Child:
    return _children[number % len(_children)]


def _forget() -> None:
    """Begin without children, as after a fork, in which those of the parent must not be asked."""
    _children[:] = [Child() for _ in range(min(MOST, os.cpu_count() or 1))]


def _end() -> None:
    for child in _children:
        child.end()


_forget()
atexit.register(_end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
