"""A GPU through CuPy: memory, launches, clocks, and its errors in words.

The engine sees no more of a GPU than `Device`, so that its kernels can be run by something else where there is none.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import cache, wraps
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from gradcon.engines.cuda_source import KERNELS, OPTIONS, source
from gradcon.errors import DeviceError, InputError
from gradcon.options import Options
from gradcon.scene import Scene

COOPERATIVE = "kernels_solve.cu"
PINNED = 64 << 10  # bytes of host memory for small and frequent reads
DEFAULT_SHARED = 48 << 10  # bytes that a block may have without asking
# CUDA's errors that say that no GPU, no driver or no fitting one is there: initialization, stub library, old driver,
# devices unavailable, no device, and drivers that do not match.
ABSENT = (3, 34, 35, 46, 100, 803, 804)
LEAST_CAPABILITY = 70  # of a GPU, times ten: below, its memory model lacks what the solver's barrier needs

Method = TypeVar("Method", bound=Callable[..., Any])


class Device(Protocol):
    """What the engine needs of a GPU."""

    name: str
    processors: int
    shared_limit: int  # bytes of shared memory that a block may have
    solver_threads: int  # of a block of the linear solver, of which one is resident a processor

    def empty(self, shape: tuple[int, ...], dtype: Any = np.float32) -> Any: ...
    def zeros(self, shape: tuple[int, ...], dtype: Any = np.float32) -> Any: ...
    def put(self, array: NDArray[Any]) -> Any: ...
    def get(self, array: Any) -> NDArray[Any]: ...
    def planes(self, images: Any, pitch: int) -> Any: ...
    def address(self, array: Any) -> int: ...
    def launch(
        self, kernel: str, grid: tuple[int, ...], block: tuple[int, ...], arguments: Sequence[Any], shared: int = 0
    ) -> None: ...
    def wait(self) -> None: ...
    def aside(self) -> AbstractContextManager[Any]: ...
    def mark(self) -> Any: ...
    def elapsed(self, start: Any, end: Any) -> float: ...


def in_words(method: Method) -> Method:
    """The method with CuPy's errors as ours."""

    @wraps(method)
    def guarded(*arguments: Any, **options: Any) -> Any:
        try:
            return method(*arguments, **options)
        except Exception as error:
            raise _ours(error) from error

    return guarded  # type: ignore[return-value]


def _ours(error: Exception) -> Exception:
    from cupy.cuda import driver, memory, runtime

    if isinstance(error, memory.OutOfMemoryError):
        return InputError(
            "the GPU has not enough free memory for this scene; use fewer views (--views), smaller images, or the "
            "engine cpu."
        )
    if isinstance(error, (runtime.CUDARuntimeError, driver.CUDADriverError)):
        return DeviceError(f"the GPU or its driver failed: {_first_line(error)}; nvidia-smi tells its state.")
    return error


class CupyDevice:
    """A GPU that CuPy sees."""

    solver_threads = 1024

    def __init__(self, number: int) -> None:
        import cupy

        self.cupy = cupy
        properties = cupy.cuda.runtime.getDeviceProperties(number)
        self.name: str = properties["name"].decode()
        self.processors = int(properties["multiProcessorCount"])
        self.shared_limit = int(properties["sharedMemPerBlockOptin"])
        self.clock_hz = 1e3 * cupy.cuda.Device(number).attributes["ClockRate"]
        # For views on their way in and maps on their way out, beside the work of the current stream.
        self.incoming, self.outgoing = (cupy.cuda.Stream(non_blocking=True) for _ in range(2))
        self._pinned = cupy.cuda.alloc_pinned_memory(PINNED)
        self._functions: dict[str, Any] = {}
        for file, names in KERNELS.items():
            module = cupy.RawModule(code=source(file), options=OPTIONS, enable_cooperative_groups=file == COOPERATIVE)
            for name in names:
                self._functions[name] = module.get_function(name)

    @in_words
    def empty(self, shape: tuple[int, ...], dtype: Any = np.float32) -> Any:
        return self.cupy.empty(shape, dtype)

    @in_words
    def zeros(self, shape: tuple[int, ...], dtype: Any = np.float32) -> Any:
        return self.cupy.zeros(shape, dtype)

    @in_words
    def put(self, array: NDArray[Any]) -> Any:
        return self.cupy.asarray(np.frombuffer(array.tobytes(), np.uint8) if array.dtype.names else array)

    @in_words
    def get(self, array: Any) -> NDArray[Any]:
        if array.nbytes > PINNED or not array.flags.c_contiguous:
            return np.asarray(self.cupy.asnumpy(array))
        stream = self.cupy.cuda.get_current_stream()
        array.data.copy_to_host_async(self._pinned.ptr, array.nbytes, stream)
        stream.synchronize()
        return np.frombuffer(self._pinned, array.dtype, array.size).reshape(array.shape).copy()

    @in_words
    def planes(self, images: Any, pitch: int) -> Any:
        images = self.cupy.asarray(images, np.float32)
        if images.shape[-1] == pitch:
            return self.cupy.ascontiguousarray(images)
        out = self.cupy.empty((*images.shape[:-1], pitch), np.float32)
        out[..., : images.shape[-1]] = images
        return out

    def address(self, array: Any) -> int:
        return int(array.data.ptr)

    @in_words
    def launch(
        self, kernel: str, grid: tuple[int, ...], block: tuple[int, ...], arguments: Sequence[Any], shared: int = 0
    ) -> None:
        function = self._functions[kernel]
        if shared > DEFAULT_SHARED and function.max_dynamic_shared_size_bytes < shared:
            function.max_dynamic_shared_size_bytes = shared
        function(grid, block, tuple(arguments), shared_mem=shared)

    @in_words
    def wait(self) -> None:
        self.cupy.cuda.get_current_stream().synchronize()

    @in_words
    def aside(self) -> AbstractContextManager[Any]:
        return self.outgoing

    @in_words
    def mark(self) -> Any:
        event = self.cupy.cuda.Event()
        event.record()
        return event

    @in_words
    def elapsed(self, start: Any, end: Any) -> float:
        return float(self.cupy.cuda.get_elapsed_time(start, end)) / 1e3


@cache
def current_device() -> CupyDevice:
    """The GPU that CuPy has chosen; compiles the kernels."""
    import cupy

    return CupyDevice(cupy.cuda.runtime.getDevice())


def why_not(scene: Scene | None = None, options: Options | None = None) -> str | None:
    """Why no GPU can be used, for a scene or at all; None if one can."""
    return _unusable() or (_too_large(scene, options) if scene is not None and options is not None else None)


@cache
def _unusable() -> str | None:
    if importlib.util.find_spec("cupy") is None:
        return "CuPy is not installed (pip install 'gradcon[cuda]')"
    try:
        import cupy
        from cupy.cuda import runtime

        if runtime.getDeviceCount() == 0:
            return "there is no NVIDIA GPU"
        capability = int(cupy.cuda.Device().compute_capability)
        if capability < LEAST_CAPABILITY:
            return f"the GPU is of compute capability {capability / 10}, and {LEAST_CAPABILITY / 10} is needed"
        current_device()
    except Exception as error:
        if getattr(error, "status", None) not in (None, *ABSENT):
            raise _ours(error) from error  # there is a GPU, and it fails
        return f"CuPy cannot use a GPU here ({_first_line(error)})"
    return None


@in_words
def _too_large(scene: Scene, options: Options) -> str | None:
    import cupy

    from gradcon.engines.cuda_plan import bytes_needed
    from gradcon.schedules import build

    stages = build(options.method, scene.baselines, options.alpha, options.scales, options.without)
    needed = max(bytes_needed(scene.shape, stage) for stage in stages)
    free = cupy.cuda.runtime.memGetInfo()[0] + cupy.get_default_memory_pool().free_bytes()
    if needed <= free:
        return None
    return f"the scene needs about {needed / 1e6:.0f} MB and the GPU has {free / 1e6:.0f} MB free"


@in_words
def transfer(scene: Scene) -> Scene:
    """The scene with its views on the GPU, brought there while the GPU goes on with other work."""
    incoming = current_device().incoming
    with incoming:
        moved = scene.to_device()
        incoming.synchronize()
    return moved


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
