"""The workers of a running Dask cluster.  This module connects to it; it starts and serves nothing itself.

If a worker dies, the scheduler gives its jobs to others; it gives a job up after several workers have died with it.
Workers may come and go.  They send their outcomes back, and only this process writes them.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Any

from gradcon.errors import InputError
from gradcon.jobs.job import Job
from gradcon.jobs.scheduler import connect
from gradcon.jobs.workers import (
    AHEAD,
    Answer,
    Failure,
    Gradcon,
    OtherGradconError,
    Returned,
    WarmUp,
    Workers,
    do,
    sent,
    sentence,
    take_back,
)

ANSWER_SECONDS = 10.0  # for workers to say which gradcon they run
WAIT_FOR_WORKERS_SECONDS = 30.0  # at the start
WITHOUT_WORKERS_SECONDS = 60.0  # later on: a worker that died may be restarted
FETCHES = 4  # outcomes that are fetched at the same time
LOOK_SECONDS = 1.0  # between two counts of the workers
LEAVE_SECONDS = 60.0  # after which a worker whose GPU failed leaves, even without being told to


class Cluster:
    """A connection to a scheduler, by its address (tcp://host:port) or its file.  Use it in a `with` statement."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._levels: dict[str, int] = {}
        self.client = connect(address)
        self._hush()
        try:
            self.size = self._wait_for_workers()
            self._refuse_other_gradcon()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        with suppress(Exception):  # the connection may be lost already
            self.client.close(timeout=2)
        for name, level in self._levels.items():
            logging.getLogger(name).setLevel(level)

    def _hush(self) -> None:
        """Silence the tracebacks that Dask logs when a connection is lost; `lost` says it in a sentence."""
        for name in ("distributed", "distributed.client", "distributed.utils", "tornado.application"):
            self._levels[name] = logging.getLogger(name).level
            logging.getLogger(name).setLevel(logging.CRITICAL)

    def workers(self, jobs: int, warm_up: WarmUp | None = None, alone: bool = False) -> ClusterWorkers:
        return ClusterWorkers(self, alone)  # without the warm-up: every machine compiles for itself

    def threads(self) -> int:
        """Return how many jobs the present workers do at once."""
        try:
            return sum(self.client.nthreads().values())
        except Exception as error:  # of many kinds, when the connection is lost
            raise self.lost() from error

    def lost(self) -> InputError:
        return InputError(
            self.address,
            "the connection to the scheduler is lost, but finished jobs are kept",
            "start the cluster again, then repeat the command",
        )

    def _wait_for_workers(self) -> int:
        until = time.monotonic() + WAIT_FOR_WORKERS_SECONDS
        while not (threads := self.threads()):
            if time.monotonic() > until:
                raise InputError(
                    self.address, "the scheduler has no workers", "start some: dask worker ADDRESS --nthreads 1"
                )
            time.sleep(0.1)
        return threads

    def _refuse_other_gradcon(self) -> None:
        """Compare with the workers that answer soon; every worker compares again before it does a job."""
        here, answers = Gradcon.here(), SimpleQueue[dict[str, Any]]()
        _in_a_thread(lambda: answers.put(self.client.run(_compare, here, on_error="return")))
        try:
            found = answers.get(timeout=ANSWER_SECONDS)
        except Empty:
            return
        for where, error in found.items():
            if isinstance(error, OtherGradconError):
                raise error
            if isinstance(error, ModuleNotFoundError | AttributeError | ImportError):
                raise InputError(
                    f"worker {where}", f"cannot load gradcon {here.version}", "install the same gradcon there"
                )


class ClusterWorkers(Workers):
    """The workers of a cluster; their number may change at any time."""

    def __init__(self, cluster: Cluster, alone: bool) -> None:
        self.cluster = cluster
        self.alone = alone
        self.size = 1 if alone else cluster.size
        self._asked_by = Gradcon.here()
        self._jobs: dict[Any, Job] = {}  # by future
        self._ended: SimpleQueue[tuple[Any, Answer | _LostGpu | BaseException]] = SimpleQueue()
        self._looked = time.monotonic()
        self._alone_since: float | None = None  # when it was first noticed that there are no workers
        self._handed_out = 0
        self._fetching = threading.Semaphore(FETCHES)

    def room(self, ahead: bool = True) -> bool:
        if time.monotonic() - self._looked > LOOK_SECONDS:
            self._look()
        return len(self._jobs) < (1 if self.alone else (AHEAD if ahead else 1) * self.size)

    def hand_out(self, job: Job) -> None:
        self._handed_out += 1
        # Other clients, and an earlier try of this job, must not have the same key.
        key = f"gradcon-{job.key}-{os.getpid()}-{self._handed_out}"
        future = self.cluster.client.submit(partial(_do, sent(job), self._asked_by), key=key, pure=False)
        self._jobs[future] = job
        future.add_done_callback(lambda ended: _in_a_thread(lambda: self._fetch(ended)))

    def returned(self, timeout: float | None) -> list[Returned]:
        try:
            future, ended = self._ended.get(timeout=LOOK_SECONDS if timeout is None else timeout)
        except Empty:
            if timeout is None:
                self._look()
            return []
        return [self._taken(self._jobs.pop(future), ended)]

    def stop(self) -> None:
        if self._jobs and self.cluster.client.status == "running":
            self.cluster.client.cancel(list(self._jobs))
        self._jobs.clear()

    def _fetch(self, future: Any) -> None:
        """Wait for an outcome as long as it takes: it may be large, or be computed again because its worker died."""
        with self._fetching:
            try:
                self._ended.put((future, future.result()))
            except BaseException as error:
                self._ended.put((future, error))

    def _taken(self, job: Job, ended: Answer | _LostGpu | BaseException) -> Returned:
        from distributed import CancelledError, KilledWorker

        if isinstance(ended, OtherGradconError) or not isinstance(ended, _LostGpu | BaseException):
            return take_back(job, ended)
        if isinstance(ended, _LostGpu):
            _in_a_thread(lambda: self.cluster.client.run(_leave, workers=[ended.worker], on_error="ignore"))
            return Returned(job, failure=str(ended.why))
        if isinstance(ended, KilledWorker):
            deaths = ended.allowed_failures + 1
            why = f"{deaths} workers in a row died while doing it: they were killed, or ran out of memory."
            return Returned(job, failure=why, suspect=True)  # another job in the same workers may have killed them
        if isinstance(ended, CancelledError) or self.cluster.client.status != "running":
            raise self.cluster.lost() from ended
        return Returned(job, failure=sentence(ended))  # it could not be sent, or could not be loaded there

    def _look(self) -> None:
        """Count the workers; raise an error if there have been none for too long."""
        threads = self.cluster.threads()
        self._looked = time.monotonic()
        if threads:
            self._alone_since = None
            self.size = 1 if self.alone else threads
            return
        self._alone_since = self._alone_since or self._looked
        if self._looked - self._alone_since > WITHOUT_WORKERS_SECONDS:
            raise InputError(
                self.cluster.address,
                "all workers are gone, but finished jobs are kept",
                "start some workers, then repeat the command",
            )


def _in_a_thread(function: Callable[[], object]) -> None:
    """Call a function in a thread that nobody waits for, because its answer may never come."""

    def quietly() -> None:
        with suppress(Exception):  # the connection is lost, which is noticed elsewhere
            function()

    threading.Thread(target=quietly, daemon=True).start()


def _compare(asked_by: Gradcon, dask_worker: Any = None) -> Exception | None:
    """Run in a worker, which Dask passes as `dask_worker`."""
    try:
        asked_by.refuse_other(f"worker {dask_worker.address}")
    except OtherGradconError as error:
        return error
    return None


@dataclass(frozen=True)
class _LostGpu:
    """What a worker sends instead of an outcome when its GPU has failed, and would fail for all later jobs too."""

    worker: str
    why: str


_leaving = threading.Event()  # set in a worker whose GPU has failed


def _do(job: Job, asked_by: Gradcon) -> Answer | _LostGpu:
    """Run in a worker, which may do several jobs at once, each in a thread and on its share of the cores."""
    import numba
    from distributed import get_worker

    if _leaving.is_set():
        time.sleep(2 * LEAVE_SECONDS)  # the worker ends before that, and the scheduler gives this job to another
    worker = get_worker()
    config: Any = numba.config  # read from the environment when numba is imported
    given = config.NUMBA_NUM_THREADS if os.environ.get("NUMBA_NUM_THREADS") else 1
    numba.set_num_threads(max(1, given // worker.state.nthreads))  # of this thread alone
    answer = do(job, asked_by, f"worker {worker.address}")
    if not (isinstance(answer, Failure) and answer.lost_gpu):
        return answer
    _leaving.set()
    timer = threading.Timer(LEAVE_SECONDS, _leave)
    timer.daemon = True
    timer.start()
    return _LostGpu(worker.address, answer.why)


def _leave() -> None:
    """Run in a worker whose GPU has failed, once that has been reported: its nanny starts a new process."""
    if _leaving.is_set():
        os._exit(1)
