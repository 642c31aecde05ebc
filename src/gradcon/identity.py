"""Which gradcon this is, and what it runs on."""

from __future__ import annotations

import hashlib
import importlib.metadata
import platform
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from gradcon import __version__


def versions(packages: Sequence[str] = ("numpy", "scipy", "numba")) -> dict[str, str | None]:
    """Return the versions of everything a result depends on, without importing the packages."""
    found: dict[str, str | None] = {"python": platform.python_version(), "gradcon": __version__}
    for package in packages:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = None
    return found


@cache
def sources() -> str:
    """Return a hash of this package's source files: two processes with the same hash run the same gradcon.

    Every file counts, so that no list can miss one.  The files of a released wheel never change, so for an installed
    gradcon the hash stands for its version; unlike the version, it also changes when somebody edits a checkout,
    reinstalls one, or patches an installed file.
    """
    return hash_of_folder(Path(__file__).parent)


def hash_of_folder(folder: Path) -> str:
    """Hash the relative paths and contents of all files below a folder, except hidden ones and `__pycache__`."""
    files = {path.relative_to(folder): path for path in folder.rglob("*") if path.is_file()}
    digest = hashlib.sha256()
    for name in sorted(files, key=lambda name: name.as_posix()):
        if not any(part == "__pycache__" or part.startswith(".") for part in name.parts):
            content = files[name].read_bytes()
            digest.update(f"{name.as_posix()}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()
