"""How a run of jobs goes, on stderr: a bar with the time left on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from gradcon.jobs.job import Job

SECONDS_BETWEEN_LINES = 10.0


class Display:
    """Told what there is to do, and each job that is done."""

    @contextmanager
    def showing(self, jobs: list[Job], reused: int, workers: int) -> Iterator[None]:
        """While `jobs` run in so many workers; `reused` more were found finished."""
        yield

    def finished(self, job: Job, failure: str | None = None) -> None:
        """One job less."""


class Quiet(Display):
    """Says nothing."""


class Progress(Display):
    """Says how much is done and about how long the rest will take."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.failed = 0

    @contextmanager
    def showing(self, jobs: list[Job], reused: int, workers: int) -> Iterator[None]:
        self.workers = workers
        self.total, self.done, self.done_cost = len(jobs), 0, 0.0
        self.total_cost = sum(map(self._cost, jobs))
        self.started = self.spoke = time.monotonic()
        if jobs or reused:
            print(f"{self.name}: {len(jobs)} jobs to do, {reused} found done", file=sys.stderr, flush=True)
        if not jobs or not sys.stderr.isatty():
            self.bar = None
            yield
            return
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bar

        columns = [TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()]
        with Bar(*columns, TextColumn("{task.fields[note]}"), console=Console(stderr=True), transient=True) as self.bar:
            self.task = self.bar.add_task(self.name, total=len(jobs), note="starting")
            yield

    def finished(self, job: Job, failure: str | None = None) -> None:
        self.done += 1
        self.done_cost += self._cost(job)
        self.failed += failure is not None
        note = ", ".join(filter(None, [f"{self.failed} failed" if self.failed else "", self.left(), job.label]))
        if self.bar is not None:
            self.bar.update(self.task, completed=self.done, note=note)
        elif time.monotonic() - self.spoke >= SECONDS_BETWEEN_LINES or self.done == self.total:
            self.spoke = time.monotonic()
            print(f"{self.name}: {self.done} of {self.total} jobs, {note}", file=sys.stderr, flush=True)

    def _cost(self, job: Job) -> float:
        return job.cost * (self.workers if job.alone else 1)  # the others do nothing meanwhile

    def left(self) -> str:
        """The time left, if the rest goes as what is done went."""
        seconds = (time.monotonic() - self.started) * (self.total_cost - self.done_cost) / self.done_cost
        if seconds < 90:
            return f"about {seconds:.0f} s left"
        return f"about {seconds / 60:.0f} min left" if seconds < 5400 else f"about {seconds / 3600:.1f} h left"
