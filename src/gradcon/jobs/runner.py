"""Has jobs done by workers, keeps each outcome as soon as it is there.

A job that raises, or whose worker dies, is tried again after all others (by itself, where it is not sure whose fault it
was); if it fails again it is reported, and stops no other.  Jobs are taken one at a time and a few ahead of the
workers, so that what it takes to make one (hashing its inputs) is done while they work.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sized
from dataclasses import dataclass, field, replace

from gradcon.jobs.display import Display, Quiet
from gradcon.jobs.job import Job, Outcome
from gradcon.jobs.processes import LocalPool
from gradcon.jobs.store import Store
from gradcon.jobs.workers import Pool, Returned, WarmUp, Workers

RETRIES = 1


@dataclass
class Outcomes:
    """How a run went."""

    outcomes: dict[str, Outcome] = field(default_factory=dict)  # by key; without their files, which the store has
    failures: dict[str, str] = field(default_factory=dict)  # by key: why, in a sentence
    computed: int = 0
    reused: int = 0
    work_seconds: float = 0.0  # spent in the jobs, added up over the workers
    wall_seconds: float = 0.0  # while the workers were there, times their number

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
    display: Display | None = None,
    total: int | None = None,
    report: Outcomes | None = None,
) -> Outcomes:
    """Do the jobs that the store does not hold yet; equal ones once.

    Parameters
    ----------
    jobs : iterable of Job
        In the order in which they are handed out.  May be a generator: it is asked for the next one while the workers
        are busy.
    store : Store
    pool : Pool, optional
        Where the work is done; by default here.
    workers : int, optional
        Processes here, where no pool is given; by default one for each core.  The cores are shared out among them.
    warm_up : callable, optional
        Called in one process here before all else: compiles what the others then find compiled.
    display : Display, optional
        Told how it goes.
    total : int, optional
        How many jobs there are, where `jobs` has no length.
    report : Outcomes, optional
        What is filled in and returned; for who wants to know of it even when the run is stopped by an error.
    """
    pool = pool or LocalPool(workers)
    count = len(jobs) if isinstance(jobs, Sized) else total if total is not None else pool.size
    report = report or Outcomes()
    keeper = _Keeper(store, report, display or Quiet())
    alone: list[Job] = []
    with keeper.display.showing(jobs if isinstance(jobs, Sized) else count, pool.size):
        with pool.workers(count, warm_up) as crew:
            _work(keeper.missing(jobs, alone), crew, keeper)
        if alone:
            with pool.workers(len(alone), warm_up, alone=True) as crew:
                _work(iter(alone), crew, keeper)
    return report


@dataclass
class _Keeper:
    """Knows what is done, and takes what comes back from the workers."""

    store: Store
    report: Outcomes
    display: Display

    def missing(self, jobs: Iterable[Job], alone: list[Job]) -> Iterator[Job | None]:
        """The jobs that are to be done, None for each that is not; `alone` gets those for later."""
        seen: set[str] = set()
        for job in jobs:
            if job.key in seen:
                self.display.found(job)
                yield None
                continue
            seen.add(job.key)
            kept = self.store.load(job)
            if kept is not None:
                self.report.outcomes[job.key] = kept
                self.report.reused += 1
                self.display.found(job)
            elif job.alone:
                alone.append(job)
            yield job if kept is None and not job.alone else None

    def take(self, job: Job, outcome: Outcome) -> None:
        if job.changed is not None and (why := job.changed()) is not None:
            return self.fail(job, why)
        self.store.save(job, outcome)
        self.report.outcomes[job.key] = replace(outcome, files={})
        self.report.computed += 1
        self.report.work_seconds += outcome.seconds
        self.display.finished(job)

    def fail(self, job: Job, why: str) -> None:
        self.report.failures[job.key] = why
        self.display.finished(job, why)


def _work(source: Iterator[Job | None], crew: Workers, keeper: _Keeper) -> None:
    """Until nothing is left of the source, and all of it has come back."""
    queue = _Queue()
    exhausted, started = False, 0.0
    while True:
        # Nobody has to wait for its next job; but the last ones are kept for who is free first, or they would be with
        # one that is long busy.
        while crew.room(ahead=len(queue.ready) > crew.size) and (job := queue.next(exhausted)) is not None:
            started = started or time.perf_counter()
            keeper.display.begun()
            crew.hand_out(job)
        if not exhausted and len(queue.ready) <= crew.size:  # one more at hand
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
        keeper.report.wall_seconds += (time.perf_counter() - started) * crew.size


class _Queue:
    """Jobs in the order of their turn; those that failed come once more after all others, suspects by themselves."""

    def __init__(self) -> None:
        self.ready, self.again = deque[Job](), deque[Job]()
        self.failures, self.suspects = Counter[str](), set[str]()
        self.in_flight: set[str] = set()

    def __bool__(self) -> bool:
        return bool(self.ready or self.again or self.in_flight)

    def next(self, last: bool) -> Job | None:
        """The job whose turn it is now; `last` says that no new ones will come."""
        waiting = self.ready or (self.again if last else None)
        if not waiting or self.in_flight & self.suspects or (self.in_flight and waiting[0].key in self.suspects):
            return None
        job = waiting.popleft()
        self.in_flight.add(job.key)
        return job

    def done(self, back: Returned) -> None:
        self.in_flight.remove(back.job.key)

    def failed(self, back: Returned) -> str | None:
        """Put a job that has no outcome where it belongs; or say why it is given up."""
        job = back.job
        self.in_flight.remove(job.key)
        if back.failure is None:
            self.ready.appendleft(job)
            return None
        if back.suspect and job.key not in self.suspects:  # it was not by itself: another may be to blame
            self.suspects.add(job.key)
        else:
            self.failures[job.key] += 1
            if back.suspect or self.failures[job.key] > RETRIES:
                return back.failure
        self.again.append(job)
        return None
