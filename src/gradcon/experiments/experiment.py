"""What an experiment is made of.

Each is a module with

    TITLE, PAPER    what it is called, and which part of the paper it repeats
    NEEDS           the dataset it needs ("hci", "middlebury") or None
    USES            optional: all datasets that it uses where they are given
    PICTURES        the names that its pictures may have
    jobs(context)                  its jobs
    follow_up(context, report)     optional: more jobs, once those are done
    conclude(context, report)      its findings
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gradcon.experiments.comparison import Setup
from gradcon.experiments.datasets import Dataset

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Row = dict[str, Any]


@dataclass(frozen=True)
class Context:
    """What the user asked for, and has."""

    plan: Setup
    datasets: dict[str, Dataset]


@dataclass(frozen=True)
class Column:
    """Of a table: where its values are in a row (`by_change|barrel` looks into a mapping), and how they are written."""

    path: str
    heading: str
    form: str = ".4f"

    def value(self, row: Row) -> Any:
        found: Any = row
        for part in self.path.split("|"):
            found = found.get(part) if isinstance(found, dict) else None
        return found


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, and what these results say about it."""

    paper: str
    supported: bool | None  # None: these results cannot tell
    measured: str
    needs_end: bool = False  # about how runs end: cannot be judged where they were cut short
    of_runs: bool = True  # or of something that has no solves


@dataclass(frozen=True)
class Picture:
    """A figure of the report."""

    name: str
    caption: str
    draw: Callable[[], Figure]


@dataclass
class Findings:
    """What an experiment found."""

    rows: dict[str, Row] = field(default_factory=dict)
    columns: list[Column] = field(default_factory=list)
    curves: dict[str, list[float]] = field(default_factory=dict)
    claims: list[Claim] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


RMSE_COLUMNS = [
    Column("label", "method", "s"),
    Column("rmse", "RMSE"),
    Column("paper", "paper"),
    Column("difference_percent", "difference (%)", "+.1f"),
    Column("alphas", "alpha of each fold", "list"),
    Column("solves_within_2_percent", "solves to within 2 %", "d"),
    Column("rmse_after_40", "RMSE after 40"),
]


def ranking(rows: dict[str, Row]) -> str:
    """Methods from best to worst, as text."""
    ordered = sorted(rows.values(), key=lambda row: row["rmse"])
    return "; ".join(f"{row['label']}: {row['rmse']:.3f}" for row in ordered) + "."
