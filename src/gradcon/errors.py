"""The exceptions whose texts are meant for the user."""

from __future__ import annotations

from pathlib import Path


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
        said = f"{self.where}: {self.problem}" if self.where else self.problem
        said = f"{said}; {self.remedy}" if self.remedy else said
        return said if said.endswith("?") else f"{said}."


class DeviceError(RuntimeError):
    """A failure of the GPU.

    The command line prints the error and exits with code 3.
    """
