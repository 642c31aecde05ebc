"""Checks what workers answer: it is an input like any other, since a worker may run on a machine of somebody else."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from gradcon.damage import leaves_folder
from gradcon.errors import InputError
from gradcon.files import MAX_FILE_BYTES, to_json
from gradcon.jobs.job import Job, Outcome

MAX_RECORD_BYTES = 2**26  # of a record in JSON
MAX_FILES = 1000  # of an outcome
_REMEDY = "check who runs that worker, then repeat the command"


def check_outcome(job: Job, outcome: Any) -> None:
    """Refuse an answer that is no outcome, or whose record, arrays or files do not fit the job."""
    if not isinstance(outcome, Outcome):
        raise _odd(job, f"is of the type {type(outcome).__name__}")
    if not (isinstance(outcome.record, dict) and _is_plain(outcome.record)):
        raise _odd(job, "has a record that is not plain data")
    if not isinstance(outcome.seconds, (int, float)) or not 0 <= outcome.seconds < math.inf:
        raise _odd(job, "does not say how many seconds it took")
    if not isinstance(outcome.versions, Mapping) or not _is_plain(dict(outcome.versions)):
        raise _odd(job, "does not say what computed it")
    arrays, files = outcome.arrays, outcome.files
    if not isinstance(arrays, dict) or not all(isinstance(name, str) and _is_array(a) for name, a in arrays.items()):
        raise _odd(job, "has arrays that are not numbers")
    if not isinstance(files, Mapping) or len(files) > MAX_FILES:
        raise _odd(job, "has files that are not files, or too many")
    for name, content in files.items():
        if not isinstance(name, str) or leaves_folder(name):
            raise _odd(job, f"has a file {str(name)[:80]!r}, which would leave the folder of the results")
        if not isinstance(content, bytes) or len(content) > MAX_FILE_BYTES:
            raise _odd(job, f"has a file {name[:80]!r} that is not bytes, or too large")
    if job.check is not None:
        job.check(outcome)


def _odd(job: Job, problem: str) -> InputError:
    return InputError(job.label, f"what a worker answered {problem}", _REMEDY)


def _is_array(value: Any) -> bool:
    return type(value) is np.ndarray and value.dtype.kind in "biufcSU" and value.nbytes <= MAX_FILE_BYTES


def _is_plain(value: dict[str, Any]) -> bool:
    """Return whether a dictionary consists of what JSON holds, NumPy's numbers and tuples included, and is not huge."""
    try:
        text = to_json(value)
        return len(text) <= MAX_RECORD_BYTES and isinstance(json.loads(text), dict)
    except (ValueError, TypeError, RecursionError):
        return False
