"""Which gradcon this is, and what it runs on."""

from __future__ import annotations

import importlib.metadata
import platform
from collections.abc import Sequence


def versions(packages: Sequence[str] = ("gradcon", "numpy", "scipy", "numba")) -> dict[str, str | None]:
    """Versions of what a result depends on, found without importing it."""
    found: dict[str, str | None] = {"python": platform.python_version()}
    for package in packages:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = None
    return found
