"""Decide about a case: fine, refused, or a finding."""

from __future__ import annotations

import os
import resource
import time
import traceback
import warnings
from pathlib import Path
from typing import Any, NamedTuple

from fuzz.readers import READERS, StrangeError
from fuzz.texts import steers_terminal
from gradcon.errors import InputError

FINE, REFUSED, FINDING = "fine", "refused", "finding"
LONGEST = 5.0  # seconds of CPU time
LARGEST = 2**30  # bytes of growth
MOST_TEXT = 3000  # characters of a sentence
_SILENT = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)  # Python does not show them


class Verdict(NamedTuple):
    """What became of a case, with a line about a finding, and what it took."""

    outcome: str
    what: str
    seconds: float
    growth: int


class Judge:
    """Judges cases in this process, whose stdout and stderr it takes over."""

    def __init__(self) -> None:
        self._noise = os.memfd_create("noise")
        for stream in (1, 2):
            os.dup2(self._noise, stream)
        self._warned: list[str] = []
        warnings.simplefilter("always")
        for kind in _SILENT:
            warnings.simplefilter("ignore", kind)
        warnings.showwarning = self._note_warning
        self._peak = _peak()

    def judge(self, reader: str, path: Path) -> Verdict:
        """Read what is at `path`."""
        begun, before = time.process_time(), _resident()
        try:
            READERS[reader](path)
            outcome, what = FINE, ""
        except InputError as error:
            what = complaint(str(error), path)
            outcome = FINDING if what else REFUSED
        except StrangeError as error:
            outcome, what = FINDING, str(error)
        except Exception as error:
            outcome, what = FINDING, summary(error)
        seconds, growth = time.process_time() - begun, self._growth(before)
        for noticed in (self._noticed(), "takes too long" * (seconds > LONGEST), "grows" * (growth > LARGEST)):
            if noticed and outcome != FINDING:
                outcome, what = FINDING, noticed
        return Verdict(outcome, what, seconds, growth)

    def _noticed(self) -> str:
        """Return warnings and what was printed, and forget them."""
        found, self._warned[:] = " ".join(self._warned), []
        if os.fstat(self._noise).st_size:
            os.lseek(self._noise, 0, os.SEEK_SET)
            found += f" prints {os.read(self._noise, 2000)!r:.400}"
            os.ftruncate(self._noise, 0)
            os.lseek(self._noise, 0, os.SEEK_SET)
        return found

    def _note_warning(self, message: Any, category: Any, filename: str, lineno: int, *more: Any) -> None:
        self._warned.append(f"warns at {Path(filename).name}:{lineno}: {category.__name__}: {message}")

    def _growth(self, before: int) -> int:
        """Return how far the peak of the memory rose above what was in use; look again from here if it rose."""
        peak = _peak()
        if peak <= self._peak:
            return 0
        self._peak = peak
        return max(0, peak - before)


def complaint(sentence: str, path: Path) -> str:
    """Return what is wrong with the sentence of an InputError, or an empty text."""
    if steers_terminal(sentence):
        return f"a sentence with control characters: {sentence!r:.300}"
    if not sentence.startswith(str(path)):
        return f"a sentence that does not begin with the file: {sentence!r:.300}"
    if len(sentence) > MOST_TEXT:
        return f"a sentence of {len(sentence)} characters: {sentence!r:.300}"
    return ""


def summary(error: BaseException) -> str:
    """Return an exception and where in gradcon it was raised, on one line."""
    places = [frame for frame in traceback.extract_tb(error.__traceback__) if "gradcon" in frame.filename]
    where = f" at {Path(places[-1].filename).name}:{places[-1].lineno}" if places else ""
    return f"{type(error).__name__}{where}: {str(error)!r:.300}"


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()
