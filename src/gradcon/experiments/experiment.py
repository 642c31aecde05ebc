"""What an experiment consists of: its jobs, and the findings it draws from their outcomes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcon.experiments.datasets import Dataset
from gradcon.experiments.statements import STATEMENTS
from gradcon.jobs import Job, Outcomes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Row = dict[str, Any]


@dataclass(frozen=True)
class Setup:
    """The engine, and how thoroughly to work."""

    engine: str
    alphas: tuple[float, ...]  # that cross-validation chooses from; if there are none, each method has its usual one
    solves: int
    quick: bool


@dataclass(frozen=True)
class Context:
    """The setup of a reproduction, and the scenes it works on."""

    setup: Setup
    datasets: dict[str, Dataset]


@dataclass(frozen=True)
class Experiment:
    """One part of the evaluation, and one section of the report.

    Parameters
    ----------
    title : str
    paper : str
        The part of the paper that it repeats.
    needs : str or None
        The dataset without which it cannot run: "hci" or "middlebury".
    jobs : callable
        Returns the jobs to run.
    conclude : callable
        Returns the findings, once all jobs are done.
    follow_up : callable, optional
        Returns more jobs, which depend on the outcomes of the first ones.
    also_uses : tuple of str
        Further datasets, used only if they are given.
    pictures : tuple of str
        Every name that one of its pictures may have.
    more_tables : tuple of str
        Every name that one of its further tables may have.
    estimates : bool
        Whether it estimates anything, with an engine and a number of solves.
    chooses_alpha : bool
        Whether cross-validation chooses alpha for it.
    """

    title: str
    paper: str
    needs: str | None
    jobs: Callable[[Context], list[Job]]
    conclude: Callable[[Context, Outcomes], Findings]
    follow_up: Callable[[Context, Outcomes], list[Job]] | None = None
    also_uses: tuple[str, ...] = ()
    pictures: tuple[str, ...] = ()
    more_tables: tuple[str, ...] = ()
    estimates: bool = True
    chooses_alpha: bool = True


@dataclass(frozen=True)
class Column:
    """A column of a table: where a row holds its value, and how to format it.

    The path ``by_change|barrel`` looks up ``barrel`` in the mapping ``by_change``.
    """

    path: str
    heading: str
    form: str = ".4f"

    def value(self, row: Row) -> Any:
        """Return the row's value, or None if it has none."""
        found: Any = row
        for part in self.path.split("|"):
            found = found.get(part) if isinstance(found, dict) else None
        return found


VERDICTS = {True: "supported", False: "not supported", None: "cannot tell"}


@dataclass(frozen=True)
class Claim:
    """What these results say about one of `STATEMENTS`, given by its name, or about a sentence of our own."""

    statement: str
    supported: bool | None  # None: these results cannot tell
    measured: str
    as_printed: str = ""  # the verdict on runs that do everything as the paper prints it, if there are any

    @property
    def text(self) -> str:
        """The statement as a sentence."""
        known = STATEMENTS.get(self.statement)
        return known.text if known is not None else self.statement


@dataclass(frozen=True)
class Picture:
    """A figure of the report."""

    name: str
    caption: str
    draw: Callable[[], Figure]


@dataclass(frozen=True)
class Table:
    """A further table of an experiment, with a heading of its own."""

    name: str
    title: str
    rows: dict[str, Row]
    columns: list[Column]


@dataclass
class Findings:
    """The tables, curves, claims and pictures of an experiment; empty if there was nothing to conclude from."""

    rows: dict[str, Row] = field(default_factory=dict)
    columns: list[Column] = field(default_factory=list)
    curves: dict[str, list[float]] = field(default_factory=dict)
    claims: list[Claim] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    more_tables: list[Table] = field(default_factory=list)


def ranking(rows: dict[str, Row], path: str = "rmse") -> str:
    """List the methods from best to worst, with their errors."""
    error = Column(path, "")
    ordered = sorted(rows.values(), key=error.value)
    return listing({row["label"]: f"{error.value(row):.3f}" for row in ordered})


def listing(values: dict[str, Any]) -> str:
    """Write labelled values as text; labels may contain commas."""
    return "; ".join(f"{label}: {value}" for label, value in values.items()) + "."


def above(value: float, base: float) -> float:
    """Return by how many percent a value exceeds another, neither of which is negative."""
    return 100 * (value / base - 1) if base else 0.0 if value == base else math.inf


def mean(values: Iterable[float]) -> float:
    """Return the arithmetic mean."""
    return float(np.mean(list(values)))
