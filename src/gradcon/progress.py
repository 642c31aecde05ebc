"""Progress on stderr: a bar on a terminal, a line every few seconds elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from gradcon.result import Solve

SECONDS_BETWEEN_LINES = 2.0
SECONDS_OF_SILENCE = 4.0  # before the first solve is done, until it is said why


def describe(row: Solve) -> str:
    """What one solve did, in a line."""
    rmse = f", RMSE {row.rmse:.4f}" if row.rmse is not None else ""
    return f"step {row.step_mean:.1e} px, scales {'+'.join(map(str, row.scales))}, {row.views} views{rmse}"


@contextmanager
def display(solves: int, name: str) -> Iterator[Callable[[Solve], None]]:
    """Yield the function to call with each finished solve."""
    if not sys.stderr.isatty():
        spoke = time.monotonic()
        silence = threading.Timer(
            SECONDS_OF_SILENCE, _say, [f"{name}: still at the first solve; a first run compiles for a minute"]
        )
        silence.daemon = True
        silence.start()

        def line(row: Solve) -> None:
            nonlocal spoke
            silence.cancel()
            if row.solve == 1 or time.monotonic() - spoke >= SECONDS_BETWEEN_LINES:
                spoke = time.monotonic()
                _say(f"{name}: solve {row.solve} of at most {solves}: {describe(row)}")

        try:
            yield line
        finally:
            silence.cancel()
        return

    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = [TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()]
    with Progress(*columns, TextColumn("{task.fields[note]}"), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(name, total=solves, note="compiling at first use")
        yield lambda row: bar.update(task, completed=row.solve, note=describe(row))


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
