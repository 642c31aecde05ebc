"""The exceptions whose texts are meant for the user."""

from __future__ import annotations

import re
from pathlib import Path

LONGEST = 800  # characters of a problem, or of a remedy
# Control characters, which may move a terminal's cursor or change its state; line separators; marks that reverse the
# order of letters; and bytes of a file name that are not valid text.
_UNPRINTABLE = re.compile("[\\x00-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069\\ud800-\\udfff]")


def printable(text: str, keep: str = "") -> str:
    r"""Escape what a terminal must not get from a file, except the characters in `keep`.

    >>> print(printable("view\x1b[2J.png"))
    view\x1b[2J.png
    """

    def escaped(found: re.Match[str]) -> str:
        return found[0] if found[0] in keep else found[0].encode("unicode_escape").decode()

    return _UNPRINTABLE.sub(escaped, text)


def _shortened(text: str, most: int = LONGEST) -> str:
    """Leave out the middle of a text that a file has made long."""
    return text if len(text) <= most else f"{text[: most - 203]}...{text[-200:]}"


class InputError(ValueError):
    """An input that cannot be used.

    The command line prints the error as one sentence and exits with code 2.

    Parameters
    ----------
    where : str or Path
        The file, the field or the option that is wrong.
    problem : str
        What is wrong with it, as a predicate such as "is empty", or as a clause.
    remedy : str
        What the user can do about it, as an imperative such as "copy or export it again".

    Examples
    --------
    >>> print(InputError("views.npy", "is empty", "copy or export it again"))
    views.npy: is empty; copy or export it again.
    """

    def __init__(self, where: str | Path, problem: str, remedy: str = "") -> None:
        super().__init__(str(where), problem, remedy)  # all arguments, so that a worker's error can be pickled
        self.where, self.problem, self.remedy = str(where), problem, remedy

    def __str__(self) -> str:
        problem, remedy = _shortened(self.problem), _shortened(self.remedy)
        said = f"{_shortened(self.where, 1200)}: {problem}" if self.where else problem
        said = f"{said}; {remedy}" if remedy else said
        return printable(said if said.endswith("?") else f"{said}.")


class DeviceError(RuntimeError):
    """A failure of the GPU.

    The command line prints the error and exits with code 3.
    """
