"""The exceptions whose texts are for the user: a sentence that says where something is wrong, what, and what to do."""

from __future__ import annotations

from pathlib import Path


class InputError(ValueError):
    """An input that cannot be used; the command line prints its text and exits with code 2.

    Parameters
    ----------
    where : str or Path
        The file, the field or the option that is wrong.
    problem : str
        What is wrong with it, as the predicate of a sentence: "is empty".
    remedy : str
        What the user can do, as an imperative: "copy or export it again".

    Examples
    --------
    >>> print(InputError("views.npy", "is empty", "copy or export it again"))
    views.npy: is empty; copy or export it again.
    """

    def __init__(self, where: str | Path, problem: str = "", remedy: str = "") -> None:
        super().__init__(str(where), problem, remedy)  # all arguments, so that a worker's error can be pickled
        self.where, self.problem, self.remedy = str(where), problem, remedy

    def __str__(self) -> str:
        if not self.problem:  # TODO: only while callers still give a whole sentence
            return self.where
        said = f"{self.where}: {self.problem}" if self.where else self.problem
        said = f"{said}; {self.remedy}" if self.remedy else said
        return said if said.endswith("?") else f"{said}."


class DeviceError(RuntimeError):
    """A GPU that failed; the command line prints its text and exits with code 3."""
