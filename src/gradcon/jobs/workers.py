"""What does the jobs: processes of this machine or a cluster, behind one interface; and what each of them runs."""

from __future__ import annotations

import time
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Protocol

import gradcon
from gradcon.errors import DeviceError, InputError
from gradcon.identity import versions
from gradcon.jobs.job import Job, Outcome, model_sha256

AHEAD = 2  # jobs handed out for each worker: one to do, one at hand when it is done

WarmUp = Callable[[], object]


@dataclass(frozen=True)
class Returned:
    """A job that came back: done, failed, or (neither) lost through no fault of its own, to be handed out again."""

    job: Job
    outcome: Outcome | None = None
    failure: str | None = None  # why there is no outcome, in a sentence
    suspect: bool = False  # it, or another job that was there, killed its worker: to be tried again by itself


class Workers(ABC):
    """Take jobs and return them; within `with`, at whose end nothing of them is left running."""

    size: int  # how many jobs are done at once

    @abstractmethod
    def room(self, ahead: bool = True) -> bool:
        """Whether another job may be handed out now: because somebody has nothing to do, or else `ahead`."""

    @abstractmethod
    def hand_out(self, job: Job) -> None:
        """Have it done, sooner or later."""

    @abstractmethod
    def returned(self, timeout: float | None) -> list[Returned]:
        """What has come back; waits for it, at most so many seconds.  May be empty before the time is over."""

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self.stop(at_once=error is not None)

    @abstractmethod
    def stop(self, at_once: bool) -> None:
        """Dismiss the workers; what they are doing is given up."""


class Pool(Protocol):
    """Where workers come from."""

    size: int  # about how many jobs are done at once

    def workers(self, jobs: int, warm_up: WarmUp | None = None, alone: bool = False) -> AbstractContextManager[Workers]:
        """For at most so many jobs; `alone` ones are done one at a time."""


class OtherGradconError(InputError):
    """The worker's gradcon would give other results than the one that asks it."""


@dataclass(frozen=True)
class Gradcon:
    """Which gradcon it is."""

    version: str
    model: str

    @classmethod
    def here(cls) -> Gradcon:
        return cls(gradcon.__version__, model_sha256())

    def refuse_other(self, where: str) -> None:
        """An error unless this process runs the same; `where` names it."""
        here = Gradcon.here()
        if here.version != self.version:
            raise OtherGradconError(
                f"{where}: runs gradcon {here.version}, not {self.version}; install the same one there."
            )
        if here.model != self.model:
            raise OtherGradconError(
                f"{where}: runs a gradcon {here.version} of other sources; install the same one there."
            )


def do(job: Job, asked_by: Gradcon, where: str = "worker") -> Outcome:
    """In a worker: the job, unless it would be done by another gradcon than that of who asks."""
    asked_by.refuse_other(where)
    start = time.perf_counter()
    outcome = job()
    return replace(outcome, seconds=time.perf_counter() - start, versions=versions())


def failed(job: Job, error: BaseException) -> Returned:
    """Whatever a job raises is that job's failure; that of a wrong gradcon is everybody's."""
    if isinstance(error, OtherGradconError):
        raise error
    return Returned(job, failure=_sentence(error))


def _sentence(error: BaseException) -> str:
    if isinstance(error, InputError | DeviceError):
        return str(error)
    if isinstance(error, MemoryError):
        return "there is not enough memory for it; use fewer workers, or fewer views."
    where = traceback.extract_tb(error.__traceback__)
    cause = error.__cause__  # the worker's own traceback, as text
    place = f" ({where[-1].filename}:{where[-1].lineno})" if where and cause is None else ""
    return f"{type(error).__name__}: {error}{place}"
