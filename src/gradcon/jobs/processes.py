"""Workers that are processes on this machine, each with a pipe of its own, so that the death of one affects no other.

A process does the jobs in its pipe one after the other, and says when it begins each.  If it dies, the job that it had
begun is to blame, and the jobs behind that one are handed out again.  If the process that hands out the jobs dies, the
pipes close and its workers leave.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import cycle, repeat
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from queue import SimpleQueue
from typing import cast

from gradcon.jobs.job import Job
from gradcon.jobs.workers import (
    AHEAD,
    Answer,
    Failure,
    Gradcon,
    Returned,
    WarmUp,
    Workers,
    do,
    sent,
    sentence,
    take_back,
)

DIED = "its process died: it was killed, or ran out of memory; use fewer workers."
MOST_STILLBORN = 4  # processes in a row that die before they begin a job; then the job is given up
LEAVE_SECONDS = 10.0  # to wait for a killed process
READY, BEGUN = b"ready", b"begun"  # what a process sends besides pickled answers


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class LocalPool:
    """Processes on this machine, by default one for each core.  They share the cores.

    `environments` are variables, for instance one set for each GPU, that the processes get in turn.
    """

    def __init__(self, workers: int | None = None, environments: Sequence[Mapping[str, str]] = ()) -> None:
        self.size = workers or cores()
        self.environments = environments

    def workers(self, jobs: int, warm_up: WarmUp | None = None, alone: bool = False) -> Processes:
        return Processes(1 if alone else max(1, min(self.size, jobs)), warm_up, self.environments)


class Processes(Workers):
    """A fixed number of processes, each started when there is a job for it.

    The first process calls `warm_up` before it does a job, and the others start after that, so that they find its
    compiled code in the cache.  An error in `warm_up` is ignored, because the jobs run into it too and report it.
    """

    def __init__(
        self, size: int, warm_up: WarmUp | None = None, environments: Sequence[Mapping[str, str]] = ()
    ) -> None:
        self.size = size
        self._warm_up = warm_up  # None when it is done
        self._asked_by = Gradcon.here()
        shares = cycle(environments) if environments and size > 1 else repeat({})  # a single one needs no share
        self._processes = [
            _Process({"NUMBA_NUM_THREADS": str(max(1, cores() // size)), **share})
            for _, share in zip(range(size), shares, strict=False)
        ]
        self._back: list[Returned] = []

    def room(self, ahead: bool = True) -> bool:
        return any(len(process.jobs) < (AHEAD if ahead else 1) for process in self._open())

    def hand_out(self, job: Job) -> None:
        try:
            content = pickle.dumps(sent(job))
        except Exception as error:  # of any kind: the job holds something that cannot be sent
            self._back.append(Returned(job, failure=sentence(error)))
            return
        process = min(self._open(), key=lambda process: len(process.jobs))
        if process.pipe is None:
            process.start(self._asked_by, self._warm_up)
        process.hand_out(job, content)

    def returned(self, timeout: float | None) -> list[Returned]:
        pipes = {process.pipe: process for process in self._processes if process.pipe is not None}
        for pipe in wait(list(pipes), 0 if self._back else timeout):
            self._listen(pipes[cast(Connection, pipe)])
        back, self._back = self._back, []
        return back

    def stop(self) -> None:
        children = [process.child for process in self._processes if process.child is not None]
        for process in self._processes:
            process.kill()
        for child in children:
            child.join(LEAVE_SECONDS)

    def _open(self) -> list[_Process]:
        return self._processes if self._warm_up is None else self._processes[:1]

    def _listen(self, process: _Process) -> None:
        """Take one message from a process, or notice by the end of its pipe that it died."""
        assert process.pipe is not None
        try:
            message = process.pipe.recv_bytes()
        except (EOFError, OSError):  # also if half a message was sent
            self._bury(process)
            return
        if message == READY:
            self._warm_up = None
        elif message == BEGUN:
            process.begun, process.stillborn = True, 0
        else:
            answer: Answer = pickle.loads(message)
            process.begun = False
            self._back.append(take_back(process.jobs.popleft(), answer))
            if isinstance(answer, Failure) and answer.lost_gpu:  # all other jobs would fail there too
                self._bury(process)

    def _bury(self, process: _Process) -> None:
        """Take back the jobs of a process that died or lost its GPU; another one starts with the next job."""
        process.kill()
        if process.begun or process.stillborn >= MOST_STILLBORN:
            self._back.append(Returned(process.jobs.popleft(), failure=DIED))
            process.begun, process.stillborn = False, 0
        self._back += [Returned(job) for job in process.jobs]
        process.jobs.clear()
        if process is self._processes[0]:
            self._warm_up = None  # one that kills its process is not tried again


class _Process:
    """A process if there is one, its pipe, and the jobs that it holds, oldest first."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.environment = dict(environment)  # kept, so that a process that is started again works where this one did
        self.child: SpawnProcess | None = None
        self.pipe: Connection | None = None
        self.jobs: deque[Job] = deque()
        self.begun = False  # whether the first of them has begun
        self.stillborn = 0  # processes started here in a row that have not begun a job

    def start(self, asked_by: Gradcon, warm_up: WarmUp | None) -> None:
        context = multiprocessing.get_context("spawn")  # a fork would copy the locks of other threads in any state
        with _interrupts_held():
            pipe, other_end = context.Pipe()
            child = context.Process(target=_serve, args=(other_end, self.environment, asked_by, warm_up))
            child.start()
            other_end.close()  # only the process holds it now, so that its death closes the pipe
            self.child, self.pipe = child, pipe
        self.stillborn += 1

    def hand_out(self, job: Job, content: bytes) -> None:
        assert self.pipe is not None
        self.jobs.append(job)
        with suppress(OSError):  # the process has just died: the end of the pipe will tell
            self.pipe.send_bytes(content)

    def kill(self) -> None:
        if self.pipe is not None:
            self.pipe.close()
        if self.child is not None:
            self.child.kill()
        self.child = self.pipe = None


def _serve(pipe: Connection, environment: dict[str, str], asked_by: Gradcon, warm_up: WarmUp | None) -> None:
    """Run in a new process: do the jobs that come through the pipe, until it is killed."""
    os.environ.update(environment)  # Numba and CUDA read it when they are first used, with the first job
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent
    contents: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_receive, args=(pipe, contents), daemon=True).start()
    if warm_up is not None:
        with suppress(Exception):
            warm_up()
    with suppress(OSError):  # the parent is gone
        pipe.send_bytes(READY)
        while True:
            content = contents.get()
            pipe.send_bytes(BEGUN)
            pipe.send_bytes(_answer(content, asked_by))


def _receive(pipe: Connection, contents: SimpleQueue[bytes]) -> None:
    """Queue what comes through the pipe, in a thread, so that the parent never waits; leave when the parent is gone."""
    try:
        while True:
            contents.put(pipe.recv_bytes())
    except (EOFError, OSError):
        os._exit(1)  # whatever the process is doing


def _answer(content: bytes, asked_by: Gradcon) -> bytes:
    try:
        return pickle.dumps(do(pickle.loads(content), asked_by))
    except Exception as error:  # a job that cannot be imported here, or an outcome that cannot be sent
        return pickle.dumps(Failure(sentence(error)))


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Delay Ctrl-C until after this block: a process that is just starting would answer it with a traceback."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
