"""A folder of finished jobs: <key>.json for each, and <key>.npz beside it if the outcome has arrays.

An outcome may also have files for people, which go where people look for them.  All files of a job are written
together or not at all, the JSON last.  When a job is looked up, their hashes are checked: a damaged outcome counts as
absent, and the damaged file is named.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import IO, Any, cast

import numpy as np
from numpy.typing import NDArray

from gradcon.damage import inside
from gradcon.errors import InputError
from gradcon.files import files_in, make_folder, read_bytes, remove_leftovers, to_json, write_files
from gradcon.jobs.checks import check_outcome
from gradcon.jobs.job import Job, Outcome, sha256_of
from gradcon.npz import open_npz

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows: there, as on file systems without locks, two runs in one folder go unnoticed
    fcntl = None

JOB_FORMAT = "gradcon-job-1"


class Store:
    """Keeps outcomes by the keys of their jobs.

    Parameters
    ----------
    folder : Path
        Holds the finished jobs.
    root : Path, optional
        The folder that the names of an outcome's files are relative to: `folder` (the default) or one above it.
    """

    def __init__(self, folder: Path, root: Path | None = None) -> None:
        self.folder = folder
        self.root = root or folder
        self.damaged: list[str] = []  # a sentence for each file that could not be used

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the folder for this process and remove what a killed one left; the lock ends with the process."""
        make_folder(self.folder)
        lock_file = self.folder / ".lock"
        try:  # neither wait for a pipe of this name, nor write where a link leads
            flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
            lock = open(os.open(lock_file, flags, 0o666), "r+b", buffering=0)  # noqa: SIM115
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise InputError(lock_file, f"cannot be written ({reason})", "choose another folder") from None
        with lock:
            if self._lock(lock):
                for place in (self.folder, self.folder.parent, *_folders_in(self.root)):
                    remove_leftovers(place)
            yield

    def _lock(self, lock: IO[bytes]) -> bool:
        """Return whether the lock could be taken; raise an error if another process holds it."""
        if fcntl is None:
            return False
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            raise InputError(
                self.folder, "is in use by another run", "wait for that run, or choose another folder"
            ) from None
        except OSError:  # a file system without locks
            return False
        return True

    def load(self, job: Job) -> Outcome | None:
        """Return a finished job's outcome without the contents of its files, or None if it is absent or damaged."""
        path = self.folder / f"{job.key}.json"
        try:
            if not path.exists():
                return None
            kept = self.read(path)
            if kept["job"] != _plain(job.identity):
                raise _altered(path)
            files = {
                name: self._checked(inside(self.root, name, path), sha256)
                for name, sha256 in kept.get("files", {}).items()
            }
            outcome = Outcome(kept["record"], self._arrays(kept["arrays"]), kept["seconds"], kept["versions"], files)
            check_outcome(job, outcome)
            return replace(outcome, files={})
        except (InputError, ValueError, LookupError, TypeError, AttributeError, OSError) as error:
            found = error if isinstance(error, InputError) else _strange(path)
            self.damaged.append(str(InputError(found.where, found.problem)))  # the user need not do anything about it
            return None

    def read(self, path: Path) -> dict[str, Any]:
        """Return what a finished job's file holds; a damaged one is an InputError."""
        content = read_bytes(path)
        try:
            kept: dict[str, Any] = json.loads(content)
            whole = kept.pop("sha256") == sha256_of(kept)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            raise _strange(path) from None
        if not whole:
            raise _altered(path)
        return kept

    def save(self, job: Job, outcome: Outcome) -> None:
        """Write an outcome and its files."""
        here = self.folder.relative_to(self.root)
        files = list(outcome.files.items())
        arrays: dict[str, str] | None = None
        if outcome.arrays:
            buffer = io.BytesIO()
            np.savez_compressed(buffer, **cast(dict[str, Any], outcome.arrays))
            arrays = {"file": f"{job.key}.npz", "sha256": hashlib.sha256(buffer.getvalue()).hexdigest()}
            files.append((str(here / arrays["file"]), buffer.getvalue()))
        kept = _plain(
            {
                "format": JOB_FORMAT,
                "label": job.label,
                "job": job.identity,
                "seconds": outcome.seconds,
                "versions": outcome.versions,
                "record": outcome.record,
                "arrays": arrays,
                "files": {name: hashlib.sha256(content).hexdigest() for name, content in outcome.files.items()},
            }
        )
        files.append((str(here / f"{job.key}.json"), to_json({**kept, "sha256": sha256_of(kept)}).encode()))
        finals = [inside(self.root, name, job.label) for name, _ in files]
        made = [path for folder in {final.parent for final in finals} for path in make_folder(folder)]
        try:
            write_files(self.root, files)
        except BaseException:
            for folder in made:
                with suppress(OSError):  # it is not empty
                    folder.rmdir()
            raise

    def _arrays(self, entry: dict[str, str] | None) -> dict[str, NDArray[Any]]:
        if entry is None:
            return {}
        path = self.folder / Path(entry["file"]).name
        arrays = open_npz(path, self._checked(path, entry["sha256"]))
        return {name: array.read() for name, array in arrays.items()}

    def _checked(self, path: Path, sha256: str) -> bytes:
        content = read_bytes(path)
        if hashlib.sha256(content).hexdigest() != sha256:
            raise _altered(path)
        return content


def _strange(path: Path) -> InputError:
    return InputError(path, "is not the file of a finished job")


def _altered(path: Path) -> InputError:
    return InputError(path, "no longer holds what was written into it")


def _folders_in(folder: Path) -> list[Path]:
    return [path for path in files_in(folder) if path.is_dir()] if folder.is_dir() else []


def _plain(value: Any) -> Any:
    """Return a value as it will be read back."""
    return json.loads(to_json(value))
