"""The interface between the runner and the workers that do the jobs, and what every worker runs.

`processes` implements it with processes on this machine, `cluster` with the workers of a Dask cluster.
"""

from __future__ import annotations

import time
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Protocol

from gradcon import __version__
from gradcon.errors import DeviceError, InputError
from gradcon.identity import sources, versions
from gradcon.jobs.checks import check_outcome
from gradcon.jobs.job import Job, Outcome

AHEAD = 2  # jobs handed out per worker: the one it is doing, and the next one, so that it need not wait

WarmUp = Callable[[], object]


@dataclass(frozen=True)
class Returned:
    """A job that came back: done, failed, or (if neither) lost through no fault of its own, to be handed out again."""

    job: Job
    outcome: Outcome | None = None
    failure: str | None = None  # why there is no outcome, in a sentence
    suspect: bool = False  # this job, or another one in the same worker, killed the worker: try it again by itself


class Workers(ABC):
    """Take jobs and return them.  Use them in a `with` statement: at its end nothing is left running."""

    size: int  # how many jobs are done at once

    @abstractmethod
    def room(self, ahead: bool = True) -> bool:
        """Return whether another job may be handed out now: to an idle worker or, with `ahead`, to a busy one."""

    @abstractmethod
    def hand_out(self, job: Job) -> None:
        """Give a job to a worker."""

    @abstractmethod
    def returned(self, timeout: float | None) -> list[Returned]:
        """Wait at most `timeout` seconds for jobs to come back; the list may be empty even before that."""

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self.stop()

    @abstractmethod
    def stop(self) -> None:
        """Dismiss the workers at once; whatever they are doing is given up."""


class Pool(Protocol):
    """Where workers come from."""

    size: int  # about how many jobs are done at once

    def workers(self, jobs: int, warm_up: WarmUp | None = None, alone: bool = False) -> AbstractContextManager[Workers]:
        """Provide workers for at most this many jobs; jobs that want to be `alone` are done one at a time."""


class OtherGradconError(InputError):
    """A worker's gradcon differs from the one that hands out the jobs, so its results could differ too."""


@dataclass(frozen=True)
class Gradcon:
    """Identifies the gradcon that hands out the jobs."""

    version: str | None
    sources: str

    @classmethod
    def here(cls) -> Gradcon:
        return cls(__version__, sources())

    def refuse_other(self, where: str) -> None:
        """Raise an error unless this process, called `where` in the message, runs the same gradcon."""
        here = Gradcon.here()
        if here.sources == self.sources:
            return
        if here.version != self.version:
            problem = f"runs gradcon {here.version}, not {self.version}"
        else:
            problem = f"runs a gradcon {here.version} whose sources differ from the ones here"
        raise OtherGradconError(where, problem, "install the same gradcon there")


@dataclass(frozen=True)
class Failure:
    """What a worker answers when a job raised an exception."""

    why: str  # in a sentence
    lost_gpu: bool = False  # the worker's GPU failed, and would fail for all later jobs too


Answer = Outcome | Failure | OtherGradconError


def do(job: Job, asked_by: Gradcon, where: str = "worker") -> Answer:
    """Do a job in this worker, unless its gradcon is not the one that hands out the jobs."""
    try:
        asked_by.refuse_other(where)
        start = time.perf_counter()
        outcome = job()
        return replace(outcome, seconds=time.perf_counter() - start, versions=versions())
    except OtherGradconError as error:
        return error
    except BaseException as error:  # whatever a job raises is that job's failure
        return Failure(sentence(error), lost_gpu=isinstance(error, DeviceError))


def sent(job: Job) -> Job:
    """Return a job without what is called only where it was made, and need not be known in a worker."""
    return replace(job, changed=None, check=None)


def take_back(job: Job, answer: Answer) -> Returned:
    """Turn a worker's answer into what the runner expects; a worker with another gradcon ends the run."""
    if isinstance(answer, OtherGradconError):
        raise answer
    if isinstance(answer, Failure):
        return Returned(job, failure=str(answer.why))
    try:
        check_outcome(job, answer)
    except InputError as error:
        return Returned(job, failure=str(error))
    return Returned(job, answer)


def sentence(error: BaseException) -> str:
    """Say what went wrong in a job, and where in the code unless the error is meant for users."""
    if isinstance(error, InputError | DeviceError):
        return str(error)
    if isinstance(error, MemoryError):
        return "there is not enough memory for it; use fewer workers, or fewer views."
    trace = traceback.extract_tb(error.__traceback__)
    place = f" ({trace[-1].filename}:{trace[-1].lineno})" if trace else ""
    return f"{type(error).__name__}: {error}{place}"
