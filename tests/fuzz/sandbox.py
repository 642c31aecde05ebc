"""A folder in memory that holds the files of the samples, and those of one case in place of them."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from fuzz.cases import Case
from fuzz.sample import Sample

SHARED_MEMORY = Path("/dev/shm")


def make_root() -> Path:
    """Make a folder, in memory where that is possible."""
    return Path(tempfile.mkdtemp(prefix="gradcon-fuzz-", dir=SHARED_MEMORY if SHARED_MEMORY.is_dir() else None))


class Sandbox:
    """Writes samples once, and then only what a case changes."""

    def __init__(self, folder: Path, samples: Sequence[Sample]) -> None:
        self.folder, self.samples = folder, samples
        self._changed: set[tuple[int, str]] = set()
        for place, sample in enumerate(samples):
            for name, content in sample.files.items():
                self._put(place, name, content)

    def lay_out(self, case: Case) -> Path:
        """Write the case's files, restore those of earlier cases, and return what its reader gets."""
        for place, name in self._changed - {(case.place, name) for name in case.changes}:
            self._put(place, name, self.samples[place].files[name])
        self._changed = {(case.place, name) for name in case.changes}
        for name, content in case.changes.items():
            self._put(case.place, name, content)
        return self.folder / str(case.place) / case.sample.opened

    def _put(self, place: int, name: str, content: bytes | None) -> None:
        path = self.folder / str(place) / name
        if path.is_dir():
            shutil.rmtree(path)
        if content is None:
            path.unlink(missing_ok=True)
            path.mkdir()
            return
        try:
            path.write_bytes(content)
        except FileNotFoundError:
            path.parent.mkdir(parents=True)
            path.write_bytes(content)
