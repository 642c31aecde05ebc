"""Compile the kernels that a run needs, in several processes side by side, before the run needs them.

Numba compiles one function at a time in a process.  So this process starts others, each of which compiles some parts
(`kernel_parts`) into Numba's cache, compiles a part itself, and then loads all of them from there.  Nothing depends on
the others: what one of them has not compiled, because it died or cannot write, this process compiles when it needs it.

They are plain child processes and not those of `multiprocessing`, which would import the user's script once more.
"""

from __future__ import annotations

import atexit
import json
import math
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, NamedTuple

from gradcon.methods.kernel_parts import PIXELS, Part, part, parts_for

START_SECONDS = 1.0  # until a child begins to compile
CHILD = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from gradcon.methods.compilation import work; work()"
ONCE = "compiling for this computer, once"
NOT_KEPT = "compiling, in every run, because the code cannot be kept; set NUMBA_CACHE_DIR to a folder for it"
Say = Callable[[str], None]


class _Child(NamedTuple):
    process: subprocess.Popen[bytes]
    parts: list[str]


_lock = threading.RLock()
_children: list[_Child] = []
_own: list[str] = []  # the parts that this process will compile
_known: set[str] = set()  # the parts that need no further check
_unsaid: list[Callable[[], None]] = []  # say that somebody has to wait, as soon as somebody does


def begin(
    engine: str,
    *methods: str,
    pixels: Sequence[str] = PIXELS,
    say: Say | None = None,
    processes: int | None = None,
) -> None:
    """Start to compile what these methods need, if it has not been compiled on this computer yet.

    Parameters
    ----------
    engine : str
        Its own name: "auto" is none.
    pixels : sequence of str
        The types of the views' pixels; a guess may be wrong, see `finish`.
    say : callable, optional
        Called with a sentence when `finish` waits for something: a refusal before that stands alone.
    processes : int, optional
        How many processes may compile, this one included; by default as many as this process has threads for kernels.
    """
    with _lock:
        under_way = {name for child in _children for name in child.parts}.union(_own, _known)
        parts = {name: found for name, found in parts_for(engine, methods, pixels).items() if name not in under_way}
        missing = {name: found for name, found in parts.items() if found.is_missing()}
        _known.update(parts.keys() - missing.keys())
        if not missing:
            return
        shares = _dealt(missing, processes or _threads())
        if say is not None:
            _unsaid.append(partial(say, _sentence(missing, shares)))
        *others, last = shares
        _own.extend(last)
        for share in others:
            child = _started(share)
            if child is None:
                _own.extend(share)
            else:
                _children.append(child)


def finish(engine: str, *methods: str, pixels: Sequence[str] = PIXELS) -> None:
    """Return when all that was begun is compiled; what these methods do not need is stopped instead."""
    with _lock:
        needed = parts_for(engine, methods, pixels) if _own or _children else {}
        try:
            if needed.keys() & {*_own, *(name for child in _children for name in child.parts)}:
                for tell in _unsaid:
                    tell()
            for child in _children:
                if not needed.keys() & set(child.parts):
                    child.process.kill()
            for name in _own:
                if name in needed:
                    needed[name].compile()
            for child in _children:
                child.process.wait()
            _known.update(needed)
        finally:
            stop()


def compile_missing(
    engine: str,
    *methods: str,
    pixels: Sequence[str] = PIXELS,
    say: Say | None = None,
    processes: int | None = None,
) -> None:
    """Compile what these methods need, if it has not been compiled on this computer yet."""
    begin(engine, *methods, pixels=pixels, say=say, processes=processes)
    finish(engine, *methods, pixels=pixels)


def to_compile(engine: str, *methods: str, pixels: Sequence[str] = PIXELS) -> str:
    """Say what a warm-up on all cores will have to compile; nothing if all is there."""
    missing = {name: found for name, found in parts_for(engine, methods, pixels).items() if found.is_missing()}
    return _sentence(missing, _dealt(missing, cores())) if missing else ""


@contextmanager
def announced(say: Say | None) -> Iterator[None]:
    """Say it, once, if this process compiles a kernel in this context after all.

    `begin` cannot foresee everything: views whose brightness is compensated have other pixels than their files.
    """
    if say is None:
        yield
        return
    from numba.core import event

    from gradcon.engines.cpu.compiling import is_cachable

    said: list[str] = []
    tell = say

    class Listener(event.Listener):
        def on_start(self, event: Any) -> None:
            kernel = event.data["dispatcher"]
            if not said and kernel.py_func.__module__.startswith("gradcon."):
                kept = is_cachable(kernel) or kernel.targetoptions.get("forceinline")  # a helper is kept in its kernel
                said.append(ONCE if kept else NOT_KEPT)
                tell(said[0])

        def on_end(self, event: Any) -> None:
            pass

    with event.install_listener("numba:compile", Listener()):
        yield


def stop() -> None:
    """End all children, and forget what they were doing."""
    with _lock:
        for child in _children:
            child.process.kill()
            child.process.wait()
            if child.process.stdin is not None:
                with suppress(OSError):
                    child.process.stdin.close()
        for kept in (_children, _own, _unsaid):
            kept.clear()


def work() -> None:
    """Compile the parts that the command line names; a child runs this."""
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    for name in sys.argv[2:]:
        part(name).compile()


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _threads() -> int:
    import numba

    return min(cores(), numba.get_num_threads())


def _dealt(parts: dict[str, Part], processes: int) -> list[list[str]]:
    """Deal parts to processes so that all take about as long; the share that takes longest comes first."""
    shares: list[list[str]] = [[] for _ in range(max(1, min(processes, len(parts))))]

    def seconds(share: Iterable[str]) -> float:
        return sum(parts[name].seconds for name in share)

    for name in sorted(parts, key=lambda name: -parts[name].seconds):
        min(shares, key=seconds).append(name)
    return sorted(shares, key=seconds, reverse=True)


def _sentence(parts: dict[str, Part], shares: list[list[str]]) -> str:
    longest = max(sum(parts[name].seconds for name in share) for share in shares)
    return f"{ONCE}; about {math.ceil(longest + START_SECONDS * (len(shares) > 1))} s"


def _started(parts: list[str]) -> _Child | None:
    """Start a child; None if there is no interpreter to start, as in a program that embeds Python."""
    import numba

    executable = sys.executable or ""
    if getattr(sys, "frozen", False) or "python" not in os.path.basename(executable).lower():
        return None
    environment = dict(os.environ)
    folder = getattr(numba.config, "CACHE_DIR", "")  # it may have been set in this process
    if folder:
        environment["NUMBA_CACHE_DIR"] = str(folder)
    try:
        process = subprocess.Popen(
            [executable, "-c", CHILD, json.dumps(sys.path), *parts],
            stdin=subprocess.PIPE,  # it closes when this process dies
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
    except OSError:
        return None
    return _Child(process, parts)


def _leave_with_parent() -> None:
    """End this process when the one that started it is gone."""
    os.read(0, 1)
    os._exit(1)


atexit.register(stop)
