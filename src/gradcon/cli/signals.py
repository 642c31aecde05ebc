"""End a command by Ctrl-C or SIGTERM, which cluster schedulers send, by an exception that lets it clear up.

An exception is lost if the signal arrives in a callback of C code, as while LLVM compiles.  Python would print it there
and go on, and the compiler would fail for want of what the callback did.  So it is raised again a moment later, and
whatever else goes wrong in the meantime counts as the end that was asked for.
"""

from __future__ import annotations

import signal
import sys
from typing import Any, NoReturn

AGAIN = 0.01  # seconds

_asked: list[int] = []  # the first signal that asked for the end


def obey_signals() -> None:
    """Install the handlers; a command that was started to ignore Ctrl-C, in the background of a shell, still does."""
    signal.signal(signal.SIGTERM, _end)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)


def code_of_end() -> int | None:
    """Return the exit code if a signal has asked for the end, or None; the exception is not raised again after this."""
    if not _asked:
        return None
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0)
    return 128 + _asked[0]


def _end(number: int, frame: object) -> NoReturn:
    if number == signal.SIGTERM:
        signal.signal(number, signal.SIG_IGN)  # ignore further ones: the process is already ending
    _asked.append(number)
    sys.unraisablehook = _raise_later
    raise _exception()


def _raise_later(lost: Any) -> None:
    if hasattr(signal, "setitimer") and isinstance(lost.exc_value, (SystemExit, KeyboardInterrupt)):
        signal.signal(signal.SIGALRM, _raise_again)
        signal.setitimer(signal.ITIMER_REAL, AGAIN)


def _raise_again(number: int, frame: object) -> NoReturn:
    raise _exception()


def _exception() -> BaseException:
    return SystemExit(128 + _asked[0]) if _asked[0] == signal.SIGTERM else KeyboardInterrupt()
