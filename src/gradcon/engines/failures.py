"""Errors of the libraries that engines use, translated: a sentence for the user instead of a traceback.

Only CuPy's need it today.  It is looked up only if it has been imported.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from gradcon.errors import DeviceError, InputError

# The CUDA errors that mean that there is no GPU, or no driver that suits it: initialization, stub library, old driver,
# devices unavailable, no device, and drivers that do not match.
ABSENT = (3, 34, 35, 46, 100, 803, 804)

Function = TypeVar("Function", bound=Callable[..., Any])


def in_words(function: Function) -> Function:
    """Decorate a function so that it raises our errors instead of CuPy's."""

    @wraps(function)
    def guarded(*arguments: Any, **options: Any) -> Any:
        try:
            return function(*arguments, **options)
        except Exception as error:
            translated = translate(error)
            if translated is None:
                raise
            raise translated from error

    return guarded  # type: ignore[return-value]


def translate(error: Exception) -> Exception | None:
    """Return what an error of CuPy's means to a user; None for any other error."""
    if sys.modules.get("cupy") is None:
        return None
    from cupy.cuda import driver, memory, runtime

    if isinstance(error, memory.OutOfMemoryError):
        return InputError(
            "engine",
            "the GPU has too little free memory for this scene",
            "use fewer views (--views), smaller images, or the engine cpu",
        )
    if isinstance(error, (runtime.CUDARuntimeError, driver.CUDADriverError)):
        return DeviceError(f"the GPU or its driver failed: {first_line(error)}; nvidia-smi shows its state.")
    return None


def first_line(error: Exception) -> str:
    """Return the first line of an error's text, or the name of its type if it has no text."""
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
