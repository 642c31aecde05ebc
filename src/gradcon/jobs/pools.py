"""Chooses where jobs are done: on this machine, or on a cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from gradcon.errors import InputError
from gradcon.jobs.processes import LocalPool
from gradcon.jobs.workers import Pool

MOST_WORKERS = 1024


@contextmanager
def pool_for(
    workers: int | None = None, scheduler: str | None = None, environments: Sequence[Mapping[str, str]] = ()
) -> Iterator[Pool]:
    """Yield processes on this machine or, if a scheduler is given, a connection to its cluster.

    The processes get the `environments` in turn.  The workers of a cluster keep their own.
    """
    if scheduler is None:
        yield LocalPool(workers, environments)
        return
    from gradcon.jobs.cluster import Cluster

    with Cluster(scheduler) as cluster:
        yield cluster


def check_workers(workers: int | None, scheduler: str | None) -> None:
    """Reject an absurd number of workers, and any number where a cluster brings its own."""
    if workers is not None and not 1 <= workers <= MOST_WORKERS:
        raise InputError("workers", f"cannot be {workers}", f"give a number of processes from 1 to {MOST_WORKERS}")
    if workers is not None and scheduler is not None:
        raise InputError("workers", "cannot be chosen for a cluster, which has its own", "leave out one of the two")
