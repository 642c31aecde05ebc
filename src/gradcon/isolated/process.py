"""The parent's side of one child process: start it, ask it, end it, and say in a sentence how it died."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, NamedTuple

from numpy.typing import NDArray

from gradcon.damage import shown
from gradcon.errors import InputError
from gradcon.isolated.limits import Limits
from gradcon.isolated.messages import receive, send

# The child imports from where the parent does, and never from the current folder, which may hold anything.
_PROGRAM = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from gradcon.isolated.child import serve; serve()"
# One thread, and one heap, so that the size of the address space says how much memory is in use.
_FRUGAL = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1"}
_DAMAGED = "copy or export it again, as it may be damaged"


class LibraryError(RuntimeError):
    """What a library says about a file that it cannot read."""


class Reply(NamedTuple):
    """The outcome of an operation."""

    facts: Any
    array: NDArray[Any] | None

    @property
    def values(self) -> NDArray[Any]:
        """The array of an operation that always has one."""
        if self.array is None:
            raise LibraryError("there are no values")
        return self.array


class DeathError(Exception):
    """The child ended during a request; its arguments are a problem and a remedy."""


class Child:
    """A child process that starts with the first request, and again after it died.  Threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._orders: deque[dict[str, Any]] = deque()
        self._expired = False  # whether the child was ended because it took too long

    def call(self, operation: str, path: Path, arguments: dict[str, Any], limits: Limits, most: int) -> Reply:
        """Carry out an operation in the child; `most` is the largest size of the reply's array, in bytes."""
        absolute = os.fsencode(os.path.abspath(path)).decode("latin-1")
        request = {"operation": operation, "path": absolute, "arguments": arguments, "answered": True}
        request["limits"] = [limits.seconds, limits.memory]
        with self._lock:
            used = self._process is not None
            try:
                try:
                    fields, array = self._ask(path, request, limits, most)
                except DeathError:
                    if not used or self._expired:
                        raise
                    # Another file may have left the child in disorder, so this one is only blamed in a new child.
                    fields, array = self._ask(path, request, limits, most)
            except DeathError as death:
                raise InputError(path, *death.args) from None
            if "exhausted" in fields:
                self.end()
        return _judged(path, fields, array, limits)

    def tell(self, order: dict[str, Any]) -> None:
        """Give an order that has no reply, at the latest before the next request; this never waits."""
        self._orders.append(order)
        if self._lock.acquire(blocking=False):  # this may be called by the garbage collector while the lock is held
            try:
                if self._process is not None:
                    self._give_orders(self._process)
            finally:
                self._lock.release()

    def end(self) -> None:
        """End the child at once; there is nothing in it to be saved."""
        process, self._process = self._process, None
        if process is not None:
            _end(process)

    def _ask(self, path: Path, request: dict[str, Any], limits: Limits, most: int) -> tuple[dict[str, Any], Any]:
        self._expired = False
        process = self._process = self._process or _start(path)
        watch = threading.Timer(limits.patience, self._expire, [process])
        watch.daemon = True
        watch.start()
        try:
            self._give_orders(process)
            send(_pipe(process.stdin), request)
            return receive(_pipe(process.stdout), most)
        except (EOFError, OSError):
            with suppress(subprocess.TimeoutExpired):
                process.wait(10)
            code = process.poll()
            self.end()
            raise self._death(code, limits) from None
        except ValueError:
            self.end()
            raise DeathError("confuses the library that reads it", _DAMAGED) from None
        except BaseException:  # Ctrl-C, for example: a late reply must not be taken for that of the next request
            self.end()
            raise
        finally:
            watch.cancel()

    def _give_orders(self, process: subprocess.Popen[bytes]) -> None:
        with suppress(OSError):  # a child that has died has forgotten everything anyway
            while self._orders:
                send(_pipe(process.stdin), self._orders.popleft() | {"answered": False})

    def _expire(self, process: subprocess.Popen[bytes]) -> None:
        self._expired = True
        process.kill()

    def _death(self, code: int | None, limits: Limits) -> DeathError:
        if code == -getattr(signal, "SIGPROF", 0) and code:
            self._expired = True
        if self._expired:
            return DeathError(f"takes more than {limits.seconds:.0f} seconds to read, as if it never ended", _DAMAGED)
        if code == -getattr(signal, "SIGKILL", 0) and code:
            return DeathError("cannot be read, as the system ended the process that reads it", "free some memory")
        how = f" ({signal.Signals(-code).name})" if code is not None and -code in set(signal.Signals) else ""
        return DeathError(f"crashes the library that reads it{how}", _DAMAGED)


def _judged(path: Path, fields: dict[str, Any], array: NDArray[Any] | None, limits: Limits) -> Reply:
    """Return what the child found, or raise what it says."""
    if "refused" in fields:
        part, problem, remedy = (str(text) for text in fields["refused"])
        raise InputError(f"{path}, {part}" if part else path, problem, remedy)
    if "exhausted" in fields:
        raise InputError(path, f"takes more than {shown(limits.memory)} of memory to read", _DAMAGED)
    if "unavailable" in fields:
        problem = f"needs a library that cannot be loaded ({str(fields['unavailable']).splitlines()[0]})"
        raise InputError(path, problem, "install it again")
    if "failed" in fields:
        raise LibraryError(str(fields["failed"]))
    return Reply(fields["facts"], array)


def _start(path: Path) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            [sys.executable, "-I", "-c", _PROGRAM, json.dumps(sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # libraries print there what the sentence says better
            env=os.environ | _FRUGAL,
            start_new_session=True,  # so that Ctrl-C reaches the parent alone
        )
    except (OSError, ValueError) as error:
        problem = f"cannot be read, as no process can be started to read it ({error})"
        raise InputError(path, problem, "free some memory, or end other programs") from None


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    for stream in (process.stdin, process.stdout):
        with suppress(OSError):  # what could not be sent is of no use any more
            _pipe(stream).close()
    with suppress(subprocess.TimeoutExpired):
        process.wait(10)


def _pipe(stream: IO[bytes] | None) -> Any:
    assert stream is not None  # because both are pipes
    return stream
