"""An emulated GPU: the kernels compiled for the host and run thread by thread, for the engine to use as a device."""

from __future__ import annotations

import ctypes
import hashlib
import shutil
import subprocess
import time
from collections.abc import Sequence
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from gradcon.engines.cuda.device import COOPERATIVE
from gradcon.engines.cuda.source import KERNELS, source
from gradcon.scene import Scene

COMPILER = shutil.which("g++") or shutil.which("clang++")


@cache
def library(file: str) -> ctypes.CDLL:
    """The kernels of `file`, compiled for this machine; kept from run to run."""
    assert COMPILER is not None, "no C++ compiler"
    header = Path(__file__).with_name("simt.h").read_text()
    code = "\n".join([header, source(file), *(f"EMULATE({name})" for name in KERNELS[file])])
    digest = hashlib.sha256(code.encode()).hexdigest()[:16]
    folder = Path(__file__).parents[2] / ".pytest_cache" / "simt" / digest
    folder.mkdir(parents=True, exist_ok=True)
    built = folder / f"{file}.so"
    if not built.exists():
        (folder / f"{file}.cpp").write_text(code)
        fresh = folder / f"{file}.{time.monotonic_ns()}.so"
        flags = ["-std=c++20", "-O2", "-U_FORTIFY_SOURCE", "-fPIC", "-shared", "-w"]
        command = [COMPILER, *flags, str(folder / f"{file}.cpp"), "-o", str(fresh)]
        subprocess.run(command, check=True)
        fresh.replace(built)
    return ctypes.CDLL(str(built))


class EmulatedGpu:
    """The engine's `Gpu`, with NumPy arrays for memory.  It is small on purpose: few threads, little shared memory.

    `descending` runs blocks and threads from the last to the first.
    """

    name = "emulated"
    processors = 3
    solver_threads = 64

    def __init__(self, shared_limit: int = 96 << 10, descending: bool = False) -> None:
        self.shared_limit, self.descending = shared_limit, descending
        self.launches: list[str] = []

    def empty(self, shape: tuple[int, ...], dtype: Any = np.float32) -> Any:
        dtype = np.dtype(dtype)
        poison = np.nan if dtype.kind == "f" else 0xDEAD if dtype.itemsize > 1 else 0xDE  # so that a read of it shows
        return np.full(shape, poison, dtype)

    def zeros(self, shape: tuple[int, ...], dtype: Any = np.float32) -> Any:
        return np.zeros(shape, dtype)

    def put(self, array: np.ndarray) -> Any:
        return np.frombuffer(array.tobytes(), np.uint8).copy() if array.dtype.names else np.array(array)

    def get(self, array: Any) -> np.ndarray:
        return np.array(array)

    def planes(self, images: Any, pitch: int) -> Any:
        images = np.asarray(images, np.float32)
        out = np.full((*images.shape[:-1], pitch), np.nan, np.float32)
        out[..., : images.shape[-1]] = images
        return out

    def address(self, array: Any) -> int:
        return int(array.ctypes.data)

    def launch(
        self, kernel: str, grid: tuple[int, ...], block: tuple[int, ...], arguments: Sequence[Any], shared: int = 0
    ) -> None:
        assert shared <= self.shared_limit
        self.launches.append(kernel)
        (file,) = (file for file, names in KERNELS.items() if kernel in names)
        values = []
        for argument in arguments:
            if isinstance(argument, np.ndarray):
                assert argument.flags.c_contiguous
                values.append(np.uint64(argument.ctypes.data))
            else:
                values.append(argument)
        holders = [np.array([value]) for value in values]
        pointers = (ctypes.c_void_p * len(holders))(*(holder.ctypes.data for holder in holders))
        sizes = [(ctypes.c_uint * 3)(*size) for size in (grid, block)]
        emulate = getattr(library(file), f"emulate_{kernel}")
        emulate(*sizes, shared, int(file == COOPERATIVE), int(self.descending), pointers)

    def transfer(self, scene: Scene) -> Scene:
        return scene

    def allocated_bytes(self) -> None:
        return None

    def wait(self) -> None:
        pass

    def ahead(self) -> Any:
        return nullcontext()

    def aside(self) -> Any:
        return nullcontext()

    def mark(self) -> float:
        return time.perf_counter()

    def elapsed(self, start: float, end: float) -> float:
        return end - start
