"""A folder of finished jobs: <key>.json, and <key>.npz beside it where the outcome has arrays.

Both are written all-or-nothing, the JSON last, and both are checked by their hashes when they are read: what is
damaged is as good as absent, and is named.
"""

from __future__ import annotations

import hashlib
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.errors import InputError
from gradcon.io.files import read_bytes, write_files
from gradcon.io.results import to_json, versions
from gradcon.jobs.job import Job, Outcome, sha256_of

FORMAT = "gradcon-job-1"


class Store:
    """Outcomes by the keys of their jobs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.damaged: list[str] = []  # a sentence for every file that could not be used

    def load(self, job: Job) -> Outcome | None:
        """A finished job's outcome; None where it is not there, or damaged."""
        path = self.folder / f"{job.key}.json"
        try:
            if not path.exists():
                return None
            kept = json.loads(read_bytes(path))
            if kept.pop("sha256") != sha256_of(kept) or kept["job"] != _plain(job.identity):
                raise InputError(f"{path}: does not hold what was written into it.")
            return Outcome(kept["record"], self._arrays(kept["arrays"]))
        except (InputError, ValueError, LookupError, TypeError, AttributeError, OSError) as error:
            why = str(error) if isinstance(error, InputError) else f"{path}: is not a finished job's file."
            self.damaged.append(why)
            return None

    def save(self, job: Job, outcome: Outcome, seconds: float) -> None:
        """Keep an outcome; `seconds` is how long it took."""
        files = []
        arrays: dict[str, str] | None = None
        if outcome.arrays:
            buffer = io.BytesIO()
            np.savez_compressed(buffer, allow_pickle=False, **outcome.arrays)
            arrays = {"file": f"{job.key}.npz", "sha256": hashlib.sha256(buffer.getvalue()).hexdigest()}
            files.append((arrays["file"], buffer.getvalue()))
        kept = _plain(
            {
                "format": FORMAT,
                "label": job.label,
                "job": job.identity,
                "seconds": seconds,
                "versions": versions(),
                "record": outcome.record,
                "arrays": arrays,
            }
        )
        files.append((f"{job.key}.json", to_json({**kept, "sha256": sha256_of(kept)}).encode()))
        write_files(self.folder, files)

    def _arrays(self, entry: dict[str, str] | None) -> dict[str, NDArray[Any]]:
        if entry is None:
            return {}
        content = read_bytes(self.folder / Path(entry["file"]).name)
        if hashlib.sha256(content).hexdigest() != entry["sha256"]:
            raise InputError(f"{self.folder / entry['file']}: does not hold what was written into it.")
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}


def _plain(value: Any) -> Any:
    """As it will be read back."""
    return json.loads(to_json(value))
