"""Kinds of jobs for the tests, and what they leave behind; workers import them from here."""

from __future__ import annotations

import os
import pickle
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np

from gradcon.errors import DeviceError, InputError
from gradcon.jobs import Job, Outcome
from gradcon.jobs.processes import _serve
from gradcon.jobs.workers import Gradcon, Returned, WarmUp, Workers, do, take_back
from waiting import wait_until


def square(x: int, folder: str, gate: str | None = None) -> Outcome:
    """Leave a mark for every run, and do not end before the number in the file `gate` is larger than x."""
    if gate is not None:
        wait_until(lambda: int(Path(gate).read_text() or 0) > x)
    (Path(folder) / f"{x}-{os.getpid()}-{time.monotonic_ns()}").touch()
    return Outcome(
        {"square": x * x, "threads": os.environ.get("NUMBA_NUM_THREADS")}, {"row": np.arange(x)} if x % 2 else {}
    )


def fail(how: str) -> Outcome:
    if how == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    raise InputError("photo.png", "is not an image") if how == "refuse" else ZeroDivisionError("by zero")


def squares(folder: Path, count: int = 6, gate: Path | None = None) -> list[Job]:
    folder.mkdir(exist_ok=True)
    where = {"folder": str(folder), "gate": None if gate is None else str(gate)}
    return [Job(square, {"x": x}, "none", f"square {x}", where=where) for x in range(count)]


def failing(how: str) -> Job:
    return Job(fail, {"how": how}, "none", f"fails by {how}")


def marks(folder: Path) -> list[int]:
    return sorted(int(path.name.split("-")[0]) for path in folder.iterdir())


def fail_at_first(mark: str) -> Outcome:
    """Fail at the first try."""
    if not Path(mark).exists():
        Path(mark).touch()
        raise OSError("the network was away")
    return Outcome({})


def die_once(mark: str) -> Outcome:
    if not Path(mark).exists():
        Path(mark).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return Outcome({})


def die_while_sending(mark: str) -> Outcome:
    """Die at the first try, when half of the outcome has been sent."""
    from multiprocessing.connection import Connection

    def send_half(connection: Any, content: bytes) -> None:
        os.write(connection.fileno(), content[: len(content) // 2])
        os.kill(os.getpid(), signal.SIGKILL)

    if not Path(mark).exists():
        Path(mark).touch()
        Connection._send = send_half  # type: ignore[attr-defined]
    return Outcome({}, {"row": np.arange(9)})


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


gpu_is_lost = False


def use_gpu(number: int, fails: bool, mark: str | None = None) -> Outcome:
    global gpu_is_lost  # noqa: PLW0603
    gpu_is_lost = gpu_is_lost or fails
    if mark is not None:
        Path(mark).touch()
    if gpu_is_lost:
        raise DeviceError("cuda: the GPU failed.")
    return Outcome({})


DEATHS = "GRADCON_TESTS_DEATHS"  # a folder with a file for every process that is still to die when it starts


def serve_if_spared(*arguments: Any) -> None:
    """What a new process runs, instead of `gradcon.jobs.processes._serve`."""
    for death in Path(os.environ[DEATHS]).iterdir():
        death.unlink()
        die()
    _serve(*arguments)


def touch(mark: str) -> Outcome:
    Path(mark).touch()
    return Outcome({})


def wait_for(mark: str) -> Outcome:
    """Keep busy until another job has touched a file."""
    wait_until(Path(mark).exists)
    return Outcome({})


def many_bytes(count: int) -> Outcome:
    return Outcome({}, {"row": np.random.default_rng(0).integers(256, size=count, dtype=np.uint8)})


def write_text(text: str) -> Outcome:
    return Outcome({}, files={"one/a.txt": text.encode(), "two/b.txt": text.encode()})


class Inline(Workers):
    """Does each job in this process, as soon as it is asked for."""

    size = 1

    def __init__(self) -> None:
        self.held: list[Job] = []

    def workers(self, jobs: int, warm_up: WarmUp | None = None, alone: bool = False) -> Inline:
        return self

    def room(self, ahead: bool = True) -> bool:
        return not self.held

    def hand_out(self, job: Job) -> None:
        pickle.dumps(job.parameters)  # as for another process
        self.held.append(job)

    def returned(self, timeout: float | None) -> list[Returned]:
        held, self.held = self.held, []
        return [take_back(job, do(job, Gradcon.here())) for job in held]

    def stop(self) -> None:
        assert not self.held


def finished(folder: Path) -> list[Path]:
    return list((folder / "jobs").glob("[0-9a-f]*.json"))


def status(pid: int | str) -> list[str]:
    """Return the state, parent and so on of a process; nothing if it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def children(pid: int) -> list[int]:
    processes = [path.name for path in Path("/proc").iterdir() if path.name.isdecimal()]
    return [int(name) for name in processes if status(name)[1:2] == [str(pid)]]


def wait_until_gone(pids: list[int]) -> None:
    """Wait until no process is left, not even as an orphan."""
    wait_until(lambda: all(status(pid)[:1] in ([], ["Z"]) for pid in pids))
