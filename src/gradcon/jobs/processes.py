"""Workers that are processes of this machine, each in a pool of its own: the death of one is no business of the others.

Of the jobs that a dead process held, the one that it was doing is to blame; those behind it are innocent.
If the process that hands out the jobs dies, its workers notice and leave.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import replace
from queue import Empty, SimpleQueue
from typing import Any

from gradcon.errors import DeviceError
from gradcon.jobs.job import Job, Outcome
from gradcon.jobs.workers import AHEAD, Gradcon, Returned, WarmUp, Workers, do, failed

DIED = "its process died: killed, or out of memory; use fewer workers."
MOST_STILLBORN = 4  # processes in one place that died before they began anything: then it will not get better


def cores() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class LocalPool:
    """Processes here; by default one for each core.  The cores are shared out among them."""

    def __init__(self, workers: int | None = None) -> None:
        self.size = workers or cores()

    def workers(self, jobs: int, warm_up: WarmUp | None = None, alone: bool = False) -> Processes:
        return Processes(1 if alone else max(1, min(self.size, jobs)), warm_up)


class Processes(Workers):
    """So many processes, each started when there is something for it to do.

    `warm_up` is called in the first before any job, and before there are others: it compiles what they then find
    compiled.
    """

    def __init__(self, size: int, warm_up: WarmUp | None = None) -> None:
        self.size = size
        self._threads = max(1, cores() // size)
        self._asked_by = Gradcon.here()
        self._ended: SimpleQueue[tuple[_Process, Future[Any]]] = SimpleQueue()
        self._warm_up = warm_up
        self._warming: Future[Any] | None = None
        self._crew = [_Process(self._threads) for _ in range(size)]
        self._buried: list[Returned] = []

    def room(self, ahead: bool = True) -> bool:
        return any(len(process.jobs) < (AHEAD if ahead else 1) for process in self._open())

    def hand_out(self, job: Job) -> None:
        while True:
            process = min(self._open(), key=lambda one: len(one.jobs))
            try:
                if self._warm_up is not None:
                    self._warming = self._submit(process, self._warm_up)
                    self._warm_up = None
                self._submit(process, _do, replace(job, changed=None), self._asked_by, job=job)
                return
            except BrokenProcessPool:  # it died with nothing to do, or this is known before its last job came back
                self._bury(process)

    def returned(self, timeout: float | None) -> list[Returned]:
        found, self._buried = self._buried, []
        try:
            process, future = self._ended.get(timeout=0 if found else timeout)
        except Empty:
            return found
        if future is self._warming:
            if isinstance(future.exception(), BrokenProcessPool):
                self._bury(process)
            else:
                future.result()
                self._warming = None  # the others may start
        elif future in process.jobs:  # or its process was buried, and this with it
            if isinstance(future.exception(), BrokenProcessPool):
                self._bury(process)
            else:
                self._buried.append(process.taken(process.jobs.pop(future), future))
                process.returned += 1
                if process.lost_gpu:  # it will fail for all others too
                    self._bury(process)
        found, self._buried = found + self._buried, []
        return found

    def stop(self, at_once: bool) -> None:
        if not at_once:
            with ThreadPoolExecutor(self.size) as together:
                list(together.map(lambda process: process.pool.shutdown(), self._crew))
            return
        for process in self._crew:
            process.kill()

    def _open(self) -> list[_Process]:
        return self._crew[:1] if self._warming is not None or self._warm_up is not None else self._crew

    def _submit(self, process: _Process, function: Any, *arguments: Any, job: Job | None = None) -> Future[Any]:
        with _interrupts_held():
            future = process.submit(function, *arguments)
            if job is not None:
                process.jobs[future] = job
        future.add_done_callback(lambda ended: self._ended.put((process, ended)))
        return future

    def _bury(self, process: _Process) -> None:
        """Replace a process that died or lost its GPU; what it had finished counts, the rest is to be done again.

        The job that it was doing is to blame for its death, and the first that failed for the loss of a GPU.
        """
        process.kill()  # if it lost its GPU, it is still there
        begun = process.begun() - process.returned  # of the jobs it holds, which it does in their order
        stillborn = 0 if process.begun() else process.stillborn_before + 1
        for place, (future, job) in enumerate(process.jobs.items()):
            lost = not future.done() or future.cancelled() or isinstance(future.exception(), BrokenProcessPool)
            if not lost and not (process.lost_gpu and isinstance(future.exception(), DeviceError)):
                self._buried.append(process.taken(job, future))
            elif (lost and place < begun and not process.lost_gpu) or stillborn >= MOST_STILLBORN:
                self._buried.append(Returned(job, failure=DIED))
                stillborn = 0
            else:
                self._buried.append(Returned(job))
        process.jobs.clear()
        if self._warming is not None and process is self._crew[0]:
            self._warming = None
        self._crew[self._crew.index(process)] = _Process(self._threads, stillborn)


class _Process:
    """A pool of one, and the jobs it holds, oldest first."""

    def __init__(self, threads: int, stillborn_before: int = 0) -> None:
        context = multiprocessing.get_context("spawn")  # a fork would copy the threads' locks in whatever state
        self._begins = context.Semaphore(0)  # released for each job when it is begun
        self._begun = 0
        self.pool = ProcessPoolExecutor(1, mp_context=context, initializer=_start, initargs=(threads, self._begins))
        self.jobs: dict[Future[Outcome], Job] = {}
        self.returned = 0  # jobs that it holds no more
        self.lost_gpu = False
        self.stillborn_before = stillborn_before  # in its place, one after the other

    def submit(self, function: Any, *arguments: Any) -> Future[Any]:
        """As the pool does it, but a process that dies at a bad moment is noticed too.

        For that, two things inside of the pool are needed; a Python that has them no more is without this care.
        """
        pool: Any = self.pool
        future: Future[Any] = pool.submit(function, *arguments)
        # One that dies while it sends leaves a part of a result, for the rest of which the pool waits while anybody
        # could send it: by now the process has its own end of the pipe, and this one's is needed no more.
        writer = getattr(getattr(pool, "_result_queue", None), "_writer", None)
        if writer is not None and os.name == "posix":  # elsewhere a process fetches its end only when it runs
            writer.close()
        # The pool tells all that wait when it breaks, and does not see who comes at that moment.
        if getattr(pool, "_broken", False):
            raise BrokenProcessPool
        return future

    def begun(self) -> int:
        """How many jobs it has begun until now."""
        while self._begins.acquire(block=False):
            self._begun += 1
        return self._begun

    def taken(self, job: Job, future: Future[Outcome]) -> Returned:
        """A job that it has ended."""
        error = future.exception()
        self.lost_gpu = self.lost_gpu or isinstance(error, DeviceError)
        return Returned(job, future.result()) if error is None else failed(job, error)

    def kill(self) -> None:
        """At once, whatever it is doing.  No Python before 3.14 lets a pool be asked for this."""
        children = list((getattr(self.pool, "_processes", None) or {}).values())
        self.pool.shutdown(wait=False, cancel_futures=True)
        for child in children:
            child.kill()


_begins: Any = None  # in a worker: the semaphore of its _Process


def _do(job: Job, asked_by: Gradcon) -> Outcome:
    """In a worker."""
    _begins.release()
    return do(job, asked_by)


def _start(threads: int, begins: Any) -> None:
    """In a new worker: take a share of the cores, leave Ctrl-C to the parent, and leave when it is gone."""
    global _begins  # noqa: PLW0603
    _begins = begins
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
