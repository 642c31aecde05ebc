"""Workers of a Dask cluster that somebody else has started: nothing is started or served from here.

The scheduler gives the tasks of a worker that dies to others, and gives one up after several workers died with it.
Workers may come and go.  Each sends its outcomes back; this process alone writes them.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Any

from gradcon.errors import DeviceError, InputError
from gradcon.extras import install_extra
from gradcon.files import read_text
from gradcon.jobs.job import Job, Outcome
from gradcon.jobs.workers import AHEAD, Gradcon, OtherGradconError, Returned, WarmUp, Workers, do, failed

CONNECT_SECONDS = 10.0
WAIT_FOR_WORKERS_SECONDS = 30.0  # at the start
WITHOUT_WORKERS_SECONDS = 60.0  # later: one that died may be started again
FETCHES = 4  # outcomes on their way at once
LOOK_SECONDS = 1.0  # between looks at how many workers there are
LEAVE_SECONDS = 60.0  # until a worker whose GPU failed leaves, if nobody tells it to
_ADDRESS = re.compile(r"((tcp|tls|ws|wss|ucx)://)?([\w.-]+|\[[0-9a-fA-F:.]+\]):[0-9]{1,5}")


class Cluster:
    """A connection to the scheduler at an address (tcp://host:port), or of a scheduler file; use within `with`."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._levels: dict[str, int] = {}
        self.client = _connect(address)
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
        with suppress(Exception):  # of a connection that is lost already
            self.client.close(timeout=2)
        for name, level in self._levels.items():
            logging.getLogger(name).setLevel(level)

    def _hush(self) -> None:
        """What Dask reports of a lost connection, with tracebacks, is said here in a sentence."""
        for name in ("distributed", "distributed.client", "distributed.utils", "tornado.application"):
            self._levels[name] = logging.getLogger(name).level
            logging.getLogger(name).setLevel(logging.CRITICAL)

    def workers(self, jobs: int, warm_up: WarmUp | None = None, alone: bool = False) -> ClusterWorkers:
        return ClusterWorkers(self, alone)  # every worker compiles for itself, or finds it compiled

    def threads(self) -> int:
        """How many jobs the workers that are there now do at once."""
        try:
            return sum(self.client.nthreads().values())
        except Exception as error:  # of many kinds, while a connection is lost
            raise self.lost() from error

    def lost(self) -> InputError:
        return InputError(
            f"{self.address}: the connection to the scheduler is lost; what is finished is kept: start the cluster "
            "anew, and run it again."
        )

    def _wait_for_workers(self) -> int:
        until = time.monotonic() + WAIT_FOR_WORKERS_SECONDS
        while not (threads := self.threads()):
            if time.monotonic() > until:
                raise InputError(
                    f"{self.address}: the scheduler has no workers; start some: dask worker ADDRESS --nthreads 1."
                )
            time.sleep(0.1)
        return threads

    def _refuse_other_gradcon(self) -> None:
        """Of those that answer soon; each compares again before it does a job."""
        here, answers = Gradcon.here(), SimpleQueue[dict[str, Any]]()
        _in_a_thread(lambda: answers.put(self.client.run(_compare, here, on_error="return")))
        try:
            found = answers.get(timeout=CONNECT_SECONDS)
        except Empty:
            return
        for where, error in found.items():
            if isinstance(error, OtherGradconError):
                raise error
            if isinstance(error, ModuleNotFoundError | AttributeError | ImportError):
                raise InputError(
                    f"{where}: this worker cannot load gradcon {here.version}; install the same one there."
                )


class ClusterWorkers(Workers):
    """The workers of a cluster, however many there are at a time."""

    def __init__(self, cluster: Cluster, alone: bool) -> None:
        self.cluster = cluster
        self.alone = alone
        self.size = 1 if alone else cluster.size
        self._asked_by = Gradcon.here()
        self._jobs: dict[Any, Job] = {}  # by future
        self._ended: SimpleQueue[tuple[Any, Outcome | _LostGpu | BaseException]] = SimpleQueue()
        self._looked = time.monotonic()
        self._alone_since: float | None = None  # when it was first seen that there are no workers
        self._handed_out = 0
        self._fetching = threading.Semaphore(FETCHES)

    def room(self, ahead: bool = True) -> bool:
        if time.monotonic() - self._looked > LOOK_SECONDS:
            self._look()
        return len(self._jobs) < (1 if self.alone else (AHEAD if ahead else 1) * self.size)

    def hand_out(self, job: Job) -> None:
        self._handed_out += 1
        key = f"gradcon-{job.key}-{os.getpid()}-{self._handed_out}"  # no other client's, and not that of a first try
        future = self.cluster.client.submit(
            partial(_do, replace(job, changed=None), self._asked_by), key=key, pure=False
        )
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

    def stop(self, at_once: bool) -> None:
        if self._jobs and self.cluster.client.status == "running":
            self.cluster.client.cancel(list(self._jobs))
        self._jobs.clear()

    def _fetch(self, future: Any) -> None:
        """However long it takes: it may be large, the line slow, or it died with its worker and is done anew."""
        with self._fetching:
            try:
                self._ended.put((future, future.result()))
            except BaseException as error:
                self._ended.put((future, error))

    def _taken(self, job: Job, ended: Outcome | _LostGpu | BaseException) -> Returned:
        from distributed import CancelledError, KilledWorker

        if isinstance(ended, Outcome):
            return Returned(job, ended)
        if isinstance(ended, _LostGpu):
            _in_a_thread(lambda: self.cluster.client.run(_leave, workers=[ended.worker], on_error="ignore"))
            return failed(job, DeviceError(ended.why))
        if isinstance(ended, KilledWorker):
            why = f"{ended.allowed_failures + 1} workers in a row died with it: killed, or out of memory."
            return Returned(job, failure=why, suspect=True)  # another on the same workers may have killed them
        if isinstance(ended, CancelledError) or self.cluster.client.status != "running":
            raise self.cluster.lost() from ended
        return failed(job, ended)  # whatever it raised

    def _look(self) -> None:
        """How many workers there are now; none for too long is an error."""
        threads = self.cluster.threads()
        self._looked = time.monotonic()
        if threads:
            self._alone_since = None
            self.size = 1 if self.alone else threads
            return
        self._alone_since = self._alone_since or self._looked
        if self._looked - self._alone_since > WITHOUT_WORKERS_SECONDS:
            raise InputError(
                f"{self.cluster.address}: all workers are gone; what is finished is kept: start some, and run it again."
            )


def _in_a_thread(function: Callable[[], object]) -> None:
    """Which nobody waits for: what it is waiting for may never come."""

    def quietly() -> None:
        with suppress(Exception):  # of a connection that is lost, which is noticed elsewhere
            function()

    threading.Thread(target=quietly, daemon=True).start()


def _connect(address: str) -> Any:
    try:
        from distributed import Client
    except ImportError:
        raise InputError("scheduler", "needs Dask", install_extra("cluster")) from None
    place = _address(address)
    try:
        with ThreadPoolExecutor(1) as thread:  # in this one a notebook has a loop of its own
            thread.submit(asyncio.run, asyncio.wait_for(_ask(place), CONNECT_SECONDS)).result()
        return Client(place, timeout=CONNECT_SECONDS, name="gradcon", set_as_default=False)
    except Exception as error:  # of many kinds: no such host, nobody there, something else there, TLS
        reason = (
            str(error).split("\n")[0].rstrip(".") if not isinstance(error, OSError) else "no scheduler answers there"
        )
        raise InputError(
            f"{address}: the scheduler cannot be reached ({reason}); start one (dask scheduler), and check the address."
        ) from None


async def _ask(place: str) -> None:
    """Whether a scheduler answers there; a Client would ask some servers of other kinds without end."""
    from distributed.core import rpc
    from distributed.security import Security

    async with rpc(place, connection_args=Security().get_connection_args("client")) as there:
        if (await there.identity())["type"] != "Scheduler":
            raise ValueError("what answers there is no scheduler")


def _address(told: str) -> str:
    """What was told, or what stands in the scheduler file of that name."""
    found: Any = told
    if "://" not in told and Path(told).is_file():
        try:
            found = json.loads(read_text(Path(told)))["address"]
        except (ValueError, LookupError, TypeError):
            raise InputError(f"{told}: is not a file that dask scheduler --scheduler-file wrote; give one.") from None
    if not (isinstance(found, str) and _ADDRESS.fullmatch(found)):
        raise InputError(
            f"scheduler: {found!r} is neither an address such as tcp://127.0.0.1:8786 nor a file; give one."
        )
    return found


def _compare(asked_by: Gradcon, dask_worker: Any = None) -> Exception | None:
    """In a worker, which Dask gives as `dask_worker`."""
    try:
        asked_by.refuse_other(f"worker {dask_worker.address}")
    except OtherGradconError as error:
        return error
    return None


@dataclass(frozen=True)
class _LostGpu:
    """What a worker sends instead of an outcome when its GPU has failed, as it would for all jobs to come."""

    worker: str
    why: str


_leaving = threading.Event()  # of a worker whose GPU has failed


def _do(job: Job, asked_by: Gradcon) -> Outcome | _LostGpu:
    """In a worker, which may do several at once, each in a thread: one core each, unless it was given more."""
    import numba
    from distributed import get_worker

    if _leaving.is_set():
        time.sleep(2 * LEAVE_SECONDS)  # it ends before: the scheduler gives this job to another
    worker = get_worker()
    config: Any = numba.config  # made of the environment when it is imported
    given = config.NUMBA_NUM_THREADS if os.environ.get("NUMBA_NUM_THREADS") else 1
    numba.set_num_threads(max(1, given // worker.state.nthreads))  # of this thread alone
    try:
        return do(job, asked_by, f"worker {worker.address}")
    except DeviceError as error:
        _leaving.set()
        timer = threading.Timer(LEAVE_SECONDS, _leave)
        timer.daemon = True
        timer.start()
        return _LostGpu(worker.address, str(error))


def _leave() -> None:
    """In a worker whose GPU has failed, once this is known: its nanny starts a new process."""
    if _leaving.is_set():
        os._exit(1)
