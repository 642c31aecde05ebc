"""Where the work is done: here, or on a cluster if one is named."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from gradcon.jobs.processes import ThisMachine
from gradcon.jobs.workers import Machine


@contextmanager
def machine_for(workers: int | None = None, scheduler: str | None = None) -> Iterator[Machine]:
    """Processes of this machine; or the cluster of a scheduler, to which this is connected meanwhile."""
    if scheduler is None:
        yield ThisMachine(workers)
        return
    from gradcon.jobs.cluster import Cluster

    with Cluster(scheduler) as cluster:
        yield cluster
