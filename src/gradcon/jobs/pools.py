"""Where the work is done: here, or on a cluster if one is named."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from gradcon.errors import InputError
from gradcon.jobs.processes import LocalPool
from gradcon.jobs.workers import Pool


@contextmanager
def pool_for(workers: int | None = None, scheduler: str | None = None) -> Iterator[Pool]:
    """Processes of this machine; or the cluster of a scheduler, to which this is connected meanwhile."""
    if scheduler is None:
        yield LocalPool(workers)
        return
    from gradcon.jobs.cluster import Cluster

    with Cluster(scheduler) as cluster:
        yield cluster


def check_workers(workers: int | None, scheduler: str | None) -> None:
    """Refuse an absurd number of them, and one where a cluster has its own."""
    if workers is not None and not 1 <= workers <= 1024:
        raise InputError(f"workers: {workers} is not a number of processes from 1 to 1024.")
    if workers is not None and scheduler is not None:
        raise InputError("workers: are the cluster's own where a scheduler is given; leave one of the two out.")
