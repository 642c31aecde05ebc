"""How much time and memory reading a file may take in the child process."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

SECONDS = 4.0  # of computing, for a file of next to nothing
MEMORY = 2**29  # bytes, for the same
RATE = 1e7  # bytes a second: the slowest codec on a slow machine still unpacks this much
COPIES = 4  # of what is unpacked, which a library may hold at once


@dataclass(frozen=True)
class Limits:
    """The limits of one request.

    Attributes
    ----------
    seconds : float
        Computing time, and not time by the clock, so that a busy machine does not matter.
    memory : int
        Bytes by which the process may grow.
    """

    seconds: float = SECONDS
    memory: int = MEMORY

    @classmethod
    def of(cls, unpacked: int) -> Limits:
        """Return the limits of a request that unpacks this many bytes."""
        return cls(SECONDS + unpacked / RATE, MEMORY + COPIES * unpacked)

    @property
    def patience(self) -> float:
        """The seconds by the clock after which even a process that does not compute has failed."""
        return 60 + 10 * self.seconds


if sys.platform == "win32":  # only the clock limits a process there

    @contextmanager
    def limited(limits: Limits) -> Iterator[None]:
        """Do nothing, because this system cannot limit a process from within."""
        yield

else:
    import resource

    @contextmanager
    def limited(limits: Limits) -> Iterator[None]:
        """Limit this process: the system ends it if it computes for too long, even within a C library."""
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        _set(resource.RLIMIT_CORE, 0)
        _set(resource.RLIMIT_FSIZE, 0)  # whoever reads need not write
        if (size := _size()) is not None:
            _set(resource.RLIMIT_AS, size + limits.memory)
        signal.setitimer(signal.ITIMER_PROF, limits.seconds)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            _set(resource.RLIMIT_AS, None)

    def _set(kind: int, most: int | None) -> None:
        """Set a limit, as far as the system allows; None stands for the highest."""
        highest = resource.getrlimit(kind)[1]
        free = resource.RLIM_INFINITY
        soft = highest if most is None else most if highest == free else min(most, highest)
        resource.setrlimit(kind, (soft, highest))

    def _size() -> int | None:
        """Return the bytes of address space that this process takes, or None where the system does not say."""
        try:
            return int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        except (OSError, ValueError, IndexError):
            return None
