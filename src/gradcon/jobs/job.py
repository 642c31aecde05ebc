"""What a job is, and the key under which its outcome is kept."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

import gradcon

# What an estimate depends on: when one of these files changes, kept outcomes no longer count.
MODEL_SOURCES = (
    "model.py", "geometry.py", "luma.py", "scene.py", "scene_checks.py", "schedules.py", "minimise.py", "metrics.py",
    "engines/*.py", "engines/*.cu", "engines/*.h",
)  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    """What a job answers."""

    record: dict[str, Any]  # plain types, as JSON has them
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)
    seconds: float = 0.0  # how long it took
    versions: Mapping[str, str | None] = field(default_factory=dict)  # of what it was computed with
    files: Mapping[str, bytes] = field(default_factory=dict)  # by paths relative to the store's root, for people


@dataclass(frozen=True)
class Job:
    """One piece of work: `function(**parameters, **where)`.

    Parameters
    ----------
    function : callable
        At the top of a module, so that other processes can find it; returns an `Outcome`.
    parameters : mapping
        Everything the outcome depends on besides the inputs; plain types.
    inputs : str
        Hash of the data it works on.
    label : str
        For people.
    where : mapping
        How the function finds its data: no part of the key, as a folder may move.
    cost : float
        About how long it takes, in any unit that the other jobs share; for the estimate of the time left.
    alone : bool
        Whether it wants the machine for itself, because it measures time.
    changed : callable, optional
        Asked when it is done: why the outcome cannot be kept, in a sentence, if its data are no longer those whose
        hash `inputs` is.
    """

    function: Callable[..., Outcome]
    parameters: Mapping[str, Any]
    inputs: str
    label: str
    where: Mapping[str, Any] = field(default_factory=dict)
    cost: float = 1.0
    alone: bool = False
    changed: Callable[[], str | None] | None = None

    @cached_property
    def identity(self) -> dict[str, Any]:
        """All that the outcome depends on."""
        return {
            "function": f"{self.function.__module__}.{self.function.__qualname__}",
            "parameters": dict(self.parameters),
            "inputs": self.inputs,
            "model": model_sha256(),
        }

    @cached_property
    def key(self) -> str:
        return sha256_of(self.identity)

    def __call__(self) -> Outcome:
        return self.function(**self.parameters, **self.where)


def sha256_of(value: Any) -> str:
    """Of plain data, whatever the order of its keys."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, allow_nan=False).encode()).hexdigest()


@cache
def sha256_of_source(*modules: ModuleType | str) -> str:
    """Of the source of modules: a part of `inputs`, where the outcome depends on more code than the model's."""
    return sha256_of(
        [Path(str(sys.modules[m].__file__ if isinstance(m, str) else m.__file__)).read_text() for m in modules]
    )


def sha256_of_array(array: NDArray[Any] | None) -> str:
    if array is None:
        return ""
    return hashlib.sha256(f"{array.dtype}{array.shape}".encode() + np.ascontiguousarray(array).tobytes()).hexdigest()


def model_sha256() -> str:
    """Of the source code that an estimate depends on."""
    return sha256_of_files(*MODEL_SOURCES)


@cache
def sha256_of_files(*patterns: str) -> str:
    """Of this package's files of these names."""
    package = Path(gradcon.__file__).parent
    digest = hashlib.sha256()
    for pattern in patterns:
        for path in sorted(package.glob(pattern)):
            digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()
