"""What runs did: whether they took in everything, whether a stage was cut short, and whether they had come to an end.

A table counts the runs that did not.  A statement about runs that did is judged on the scenes on which they did.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcon.experiments.experiment import Column
from gradcon.methods.options import Options

if TYPE_CHECKING:
    from gradcon.methods.loop import Run

LAST = 50  # solves, over which the RMSE of a run that has come to an end hardly varies
HARDLY = 0.003  # of the RMSE

Record = dict[str, Any]


def stages_of_run(run: Run, options: Options) -> dict[str, int]:
    """Return how many stages a run has, how many it reached, and how many ended by their number of solves."""
    solves = Counter(row.stage for row in run.history)
    reached = 1 + run.history[-1].stage
    cut = sum(solves[stage] == options.choices.stage_solves for stage in range(reached - 1))
    return {"stages": len(run.stages), "reached": reached, "cut": cut}


def is_incomplete(record: Record) -> bool:
    """Return whether a run did not reach its last stage, so that it did not use all views or the finest scale."""
    return bool(record["course"]["reached"] < record["course"]["stages"])


def is_changing(record: Record) -> bool:
    """Return whether the RMSE of a run still varied at its end."""
    last = record["rmse"][-LAST:]
    return bool(np.ptp(last) > HARDLY * last[-1])


def count(records: Iterable[Record]) -> dict[str, int]:
    """Count the runs that did not do all that a comparison expects of them."""
    listed = list(records)
    return {
        "incomplete": sum(map(is_incomplete, listed)),
        "cut": sum(record["course"]["cut"] > 0 for record in listed),
        "changing": sum(map(is_changing, listed)),
    }


COUNT_COLUMNS = [
    Column("incomplete", "incomplete", "d"),
    Column("cut", "cut", "d"),
    Column("changing", "changing", "d"),
]
COUNTS_EXPLAINED = (
    "The tables count the runs that are incomplete, because they did not reach their last stage and so did not use all "
    "views or the finest scale; that were cut, because a stage ended by its number of solves; and that were changing, "
    f"because their RMSE varied by more than {100 * HARDLY:g} % over the last {LAST} solves."
)


@dataclass(frozen=True)
class Need:
    """What a run must have done so that a statement can be judged by it."""

    words: str  # after "runs that"
    met: Callable[[Record], bool]


COMPLETE = Need("took in all views and scales", lambda record: not is_incomplete(record))
ENDED = Need("had come to an end", lambda record: not is_changing(record))
ALL_SOLVES = Need(f"took {Options.solves} solves", lambda record: len(record["rmse"]) >= Options.solves)
