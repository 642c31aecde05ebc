"""A folder of finished jobs: <key>.json, and <key>.npz beside it where the outcome has arrays.

An outcome may have files for people too, which go where they are to be found.  All are written all-or-nothing, the JSON
last, and are checked by their hashes when the job is looked up: what is damaged is as good as absent, and is named.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType
from typing import IO, Any, cast

import numpy as np
from numpy.typing import NDArray

from gradcon.errors import InputError
from gradcon.files import files_in, make_folder, read_bytes, remove_leftovers, to_json, write_files
from gradcon.jobs.job import Job, Outcome, sha256_of
from gradcon.npz import open_npz

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows: two runs at once in one folder are not noticed there, nor where files have no locks
    fcntl = None

JOB_FORMAT = "gradcon-job-1"


class Store:
    """Outcomes by the keys of their jobs.

    Parameters
    ----------
    folder : Path
        Of the finished jobs.
    root : Path, optional
        What the names of an outcome's files are relative to: `folder`, or one above it.
    """

    def __init__(self, folder: Path, root: Path | None = None) -> None:
        self.folder = folder
        self.root = root or folder
        self.damaged: list[str] = []  # a sentence for every file that could not be used

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep the folder for this process, and sweep up what a killed one left; the lock goes with the process."""
        make_folder(self.folder)
        try:
            lock = open(self.folder / ".lock", "w")  # noqa: SIM115
        except OSError as error:
            raise InputError(
                f"{self.folder / '.lock'}: cannot be written ({(error.strerror or str(error)).lower()}); "
                "choose another folder."
            ) from None
        with lock:
            if self._lock(lock):
                for place in (self.folder, self.folder.parent, *_folders_in(self.root)):
                    remove_leftovers(place)
            yield

    def _lock(self, lock: IO[str]) -> bool:
        """Whether the folder is this process's alone now; an error if it is another's."""
        if fcntl is None:
            return False
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            raise InputError(
                f"{self.folder}: another run is working in this folder; wait for it, or choose another."
            ) from None
        except OSError:  # a file system without locks
            return False
        return True

    def load(self, job: Job) -> Outcome | None:
        """A finished job's outcome, without its files' contents; None where it is not there, or damaged."""
        path = self.folder / f"{job.key}.json"
        try:
            if not path.exists():
                return None
            kept = self.read(path)
            if kept["job"] != _plain(job.identity):
                raise InputError(f"{path}: does not hold what was written into it.")
            for name, sha256 in kept.get("files", {}).items():
                self._checked(self.root / name, sha256)
            return Outcome(kept["record"], self._arrays(kept["arrays"]), kept["seconds"], kept["versions"])
        except (InputError, ValueError, LookupError, TypeError, AttributeError, OSError) as error:
            sentence = str(error) if isinstance(error, InputError) else _strange(path)
            self.damaged.append(sentence.partition("; ")[0].rstrip(".") + ".")  # there is nothing to do about it
            return None

    def read(self, path: Path) -> dict[str, Any]:
        """What a finished job's file holds; an InputError where it is damaged."""
        content = read_bytes(path)
        try:
            kept: dict[str, Any] = json.loads(content)
            whole = kept.pop("sha256") == sha256_of(kept)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            raise InputError(_strange(path)) from None
        if not whole:
            raise InputError(f"{path}: does not hold what was written into it.")
        return kept

    def save(self, job: Job, outcome: Outcome) -> None:
        """Keep an outcome."""
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
        made = [path for folder in {(self.root / name).parent for name, _ in files} for path in make_folder(folder)]
        try:
            write_files(self.root, files)
        except BaseException:
            for folder in made:
                with suppress(OSError):  # not empty
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
            raise InputError(f"{path}: does not hold what was written into it.")
        return content


def _strange(path: Path) -> str:
    return f"{path}: is not a finished job's file."


def _folders_in(folder: Path) -> list[Path]:
    return [path for path in files_in(folder) if path.is_dir()] if folder.is_dir() else []


def _plain(value: Any) -> Any:
    """As it will be read back."""
    return json.loads(to_json(value))
