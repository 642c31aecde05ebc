"""Fingerprints of the files of a video's frames, to tell whether earlier results belong to the same footage.

Names and sizes are not enough, because raw images all have the same size.  The whole content would be, but reading
gigabytes again to estimate one more frame takes too long.  A few samples that are spread over each file suffice:
another export has different noise everywhere, and a compressed file with other content differs towards its end.
Timestamps do not count, because a copy is the same video.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable
from pathlib import Path

from gradcon.errors import InputError
from gradcon.files import file_size
from gradcon.io import Frames
from gradcon.io.formats.frames import frame_files
from gradcon.io.listing import writable

SAMPLES, SAMPLE = 5, 4096  # samples per file, and bytes per sample


class Footage:
    """The files of a video's frames.  It caches what it has read, so make a new one for each run."""

    def __init__(self, found: Frames) -> None:
        source = found.listing.source
        folder = source if source.is_dir() else source.parent
        self._paths = {writable(view.name): folder / view.name for view in found.listing.views}
        self._frames = functools.cache(frame_files)
        self._digest = functools.cache(_digest)

    def fingerprint(self, frame: int, views: Iterable[str]) -> str | None:
        """Return a fingerprint of the files of these views at a frame, in their order; None if they cannot be read."""
        whole = hashlib.sha256()
        try:
            for name in views:
                path = self._paths[name]
                file = self._frames(path)[frame] if path.is_dir() else path
                whole.update(f"{file.name!r} ".encode() + self._digest(file))
        except (OSError, InputError, LookupError):
            return None
        return whole.hexdigest()


def _digest(path: Path) -> bytes:
    """Hash the size and the samples of a file; a small file is hashed completely."""
    found = hashlib.sha256()
    file_size(path)  # refuses a pipe, which would be waited for
    with open(path, "rb") as file:
        size = file.seek(0, 2)
        found.update(b"%d " % size)
        last = max(0, size - SAMPLE)
        for k in range(SAMPLES):
            file.seek(last * k // (SAMPLES - 1))
            found.update(file.read(SAMPLE))
    return found.digest()
