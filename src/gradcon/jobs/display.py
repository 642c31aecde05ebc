"""How a run of jobs goes, on stderr: a bar with the time left on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from gradcon.jobs.job import Job

SECONDS_BETWEEN_LINES = 10.0


class Display:
    """Told what there is to do, each job that is found done, and each that is done now."""

    @contextmanager
    def showing(self, jobs: Iterable[Job] | int, workers: int) -> Iterator[None]:
        """While jobs (or so many of them, of equal cost) run in so many workers."""
        yield

    def found(self, job: Job) -> None:
        """One job less: it was done earlier."""

    def begun(self) -> None:
        """A job was handed out."""

    def finished(self, job: Job, failure: str | None = None) -> None:
        """One job less."""


class Quiet(Display):
    """Says nothing."""


class Progress(Display):
    """Says how much is done, how fast it goes and about how long the rest will take."""

    def __init__(self, name: str, noun: str = "jobs", speed: bool = False) -> None:
        self.name = name
        self.noun = noun
        self.speed = speed  # of jobs that are of one kind
        self.failed = 0
        self.bar: Any = None  # rich's, on a terminal

    @contextmanager
    def showing(self, jobs: Iterable[Job] | int, workers: int) -> Iterator[None]:
        self.workers = workers
        listed = None if isinstance(jobs, int) else list(jobs)
        self.total = jobs if isinstance(jobs, int) else len(listed or [])
        self.left_cost = float(self.total) if listed is None else sum(map(self._cost, listed))
        self.done, self.reused, self.done_cost = 0, 0, 0.0
        self.started = self.spoke = time.monotonic()
        self.announced = False
        if not self.total or not sys.stderr.isatty():
            yield
            self._announce()
            return
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bar

        columns = [TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()]
        with Bar(*columns, TextColumn("{task.fields[note]}"), console=Console(stderr=True), transient=True) as self.bar:
            self.task = self.bar.add_task(self.name, total=self.total, note="starting")
            yield
        self.bar = None
        self._announce()

    def found(self, job: Job) -> None:
        self.reused += 1
        self.left_cost -= self._cost(job)
        if self.bar is not None:
            self.bar.update(self.task, completed=self.done + self.reused)

    def begun(self) -> None:
        if not self.announced:
            self._announce()
            self.started = time.monotonic()

    def finished(self, job: Job, failure: str | None = None) -> None:
        self._announce()
        self.done += 1
        self.done_cost += self._cost(job)
        self.left_cost -= self._cost(job)
        self.failed += failure is not None
        counts = {"found done": self.reused, "failed": self.failed}
        parts = [
            *(f"{number} {what}" for what, number in counts.items() if number),
            self.pace() if self.speed else "",
            self.left(),
        ]
        note = ", ".join(filter(None, [*parts, job.label]))
        ended = self.done + self.reused
        if self.bar is not None:
            self.bar.update(self.task, completed=ended, note=note)
        elif time.monotonic() - self.spoke >= SECONDS_BETWEEN_LINES or ended == self.total:
            self.spoke = time.monotonic()
            print(f"{self.name}: {ended} of {self.total} {self.noun}, {note}", file=sys.stderr, flush=True)

    def _announce(self) -> None:
        if not self.announced and self.total:
            self.announced = True
            noun = self.noun.removesuffix("s") if self.total == 1 else self.noun
            print(f"{self.name}: {self.total} {noun}", file=sys.stderr, flush=True)

    def _cost(self, job: Job) -> float:
        return job.cost * (self.workers if job.alone else 1)  # the others do nothing meanwhile

    def pace(self) -> str:
        """How many are done in a minute, since the start."""
        return f"{60 * self.done / max(time.monotonic() - self.started, 1e-3):.3g} {self.noun} a minute"

    def left(self) -> str:
        """The time left, if the rest goes as what is done went."""
        seconds = (time.monotonic() - self.started) * max(self.left_cost, 0.0) / self.done_cost
        if seconds < 90:
            return f"about {seconds:.0f} s left"
        return f"about {seconds / 60:.0f} min left" if seconds < 5400 else f"about {seconds / 3600:.1f} h left"
