"""Show the progress of a piece of work on stderr: a bar on a terminal, a line every few seconds elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from types import TracebackType
from typing import Any, Protocol

from gradcon.errors import printable

SECONDS_BETWEEN_ROWS = 2.0  # between the solves or passes that are printed as lines
SECONDS_OF_SILENCE = 4.0  # before a line explains why the first of them takes so long


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
        self.name, self.total, self.opening, self.note = printable(name), total, opening, note
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
            self._bar.update(self._task, completed=done, total=self.total, **({} if note is None else {"note": note}))
        elif self.total and line and (now or time.monotonic() - self._printed >= self.seconds_between_lines):
            self.print(line)

    def print(self, text: str) -> None:
        """Print a line, whether or not there is a bar."""
        self._printed = time.monotonic()
        print(f"{self.name}: {printable(text)}", file=sys.stderr, flush=True)


def time_left(elapsed: float, done: float, remaining: float) -> str:
    """Estimate how long the remaining work takes if it goes as fast as the work that is done."""
    seconds = elapsed * remaining / done
    if seconds < 90:
        return f"about {seconds:.0f} s left"
    return f"about {seconds / 60:.0f} min left" if seconds < 5400 else f"about {seconds / 3600:.1f} h left"


def counted(count: int, word: str) -> str:
    """Return a number of things: "1 solve", "2 solves", "3 passes"."""
    return f"{count} {word}" if count == 1 else f"{count} {plural(word)}"


def plural(word: str) -> str:
    """Return the plural of a regular noun."""
    return f"{word}es" if word.endswith("s") else f"{word}s"


class Row(Protocol):
    """What a display needs to know about a solve or a pass."""

    @property
    def solve(self) -> int: ...
    @property
    def scales(self) -> tuple[int, ...]: ...
    @property
    def views(self) -> int: ...
    @property
    def step_mean(self) -> float | None: ...
    @property
    def seconds(self) -> float: ...
    @property
    def rmse(self) -> float | None: ...


def describe(row: Row) -> str:
    """Describe one solve or pass in a line."""
    scales = "+".join(map(str, row.scales))
    parts = [
        f"step {row.step_mean:.1e} px" if row.step_mean is not None else "",
        f"scales {scales}" if len(row.scales) > 1 else f"scale {scales}",
        f"{row.views} views",
        f"RMSE {row.rmse:.4f}" if row.rmse is not None else "",
    ]
    return ", ".join(filter(None, parts))


class Show(Protocol):
    """Show a finished row; `plan` says how much work each row takes, in any unit, if that is known."""

    def __call__(self, row: Row, plan: Sequence[float] = ()) -> None: ...


@contextmanager
def display(most: int, name: str, word: str = "solve", opening: str = "") -> Iterator[Show]:
    """Yield a function to call with each row of an estimate's history; `word` says what a row is."""
    with (
        Display(
            name,
            most,
            opening=opening,
            note=opening or "starting",
            seconds_between_lines=SECONDS_BETWEEN_ROWS,
        ) as shown,
        _broken_silence(shown, word) as silence,
    ):
        seconds = 0.0

        def show(row: Row, plan: Sequence[float] = ()) -> None:
            nonlocal seconds
            silence.cancel()
            seconds += row.seconds
            text, of = describe(row), f"of {len(plan)}" if plan else f"of at most {most}"
            done, remaining = sum(plan[: row.solve]), sum(plan[row.solve :])
            if done and seconds * remaining >= done:  # a second or more
                text += f", {time_left(seconds, done, remaining)}"
            shown.total = len(plan) or most
            shown.show(row.solve, text, f"{word} {row.solve} {of}: {text}", now=row.solve == 1)

        yield show


@contextmanager
def waiting(name: str, text: str) -> Iterator[None]:
    """Print a line if the work in this context takes long."""
    timer = threading.Timer(SECONDS_OF_SILENCE, Display(name, 0).print, [text])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@contextmanager
def _broken_silence(shown: Display, word: str) -> Iterator[threading.Timer]:
    """Explain a long first row if there is no bar; cancel the timer when that row is done."""
    text = f"still in the first {word}"
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

    name, note = (TextColumn(f"{{task.{text}}}", markup=False) for text in ("description", "fields[note]"))
    columns = [name, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), note]
    return Progress(*columns, console=Console(stderr=True), transient=True)
