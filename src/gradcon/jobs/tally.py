"""Counts the jobs of a run, and shows how many are done, how fast they go and about how long the rest will take."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from gradcon.jobs.job import Job
from gradcon.progress import Display, time_left

SECONDS_BETWEEN_LINES = 10.0


class Tally:
    """The counts of one run.

    Parameters
    ----------
    name : str, optional
        What the run is called on stderr; nothing is shown without it.
    noun : str
        What the jobs are called, in the plural.
    speed : bool
        Whether to show how many jobs are done per minute; this makes sense only if they are alike.
    """

    def __init__(self, name: str | None = None, noun: str = "jobs", speed: bool = False) -> None:
        self.name, self.noun, self.speed = name, noun, speed
        self.done = self.reused = self.failed = 0
        self.done_cost = 0.0

    @contextmanager
    def counting(self, jobs: Iterable[Job] | int, workers: int) -> Iterator[None]:
        """Count jobs, or a number of jobs of equal cost, while they run in this many workers."""
        self.workers = workers
        listed = [] if isinstance(jobs, int) else list(jobs)
        self.total = jobs if isinstance(jobs, int) else len(listed)
        self.left_cost = float(jobs) if isinstance(jobs, int) else sum(map(self._cost, listed))
        self.started: float | None = None  # when the first job was handed out
        noun = self.noun.removesuffix("s") if self.total == 1 else self.noun
        with Display(
            self.name or "",
            self.total if self.name else 0,
            opening=f"{self.total} {noun}",
            note="starting",
            seconds_between_lines=SECONDS_BETWEEN_LINES,
        ) as self.display:
            yield

    def found(self, job: Job) -> None:
        """Count a job that was done earlier."""
        self.reused += 1
        self.left_cost -= self._cost(job)
        self.display.show(self.done + self.reused)

    def begun(self) -> None:
        """Start the clock with the first job that is handed out."""
        self.started = self.started or time.monotonic()

    def finished(self, job: Job, failed: bool = False) -> None:
        """Count a job that was done, or given up, now."""
        self.done += 1
        self.failed += failed
        self.done_cost += self._cost(job)
        self.left_cost -= self._cost(job)
        ended = self.done + self.reused
        note = self.describe(job.label)
        self.display.show(ended, note, f"{ended} of {self.total} {self.noun}, {note}", now=ended == self.total)

    def describe(self, label: str) -> str:
        elapsed = time.monotonic() - (self.started or time.monotonic())
        parts = [
            f"{self.reused} found done" if self.reused else "",
            f"{self.failed} failed" if self.failed else "",
            f"{60 * self.done / max(elapsed, 1e-3):.3g} {self.noun} per minute" if self.speed else "",
            time_left(elapsed, self.done_cost, max(self.left_cost, 0.0)),
            label,
        ]
        return ", ".join(filter(None, parts))

    def _cost(self, job: Job) -> float:
        return job.cost * (self.workers if job.alone else 1)  # the other workers are idle meanwhile
