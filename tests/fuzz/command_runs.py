"""Run command lines, each in a forked child and a sandbox of its own, and judge how they end."""

from __future__ import annotations

import json
import os
import re
import resource
import shlex
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from fuzz.command_lines import command_line
from fuzz.command_sandbox import fill, sandbox_files
from fuzz.sandbox import make_root
from fuzz.texts import steers_terminal
from fuzz.usage import usage_of

CODES = (0, 1, 2, 3, 130, 143)
PATIENCE = 8.0  # seconds of CPU time, after which a command is asked to end
GRACE = 60.0  # seconds until it has to
ROOM = 6 * 2**30  # bytes of addresses
_NOISE = re.compile(r"Traceback|[a-z]Warning:|Exception ignored|never retrieved")


class CommandRun:
    """A command line in a child process."""

    def __init__(self, number: int, words: list[str], files: Mapping[str, bytes], folder: Path) -> None:
        self.number, self.words, self.folder = number, words, folder
        fill(folder / "sandbox", files)
        self.code, self.done, self.problem = -1, False, ""
        self._asked = 0.0
        self._child = os.fork()
        if self._child == 0:
            try:
                self._run()
            finally:
                os._exit(99)

    def poll(self) -> None:
        """Look whether the child has ended; ask it to, if it takes too long, and end it if it does not obey."""
        ended, status = os.waitpid(self._child, os.WNOHANG)
        if not ended:
            if not self._asked and usage_of(self._child).seconds > PATIENCE:
                self._asked = time.monotonic()
                os.kill(self._child, signal.SIGTERM)
            elif self._asked and time.monotonic() - self._asked > GRACE:
                self.problem = "does not end after SIGTERM"
                os.kill(self._child, signal.SIGKILL)
            return
        with suppress(ProcessLookupError):
            os.killpg(self._child, signal.SIGKILL)
        self.code, self.done = os.waitstatus_to_exitcode(status), True
        self.problem = self.problem or self._judge()

    def _run(self) -> NoReturn:
        os.setsid()
        os.chdir(self.folder / "sandbox")
        addresses = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (addresses + ROOM, addresses + ROOM))
        for stream, name in ((1, "stdout"), (2, "stderr")):
            os.dup2(os.open(self.folder / name, os.O_WRONLY | os.O_CREAT), stream)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        code: Any = 1
        try:
            from gradcon.cli import run

            run(self.words)
        except SystemExit as end:
            code = end.code
        except BaseException:
            sys.excepthook(*sys.exc_info())  # as at the end of a program
        with suppress(Exception):
            sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code if isinstance(code, int) else 0 if code is None else 1)

    def _judge(self) -> str:
        """Return what is wrong, or an empty text."""
        said = (self.folder / "stderr").read_bytes().decode("utf-8", "replace")
        lines = said.splitlines()
        if self.code not in CODES:
            return f"ends with {self.code}: {said[-300:]!r}"
        if _NOISE.search(said):
            return f"prints {lines[-1]!r:.300} after {said!r:.200}"
        if odd := next((line for line in said.split("\n") if steers_terminal(line.replace("\r", ""))), None):
            return f"prints control characters: {odd!r:.300}"
        if self.code == 2 and not (lines and lines[-1].endswith((".", "?"))):
            return f"ends with 2 without a sentence: {said!r:.300}"
        if others := sorted(path.name for path in self.folder.iterdir() if path.name not in _OWN):
            return f"writes outside its folder: {', '.join(others)}"
        return self._non_finite() if self.code == 0 else ""

    def _non_finite(self) -> str:
        """Return which map of a result is not finite."""
        from gradcon import read_pfm

        for summary in (self.folder / "sandbox").rglob("result.json"):
            for name in ("disparity.pfm", "uncertainty.pfm"):
                path = summary.parent / name
                if path.is_file() and not np.isfinite(read_pfm(path)).all():
                    return f"writes {name} with values that are not finite"
        return ""


_OWN = ("sandbox", "stdout", "stderr")


def run_commands(
    count: int, seed: int, processes: int, tell: Callable[[str], None]
) -> tuple[Counter[int], list[tuple[int, str, str]]]:
    """Run command lines; return how often each exit code came, and (number, command line, what) of each finding."""
    root = make_root()
    codes, found, running, begun = Counter[int](), [], list[CommandRun](), 0
    os.environ |= {"HOME": str(root), "COLUMNS": "200"}
    try:
        files = sandbox_files()
        while begun < count or running:
            while len(running) < processes and begun < count:
                folder = root / str(begun)
                folder.mkdir()
                running.append(CommandRun(begun, command_line(seed, begun), files, folder))
                begun += 1
            time.sleep(0.01)
            for run in running:
                run.poll()
            for run in [run for run in running if run.done]:
                codes[run.code] += 1
                if run.problem:
                    line = shlex.join(run.words).encode("unicode_escape").decode()
                    found.append((run.number, f"gradcon {line}", run.problem))
                    tell(json.dumps(found[-1]))
                shutil.rmtree(run.folder, ignore_errors=True)
            running = [run for run in running if not run.done]
    finally:
        for run in running:
            with suppress(ProcessLookupError):
                os.killpg(run._child, signal.SIGKILL)
        shutil.rmtree(root, ignore_errors=True)
    return codes, found
