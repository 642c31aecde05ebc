"""The progress display: lines where stderr is a file, a bar on a terminal."""

from __future__ import annotations

import io
import sys
import threading
from types import SimpleNamespace

import pytest

from gradcon import progress
from gradcon.progress import Display, time_left


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A clock that stands still until it is set."""
    clock = SimpleNamespace(time=1000.0)
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: clock.time))
    return clock


def test_lines_come_when_they_are_due(now: SimpleNamespace, capsys: pytest.CaptureFixture[str]) -> None:
    with Display("work", 9, opening="9 steps", note="starting", seconds_between_lines=5.0) as display:
        for done, seconds in ((1, 4.0), (2, 1.0), (3, 4.0), (4, 1.0)):
            now.time += seconds
            display.show(done, "a note", f"step {done}")
        display.show(5)
        display.show(9, "a note", "step 9", now=True)
    assert capsys.readouterr().err.splitlines() == ["work: 9 steps", "work: step 2", "work: step 4", "work: step 9"]


def test_work_without_steps_is_not_mentioned(capsys: pytest.CaptureFixture[str]) -> None:
    with Display("work", 0, opening="0 steps") as display:
        display.show(0, "a note", "a line", now=True)
    assert capsys.readouterr().err == ""


def test_a_terminal_gets_a_bar_that_goes_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    with Display("work", 9, opening="9 steps", note="starting") as display:
        display.show(4, "step 4", "a line")
        display.print("printed above the bar")
    said = terminal.getvalue()
    assert "4/9" in said
    assert "work: printed above the bar" in said
    assert "9 steps" not in said
    assert "a line" not in said


def test_solves_are_described(capsys: pytest.CaptureFixture[str]) -> None:
    row = SimpleNamespace(solve=1, scales=(0, 1), views=5, step_mean=0.25, seconds=1.5, rmse=None)
    with progress.display(30, "boxes") as show:
        show(row)
        show(SimpleNamespace(**{**vars(row), "solve": 2}))  # too soon after the first
    assert capsys.readouterr().err == "boxes: solve 1 of at most 30: step 2.5e-01 px, scales 0+1, 5 views\n"


def test_passes_are_counted_and_the_time_left_is_known(
    now: SimpleNamespace, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = [10.0, 30.0, 60.0, 20.0]
    row = SimpleNamespace(solve=1, scales=(2,), views=9, step_mean=None, seconds=5.0, rmse=None)
    with progress.display(3, "boxes", "pass") as show:
        show(row, plan)
        for number, step in ((2, 0.5), (3, 0.25), (4, 0.125)):
            now.time += 15.0
            show(SimpleNamespace(**{**vars(row), "solve": number, "step_mean": step, "seconds": 15.0}), plan)
    assert capsys.readouterr().err.splitlines() == [
        "boxes: pass 1 of 4: scale 2, 9 views, about 55 s left",
        "boxes: pass 2 of 4: step 5.0e-01 px, scale 2, 9 views, about 40 s left",
        "boxes: pass 3 of 4: step 2.5e-01 px, scale 2, 9 views, about 7 s left",
        "boxes: pass 4 of 4: step 1.2e-01 px, scale 2, 9 views",
    ]


def test_a_bar_grows_with_the_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    with progress.display(3, "boxes", "pass") as show:
        show(SimpleNamespace(solve=1, scales=(1,), views=9, step_mean=None, seconds=5.0, rmse=None), [10.0] * 5)
    assert "1/5" in terminal.getvalue()


@pytest.mark.parametrize(("count", "said"), [(1, "1 pass"), (3, "3 passes")])
def test_things_are_counted(count: int, said: str) -> None:
    assert progress.counted(count, "pass") == said
    assert progress.counted(count, "solve") == said.replace("passes", "solves").replace("pass", "solve")


def test_a_long_first_solve_is_explained(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(progress, "SECONDS_OF_SILENCE", 0.0)
    with progress.display(30, "boxes"):
        for thread in threading.enumerate():
            if isinstance(thread, threading.Timer):
                thread.join()
    assert capsys.readouterr().err == "boxes: still in the first solve\n"


def test_a_long_first_pass_is_called_a_pass(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "SECONDS_OF_SILENCE", 0.0)
    with progress.display(3, "boxes", "pass"):
        for thread in threading.enumerate():
            if isinstance(thread, threading.Timer):
                thread.join()
    assert capsys.readouterr().err.startswith("boxes: still in the first pass")


@pytest.mark.parametrize(
    ("remaining", "said"), [(3.0, "about 30 s left"), (60.0, "about 10 min left"), (900.0, "about 2.5 h left")]
)
def test_the_time_left_is_said_in_fitting_units(remaining: float, said: str) -> None:
    assert time_left(elapsed=10.0, done=1.0, remaining=remaining) == said
