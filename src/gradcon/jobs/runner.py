"""Gives jobs to workers and keeps each outcome as soon as it arrives.

A job that raises an exception, or whose worker dies, is tried again after all others, and by itself if it is uncertain
which job killed the worker.  If it fails again, it is reported; it never stops the others.  Jobs are taken from their
source one at a time, a few ahead of the workers, so that the next ones are made (their inputs hashed) while the workers
are busy.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sized
from dataclasses import dataclass, field, replace

from gradcon.jobs.job import Job, Outcome
from gradcon.jobs.processes import LocalPool
from gradcon.jobs.store import Store
from gradcon.jobs.tally import Tally
from gradcon.jobs.workers import Pool, Returned, WarmUp, Workers

RETRIES = 1


@dataclass
class Outcomes:
    """How a run went: `outcomes[job]` is a job's outcome, or None if it failed."""

    outcomes: dict[str, Outcome] = field(default_factory=dict)  # by key; without their files, which the store has
    failures: dict[str, str] = field(default_factory=dict)  # by key: the reason, in a sentence
    computed: int = 0
    reused: int = 0
    work_seconds: float = 0.0  # time spent in the jobs, summed over the workers
    wall_seconds: float = 0.0  # time for which there were workers, multiplied by their number

    def __getitem__(self, job: Job) -> Outcome | None:
        return self.outcomes.get(job.key)

    def add(self, other: Outcomes) -> None:
        self.outcomes |= other.outcomes
        self.failures |= other.failures
        for name in ("computed", "reused", "work_seconds", "wall_seconds"):
            setattr(self, name, getattr(self, name) + getattr(other, name))


def run(
    jobs: Iterable[Job],
    store: Store,
    *,
    pool: Pool | None = None,
    workers: int | None = None,
    warm_up: WarmUp | None = None,
    tally: Tally | None = None,
    total: int | None = None,
    done: Outcomes | None = None,
) -> Outcomes:
    """Do the jobs that the store does not hold yet; equal jobs are done once.

    Parameters
    ----------
    jobs : iterable of Job
        In the order in which they are handed out.  It may be a generator, which is asked for the next job while the
        workers are busy.
    store : Store
    pool : Pool, optional
        Where the jobs are done; by default on this machine.
    workers : int, optional
        How many processes to use if no pool is given; by default one for each core.  They share the cores.
    warm_up : callable, optional
        Called in one process on this machine before the others start, to compile the code that all of them use.
    tally : Tally, optional
        Shows the progress.
    total : int, optional
        How many jobs there are, if `jobs` has no length.
    done : Outcomes, optional
        Filled in and returned; for callers that want to know what was done even if an error stops the run.
    """
    pool = pool or LocalPool(workers)
    count = len(jobs) if isinstance(jobs, Sized) else total if total is not None else pool.size
    done = done or Outcomes()
    keeper = _Keeper(store, done, tally or Tally())
    alone: list[Job] = []
    with keeper.tally.counting(jobs if isinstance(jobs, Sized) else count, pool.size):
        with pool.workers(count, warm_up) as crew:
            _work(keeper.missing(jobs, alone), crew, keeper)
        if alone:
            with pool.workers(len(alone), warm_up, alone=True) as crew:
                _work(iter(alone), crew, keeper)
    return done


@dataclass
class _Keeper:
    """Knows which jobs are done, and keeps the outcomes that come back from the workers."""

    store: Store
    done: Outcomes
    tally: Tally

    def missing(self, jobs: Iterable[Job], alone: list[Job]) -> Iterator[Job | None]:
        """Yield each job that has to be done, and None for any other; jobs for later are appended to `alone`."""
        seen: set[str] = set()
        for job in jobs:
            if job.key in seen:
                self.tally.found(job)
                yield None
                continue
            seen.add(job.key)
            kept = self.store.load(job)
            if kept is not None:
                self.done.outcomes[job.key] = kept
                self.done.reused += 1
                self.tally.found(job)
            elif job.alone:
                alone.append(job)
            yield job if kept is None and not job.alone else None

    def take(self, job: Job, outcome: Outcome) -> None:
        if job.changed is not None and (why := job.changed()) is not None:
            return self.fail(job, why)
        self.store.save(job, outcome)
        self.done.outcomes[job.key] = replace(outcome, files={})
        self.done.computed += 1
        self.done.work_seconds += outcome.seconds
        self.tally.finished(job)

    def fail(self, job: Job, why: str) -> None:
        self.done.failures[job.key] = why
        self.tally.finished(job, failed=True)


def _work(source: Iterator[Job | None], crew: Workers, keeper: _Keeper) -> None:
    """Hand out the jobs of the source until it is exhausted and all of them have come back."""
    queue = _Queue()
    exhausted, started = False, 0.0
    while True:
        # Give workers their next job before they need it, but hold back the last jobs so that an idle worker gets them.
        while crew.room(ahead=len(queue.ready) > crew.size) and (job := queue.next(exhausted)) is not None:
            started = started or time.perf_counter()
            keeper.tally.begun()
            crew.hand_out(job)
        if not exhausted and len(queue.ready) <= crew.size:  # keep one more at hand
            try:
                job = next(source)
            except StopIteration:
                exhausted = True
                continue
            if job is not None:
                queue.ready.append(job)
            timeout: float | None = 0.0
        elif queue:
            timeout = None
        else:
            break
        for back in crew.returned(timeout):
            if back.outcome is not None:
                queue.done(back)
                keeper.take(back.job, back.outcome)
            elif (why := queue.failed(back)) is not None:
                keeper.fail(back.job, why)
    if started:
        keeper.done.wall_seconds += (time.perf_counter() - started) * crew.size


class _Queue:
    """Jobs in the order in which they run.  A failed job runs once more, after all others; a suspect runs alone."""

    def __init__(self) -> None:
        self.ready, self.again = deque[Job](), deque[Job]()
        self.failures, self.suspects = Counter[str](), set[str]()
        self.in_flight: set[str] = set()

    def __bool__(self) -> bool:
        return bool(self.ready or self.again or self.in_flight)

    def next(self, last: bool) -> Job | None:
        """Return the next job to hand out, if any; `last` says that no new ones will come."""
        waiting = self.ready or (self.again if last else None)
        if not waiting or self.in_flight & self.suspects or (self.in_flight and waiting[0].key in self.suspects):
            return None
        job = waiting.popleft()
        self.in_flight.add(job.key)
        return job

    def done(self, back: Returned) -> None:
        self.in_flight.remove(back.job.key)

    def failed(self, back: Returned) -> str | None:
        """Queue a job that has no outcome again, or return the reason why it is given up."""
        job = back.job
        self.in_flight.remove(job.key)
        if back.failure is None:
            self.ready.appendleft(job)
            return None
        if back.suspect and job.key not in self.suspects:  # it was not alone, so another job may be to blame
            self.suspects.add(job.key)
        else:
            self.failures[job.key] += 1
            if back.suspect or self.failures[job.key] > RETRIES:
                return back.failure
        self.again.append(job)
        return None
