"""Runs jobs in processes of this machine, keeps each outcome as soon as it is there.

A job that raises is reported and stops no other.  If a worker process dies (out of memory, killed), the pool of its
colleagues is lost with it: whatever was in flight is then tried again one by one, each in a process of its own, so
that only the job that kills its process is given up.  If this process dies, its workers notice and leave.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from gradcon.errors import InputError
from gradcon.io.results import versions
from gradcon.jobs.display import Display, Quiet
from gradcon.jobs.job import Job, Outcome
from gradcon.jobs.store import Store

AHEAD = 2  # jobs handed out for each worker: one to do, one at hand when it is done


@dataclass
class Report:
    """How a run went."""

    outcomes: dict[str, Outcome] = field(default_factory=dict)  # by key
    failures: dict[str, str] = field(default_factory=dict)  # by key: why, in a sentence
    computed: int = 0
    reused: int = 0
    work_seconds: float = 0.0  # spent in the jobs, added up over the workers
    wall_seconds: float = 0.0  # while the workers were there, times their number

    def __getitem__(self, job: Job) -> Outcome | None:
        return self.outcomes.get(job.key)

    def add(self, other: Report) -> None:
        self.outcomes |= other.outcomes
        self.failures |= other.failures
        for name in ("computed", "reused", "work_seconds", "wall_seconds"):
            setattr(self, name, getattr(self, name) + getattr(other, name))


def run(
    jobs: Iterable[Job],
    store: Store,
    *,
    workers: int | None = None,
    warm_up: Callable[[], object] | None = None,
    display: Display | None = None,
) -> Report:
    """Do the jobs that the store does not hold yet; equal ones once.

    Parameters
    ----------
    jobs : iterable of Job
        In the order in which they are handed out.
    store : Store
    workers : int, optional
        Processes; by default one for each core.  The cores are shared out among them.
    warm_up : callable, optional
        Called in one worker before all else: compiles what the others then find compiled.
    display : Display, optional
        Told how it goes.
    """
    workers = workers or cores()
    display = display or Quiet()
    report = Report()
    pending: dict[str, Job] = {}
    for job in jobs:
        if job.key in report.outcomes or job.key in pending:
            continue
        kept = store.load(job)
        if kept is None:
            pending[job.key] = job
        else:
            report.outcomes[job.key] = kept
    report.reused = len(report.outcomes)
    with display.showing(list(pending.values()), report.reused, workers):
        shared = [job for job in pending.values() if not job.alone]
        alone = [job for job in pending.values() if job.alone]
        for batch, size in ((shared, min(workers, len(shared))), (alone, 1)):
            if batch:
                _run_in_pools(batch, size, _Keeper(store, report, display), warm_up)
    return report


def cores() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass
class _Keeper:
    """Takes what comes back from the workers."""

    store: Store
    report: Report
    display: Display

    def take(self, job: Job, future: Future[Outcome]) -> None:
        """Keep a finished job or note its failure; a broken pool is the caller's business."""
        try:
            outcome = future.result()
        except BrokenProcessPool:
            raise
        except Exception as error:  # whatever a job raises is that job's failure
            self.fail(job, _sentence(error))
            return
        self.store.save(job, outcome)
        self.report.outcomes[job.key] = outcome
        self.report.computed += 1
        self.report.work_seconds += outcome.seconds
        self.display.finished(job)

    def fail(self, job: Job, why: str) -> None:
        self.report.failures[job.key] = why
        self.display.finished(job, why)


def _run_in_pools(jobs: list[Job], workers: int, keeper: _Keeper, warm_up: Callable[[], object] | None) -> None:
    start = time.perf_counter()
    waiting, suspects = deque(jobs), deque[Job]()
    while waiting or suspects:
        if suspects:
            job = suspects.popleft()
            if _run_in_pool(deque([job]), 1, workers, keeper, None):
                keeper.fail(job, "its process died twice: killed, or out of memory; use fewer workers.")
        else:
            suspects.extend(_run_in_pool(waiting, workers, workers, keeper, warm_up))
    keeper.report.wall_seconds += (time.perf_counter() - start) * workers


def _run_in_pool(
    waiting: deque[Job], workers: int, shares: int, keeper: _Keeper, warm_up: Callable[[], object] | None
) -> list[Job]:
    """Work until nothing is waiting, or the pool breaks; then return the jobs that were in flight."""
    threads = max(1, cores() // shares)
    context = multiprocessing.get_context("spawn")  # a fork would copy the threads' locks in whatever state
    before = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_start_worker, initargs=(threads,))
    in_flight: dict[Future[Outcome], Job] = {}
    try:
        if warm_up is not None:
            with _interrupts_held():
                warming = pool.submit(warm_up)
            warming.result()
        while waiting or in_flight:
            while waiting and len(in_flight) < AHEAD * workers:
                with _interrupts_held():
                    in_flight[pool.submit(_do, waiting[0])] = waiting[0]
                waiting.popleft()
            done, _ = wait(in_flight, return_when=FIRST_COMPLETED)
            for future in done:
                keeper.take(in_flight[future], future)
                del in_flight[future]
        pool.shutdown()
    except BrokenProcessPool:
        pool.shutdown(wait=False)
        for future in [future for future in in_flight if future.done() and future.exception() is None]:
            keeper.take(in_flight.pop(future), future)
        if not in_flight and waiting:  # it broke before a job was started
            return [waiting.popleft()]
    except BaseException:  # Ctrl-C: what is in flight is lost, what is kept is kept
        pool.shutdown(wait=False, cancel_futures=True)
        for child in set(multiprocessing.active_children()) - before:
            child.kill()
        raise
    return list(in_flight.values())


def _start_worker(threads: int) -> None:
    """In a new worker: take a share of the cores, leave Ctrl-C to the parent, and leave when it is gone."""
    os.environ["NUMBA_NUM_THREADS"] = str(threads)  # read when numba is imported, with the first job
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def leave() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=leave, daemon=True).start()


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Ctrl-C comes after this block: a worker that is only being started would answer it with a traceback."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _do(job: Job) -> Outcome:
    start = time.perf_counter()
    outcome = job()
    return replace(outcome, seconds=time.perf_counter() - start, versions=versions())


def _sentence(error: Exception) -> str:
    if isinstance(error, InputError):
        return str(error)
    where = traceback.extract_tb(error.__traceback__)
    cause = error.__cause__  # the worker's own traceback, as text
    place = f" ({where[-1].filename}:{where[-1].lineno})" if where and cause is None else ""
    return f"{type(error).__name__}: {error}{place}"
