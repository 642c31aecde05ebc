"""Which GPUs this computer has, and how a process is told to use one of them.

CUDA reads CUDA_VISIBLE_DEVICES when a process first uses it.  So a process that only hands out work must not use CUDA
to count the GPUs: their driver's management library (NVML) lists them without it.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

VISIBLE = "CUDA_VISIBLE_DEVICES"
WHICH = "GRADCON_GPU"  # in a process that was given one of several: "2 of 4"
LEAST_CAPABILITY = 75  # of a GPU, times ten: the least that CUDA 13 compiles for
LIBRARY = "nvml.dll" if sys.platform == "win32" else "libnvidia-ml.so.1"
UUID_BYTES = 96  # NVML's longest, with the zero at its end


def environments() -> list[dict[str, str]]:
    """Return the variables for processes on each of the GPUs; an empty list unless there are at least two."""
    names = gpus()
    if len(names) < 2:
        return []
    return [{VISIBLE: name, WHICH: f"{number} of {len(names)}"} for number, name in enumerate(names, 1)]


def gpus() -> list[str]:
    """Return a name for each usable GPU that CUDA_VISIBLE_DEVICES takes; the user's own names if that is set."""
    told = os.environ.get(VISIBLE)
    if told is not None:
        return _named(told)
    return [uuid for uuid, capability in installed() if capability >= LEAST_CAPABILITY]


def note_of(name: str) -> str:
    """Return what users are told about the GPU of this name: also which it is, if there are several to share."""
    told = os.environ.get(WHICH)
    return f"{name}, GPU {told}" if told else name


def installed() -> list[tuple[str, int]]:
    """Return the UUID and the compute capability, times ten, of each GPU of this computer; nothing without a driver."""
    try:
        nvml: Any = ctypes.CDLL(LIBRARY)
        with _started(nvml):
            count = ctypes.c_uint()
            _check(nvml.nvmlDeviceGetCount_v2(ctypes.byref(count)))
            return [_described(nvml, number) for number in range(count.value)]
    except (OSError, AttributeError):  # no driver, or one too old to tell
        return []


def _named(told: str) -> list[str]:
    """Return the entries of CUDA_VISIBLE_DEVICES that CUDA sees: those before the first that names no GPU."""
    names: list[str] = []
    for entry in (one.strip() for one in told.split(",")):
        if not entry or entry.startswith("-") or entry in names:
            break
        names.append(entry)
    return names


def _described(nvml: Any, number: int) -> tuple[str, int]:
    handle, uuid = ctypes.c_void_p(), ctypes.create_string_buffer(UUID_BYTES)
    major, minor = ctypes.c_int(), ctypes.c_int()
    _check(nvml.nvmlDeviceGetHandleByIndex_v2(ctypes.c_uint(number), ctypes.byref(handle)))
    _check(nvml.nvmlDeviceGetUUID(handle, uuid, ctypes.c_uint(UUID_BYTES)))
    _check(nvml.nvmlDeviceGetCudaComputeCapability(handle, ctypes.byref(major), ctypes.byref(minor)))
    return uuid.value.decode(), 10 * major.value + minor.value


@contextmanager
def _started(nvml: Any) -> Iterator[None]:
    _check(nvml.nvmlInit_v2())
    try:
        yield
    finally:
        nvml.nvmlShutdown()


def _check(status: int) -> None:
    if status != 0:
        raise OSError(f"NVML answers {status}")
