"""Stop a command before one of its file operations, as `kill -9` at that moment would."""

from __future__ import annotations

import builtins
import contextlib
import io
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from batch_scenes import everything
from gradcon import Options, Scene

STOPPED, DONE, RAISED = 77, 0, 1  # exit codes of the child
CHANGES = ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "os.link", "os.symlink", "os.chmod")
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC


def once(compute: Callable[..., Any]) -> Callable[..., Any]:
    """Compute the maps of each scene once, as only the files matter to those who stop commands."""
    known: dict[str, Any] = {}

    def computed(scene: Scene, options: Options, **how: Any) -> Any:
        key = f"{scene.name} {scene.fingerprint()} {options} {how}"
        if key not in known:
            known[key] = compute(scene, options, **how)
        return known[key]

    return computed


def kill_at_every_step(
    out: Path,
    command: Callable[[], int],
    before: Callable[[], object] = lambda: None,
    check: Callable[[], object] = lambda: None,
) -> None:
    """Compare with an undisturbed run what is left below `out` after a run that is killed, and another.

    `before` makes what the command finds there, and `check` looks at what the killed run leaves.
    """

    def begin() -> None:
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        before()

    begin()
    assert run(command) == 0
    expected = _left(out)
    number = 0
    begin()
    while stopped(command, number, out):
        check()
        assert run(command) == 0, f"killed before operation {number}"
        assert _left(out) == expected, f"killed before operation {number}"
        begin()
        number += 1
    assert number > 3
    assert _left(out) == expected


def _left(out: Path) -> dict[str, bytes]:
    """Return all files, and the names of all folders."""
    return everything(out) | {f"{path.relative_to(out)}/": b"" for path in out.rglob("*") if path.is_dir()}


def run(command: Callable[[], int]) -> int:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        return command()


def stopped(command: Callable[[], object], number: int, folder: Path) -> bool:
    """Run a command in a forked child that ends before its file operation `number` below `folder`, counted from 0.

    An operation opens a file for writing, writes the second half of what goes into it, makes it last, renames it, or
    removes it; or makes or removes a folder.  Return False if the command came to its end first.
    """
    child = os.fork()
    if child == 0:
        try:
            _stop_at(number, str(folder))
            command()
            os._exit(DONE)
        finally:
            os._exit(RAISED)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (STOPPED, DONE), f"the command failed on its way to operation {number}"
    return code == STOPPED


def _stop_at(number: int, folder: str) -> None:
    left = number

    def count() -> None:
        nonlocal left
        if left == 0:
            os._exit(STOPPED)
        left -= 1

    def notice(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, _, flags = arguments
            if isinstance(flags, int) and flags & WRITES and _below(folder, path):
                count()
        elif event in CHANGES and (_below(folder, arguments[0]) or not os.path.isabs(os.fsdecode(arguments[0]))):
            count()  # `shutil.rmtree` names files by the handle of their folder

    sys.addaudithook(notice)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    real_open, real_fsync = builtins.open, os.fsync

    def opened(file: Any, mode: str = "r", *more: Any, **others: Any) -> Any:
        handle = real_open(file, mode, *more, **others)
        return HalfWritten(handle, count) if "b" in mode and set(mode) & set("wxa") else handle

    def synced(handle: int) -> None:
        count()
        real_fsync(handle)

    builtins.open, os.fsync = opened, synced  # type: ignore[assignment]


def _below(folder: str, path: Any) -> bool:
    return not isinstance(path, int) and os.path.abspath(os.fsdecode(path)).startswith(folder)


class HalfWritten:
    """A file that passes half of what it is given on, and the rest only after that has been counted."""

    def __init__(self, handle: Any, count: Callable[[], None]) -> None:
        self._handle, self._count = handle, count

    def __enter__(self) -> HalfWritten:
        return self

    def __exit__(self, *_: object) -> None:
        self._handle.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._handle, name)

    def write(self, content: bytes) -> int:
        half = len(content) // 2
        self._handle.write(content[:half])
        self._handle.flush()
        self._count()
        self._handle.write(content[half:])
        return len(content)
