"""What the frames of a video are read from, so that frames of before can be told from those of a new export.

Names and sizes would not do: raw images are all of one size.  All of the content would, but reading gigabytes again to
estimate one more frame is too much.  So a few samples of each file are looked at, spread over it: another export has
other noise everywhere, and a compressed file of other content differs towards its end.  The time of a file is no part
of it: a copy is the same video.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable
from pathlib import Path

from gradcon.errors import InputError
from gradcon.io import Frames
from gradcon.io.frames import frame_files
from gradcon.io.listing import writable

SAMPLES, SAMPLE = 5, 4096  # of a file, and bytes of one


class Footage:
    """The files of a video's frames; remembers what it has looked at, so it is made anew for each run."""

    def __init__(self, found: Frames) -> None:
        source = found.listing.source
        folder = source if source.is_dir() else source.parent
        self._paths = {writable(view.name): folder / view.name for view in found.listing.views}
        self._frames = functools.cache(frame_files)
        self._digest = functools.cache(_digest)

    def fingerprint(self, frame: int, views: Iterable[str]) -> str | None:
        """Of what a frame of these views is read from, in their order; None where that cannot be told."""
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
    """Of a file's size and samples; of a small one, of all."""
    found = hashlib.sha256()
    with open(path, "rb") as file:
        size = file.seek(0, 2)
        found.update(b"%d " % size)
        last = max(0, size - SAMPLE)
        for k in range(SAMPLES):
            file.seek(last * k // (SAMPLES - 1))
            found.update(file.read(SAMPLE))
    return found.digest()
