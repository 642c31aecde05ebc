"""Jobs, their outcomes, and the key under which an outcome is kept."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.identity import sources


@dataclass(frozen=True)
class Outcome:
    """What a job returns."""

    record: dict[str, Any]  # plain types, as in JSON
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)
    seconds: float = 0.0  # how long the job took
    versions: Mapping[str, str | None] = field(default_factory=dict)  # of the software that computed it
    files: Mapping[str, bytes] = field(default_factory=dict)  # for people, by paths relative to the store's root


@dataclass(frozen=True)
class Job:
    """One piece of work: `function(**parameters, **where)`.

    Parameters
    ----------
    function : callable
        Returns an `Outcome`.  It is defined at the top level of a module, so that other processes can import it.
    parameters : mapping
        Everything that the outcome depends on besides the inputs, in plain types.
    inputs : str
        Hash of the data that the job works on.
    label : str
        A description for people.
    where : mapping
        How the function finds its data.  It is not part of the key, because folders may move.
    cost : float
        About how long the job takes, in any unit that all jobs of a run share; used to estimate the time left.
    alone : bool
        Whether no other job may run at the same time, because this one measures time.
    changed : callable, optional
        Called when the job is done.  If the data have changed since `inputs` was computed, it returns a sentence that
        says so, and the outcome is not kept.
    check : callable, optional
        Called with every outcome, also with one that was kept.  If the function cannot have returned it, because a
        worker or a file is not to be trusted, it raises an InputError.
    """

    function: Callable[..., Outcome]
    parameters: Mapping[str, Any]
    inputs: str
    label: str
    where: Mapping[str, Any] = field(default_factory=dict)
    cost: float = 1.0
    alone: bool = False
    changed: Callable[[], str | None] | None = None
    check: Callable[[Outcome], None] | None = None

    @cached_property
    def identity(self) -> dict[str, Any]:
        """Everything that the outcome depends on: the function, its arguments, the data, and the code of gradcon."""
        return {
            "function": f"{self.function.__module__}.{self.function.__qualname__}",
            "parameters": dict(self.parameters),
            "inputs": self.inputs,
            "sources": sources(),
        }

    @cached_property
    def key(self) -> str:
        return sha256_of(self.identity)

    def __call__(self) -> Outcome:
        return self.function(**self.parameters, **self.where)


def sha256_of(value: Any) -> str:
    """Hash plain data; the order of the keys does not matter."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, allow_nan=False).encode()).hexdigest()


def sha256_of_array(array: NDArray[Any] | None) -> str:
    """Hash the type, shape and values of an array."""
    if array is None:
        return ""
    return hashlib.sha256(f"{array.dtype}{array.shape}".encode() + np.ascontiguousarray(array).tobytes()).hexdigest()
