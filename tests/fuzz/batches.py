"""A batch: some cases of a format, run in a child process that is watched and stopped when it misbehaves."""

from __future__ import annotations

import json
import mmap
import os
import resource
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.cases import make_case
from fuzz.judge import FINDING, FINE, LARGEST, LONGEST, REFUSED, Judge
from fuzz.sample import Sample
from fuzz.sandbox import Sandbox
from fuzz.usage import Usage, usage_of

ROOM = 6 * 2**30  # bytes of addresses beyond those in use; a backstop against an allocation between two looks
IDLE = 120.0  # seconds without a new case and without CPU time: it waits for something that never comes
_STATE = np.dtype(
    [(name, "i8") for name in ("case", FINE, REFUSED, FINDING, "growth")] + [("slowest", "f8"), ("complete", "i8")]
)


class Batch:
    """Runs the cases `first` to `last - 1` in a child; `poll` must be called until `done`.

    Attributes
    ----------
    found : list of (int, str)
        The numbers of the cases that are findings, and what was found.
    """

    def __init__(self, name: str, samples: Sequence[Sample], seed: int, cases: range, folder: Path) -> None:
        self.name, self.samples, self.seed, self.cases, self.folder = name, samples, seed, cases, folder
        self.found: list[tuple[int, str]] = []
        self.counts = {FINE: 0, REFUSED: 0, FINDING: 0}
        self.slowest, self.growth, self.done = 0.0, 0, False
        self._begin(cases.start)

    def poll(self) -> None:
        """Look whether the child has ended, or has to be ended; begin another one behind a case that broke it."""
        ended, status = os.waitpid(self._child, os.WNOHANG)
        case = int(self._state["case"][0])
        now = usage_of(self._child) if not ended else Usage(0, 0)
        problem = ""
        if not ended and case != self._seen:
            self._seen, self._then, self._since = case, now, time.monotonic()
        elif not ended:
            took = now.seconds - self._then.seconds
            if took > LONGEST + 1:  # the judge reports what ends by itself
                problem = f"takes more than {LONGEST:g} s"
            elif time.monotonic() - self._since > IDLE and took < 1:
                problem = f"waits for more than {IDLE:g} s"
        if not ended and not problem and now.memory - self._first.memory > 2 * LARGEST:
            problem = f"grows by more than {2 * LARGEST >> 30} GB"
        if problem:
            status = self._kill()
        elif not ended:
            return
        self._collect(case, problem, status)

    def stop(self) -> None:
        """End the child before its time; the cases that it has judged count."""
        if not self.done:
            self._kill()
            self._add_counts()
            self.done = True

    def _begin(self, first: int) -> None:
        self._shared = mmap.mmap(-1, _STATE.itemsize)
        self._state: Any = np.frombuffer(self._shared, _STATE)
        self._state["case"] = first
        self._log = self.folder / f"{first}.log"
        self._seen, self._since = -1, time.monotonic()
        self._child = os.fork()
        if self._child == 0:
            try:
                self._run(range(first, self.cases.stop))
            finally:
                os._exit(1)
        self._then = self._first = usage_of(self._child)

    def _run(self, cases: range) -> None:
        """Judge the cases; this is the child."""
        os.setsid()
        addresses = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (addresses + ROOM, addresses + ROOM))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        sandbox = Sandbox(self.folder, self.samples)
        judge, state = Judge(), self._state
        with open(self._log, "w", buffering=1) as log:
            for number in cases:
                state["case"] = number
                case = make_case(self.name, self.samples, self.seed, number)
                verdict = judge.judge(case.sample.reader, sandbox.lay_out(case))
                state[verdict.outcome] += 1
                state["slowest"] = max(state["slowest"][0], verdict.seconds)
                state["growth"] = max(state["growth"][0], verdict.growth)
                if verdict.outcome == FINDING:
                    log.write(json.dumps([number, verdict.what]) + "\n")
                    if verdict.growth > LARGEST:
                        break  # a new child sees the next growth from its own level
        state["complete"] = 1
        os._exit(0)

    def _collect(self, case: int, problem: str, status: int) -> None:
        with suppress(ProcessLookupError):  # end also what the child has started
            os.killpg(self._child, signal.SIGKILL)
        self._add_counts()
        if not self._state["complete"][0]:
            died = f"dies of signal {status & 127}" if status & 127 else f"ends with exit code {status >> 8}"
            self.found.append((case, problem or died))
            self.counts[FINDING] += 1
        if case + 1 < self.cases.stop:
            self._begin(case + 1)
        else:
            self.done = True

    def _add_counts(self) -> None:
        """Add what the child has noted so far."""
        for outcome in self.counts:
            self.counts[outcome] += int(self._state[outcome][0])
        self.slowest = max(self.slowest, float(self._state["slowest"][0]))
        self.growth = max(self.growth, int(self._state["growth"][0]))
        with suppress(OSError):
            self.found += [tuple(json.loads(line)) for line in self._log.read_text().splitlines()]

    def _kill(self) -> int:
        for end in (os.killpg, os.kill):  # it may not lead a group yet
            with suppress(ProcessLookupError, PermissionError):
                end(self._child, signal.SIGKILL)
        return os.waitpid(self._child, 0)[1]
