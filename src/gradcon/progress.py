"""Show the progress of a piece of work on stderr: a bar on a terminal, a line every few seconds elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import TracebackType
from typing import Any, Protocol

SECONDS_BETWEEN_SOLVES = 2.0  # between the solves that are printed as lines
SECONDS_OF_SILENCE = 4.0  # before a line explains why the first solve takes so long


class Display:
    """One bar, or lines that begin with the name of the work; use it in a `with` statement.

    Parameters
    ----------
    name : str
        What is being worked on.
    total : int
        The number of steps; nothing is shown if there are none.
    opening : str
        The first line, if there is no bar.
    note : str
        The text beside the bar until the first step is done.
    seconds_between_lines : float
        Steps that follow the last printed line sooner than this are not printed.
    """

    def __init__(
        self, name: str, total: int, *, opening: str = "", note: str = "", seconds_between_lines: float = 0.0
    ) -> None:
        self.name, self.total, self.opening, self.note = name, total, opening, note
        self.seconds_between_lines = seconds_between_lines
        self.has_bar = bool(total) and sys.stderr.isatty()
        self._bar: Any = None  # rich's
        self._open = ExitStack()
        self._printed = time.monotonic()

    def __enter__(self) -> Display:
        if self.has_bar:
            self._bar = self._open.enter_context(_bar())
            self._task = self._bar.add_task(self.name, total=self.total, note=self.note)
        elif self.opening and self.total:
            self.print(self.opening)
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._open.close()

    def show(self, done: int, note: str | None = None, line: str = "", *, now: bool = False) -> None:
        """Show that `done` steps are done: `note` beside the bar, or `line` if it is due or must be printed `now`."""
        if self._bar is not None:
            self._bar.update(self._task, completed=done, **({} if note is None else {"note": note}))
        elif self.total and line and (now or time.monotonic() - self._printed >= self.seconds_between_lines):
            self.print(line)

    def print(self, text: str) -> None:
        """Print a line, whether or not there is a bar."""
        self._printed = time.monotonic()
        print(f"{self.name}: {text}", file=sys.stderr, flush=True)


def time_left(elapsed: float, done: float, remaining: float) -> str:
    """Estimate how long the remaining work takes if it goes as fast as the work that is done."""
    seconds = elapsed * remaining / done
    if seconds < 90:
        return f"about {seconds:.0f} s left"
    return f"about {seconds / 60:.0f} min left" if seconds < 5400 else f"about {seconds / 3600:.1f} h left"


class Solved(Protocol):
    """What a display needs to know about a solve."""

    @property
    def solve(self) -> int: ...
    @property
    def scales(self) -> tuple[int, ...]: ...
    @property
    def views(self) -> int: ...
    @property
    def step_mean(self) -> float: ...
    @property
    def rmse(self) -> float | None: ...


def describe(row: Solved) -> str:
    """Describe one solve in a line."""
    rmse = f", RMSE {row.rmse:.4f}" if row.rmse is not None else ""
    return f"step {row.step_mean:.1e} px, scales {'+'.join(map(str, row.scales))}, {row.views} views{rmse}"


@contextmanager
def display(solves: int, name: str) -> Iterator[Callable[[Solved], None]]:
    """Yield a function to call with each finished solve of an estimate."""
    with (
        Display(name, solves, note="compiling at first use", seconds_between_lines=SECONDS_BETWEEN_SOLVES) as shown,
        _broken_silence(shown) as silence,
    ):

        def show(row: Solved) -> None:
            silence.cancel()
            text = describe(row)
            shown.show(row.solve, text, f"solve {row.solve} of at most {solves}: {text}", now=row.solve == 1)

        yield show


@contextmanager
def _broken_silence(shown: Display) -> Iterator[threading.Timer]:
    """Explain a long first solve if there is no bar; cancel the timer when that solve is done."""
    text = "still in the first solve; the first run compiles for about a minute"
    timer = threading.Timer(SECONDS_OF_SILENCE, shown.print, [text])
    timer.daemon = True
    if not shown.has_bar:
        timer.start()
    try:
        yield timer
    finally:
        timer.cancel()


def _bar() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = [TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()]
    return Progress(*columns, TextColumn("{task.fields[note]}"), console=Console(stderr=True), transient=True)
