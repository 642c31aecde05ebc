"""A GPU through CuPy: memory, launches, clocks, and its errors in words.

The engine sees a GPU only as a `Gpu`, so that the tests can run its kernels on the host.
"""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from gradcon.engines.choices import BY_DEFAULT, Choices
from gradcon.engines.contract import Stage
from gradcon.engines.cuda.gpus import LEAST_CAPABILITY
from gradcon.engines.cuda.source import KERNELS, OPTIONS, source
from gradcon.engines.device import Device
from gradcon.engines.failures import ABSENT, first_line, in_words, translate
from gradcon.errors import DeviceError
from gradcon.extras import install_extra
from gradcon.scene import Scene

COOPERATIVE = "solve.cu"
FIRST = ("images.cu", "solve.cu")  # the others are compiled when they are first needed
PINNED = 64 << 10  # bytes of host memory for small and frequent reads
DEFAULT_SHARED = 48 << 10  # bytes that a block may have without asking
MOST_PIXELS = 100_000_000  # of an image: the solver indexes its arrays by 32 bits

DeviceArray = Any  # CuPy's arrays on a GPU, NumPy's in the tests; CuPy has no types


class Gpu(Device, Protocol):
    """What the engine needs from a GPU, besides what the loop needs from any device."""

    processors: int
    shared_limit: int  # bytes of shared memory that a block may have
    solver_threads: int  # per block of the linear solver; each processor holds one block

    def empty(self, shape: tuple[int, ...], dtype: DTypeLike = np.float32) -> DeviceArray: ...
    def zeros(self, shape: tuple[int, ...], dtype: DTypeLike = np.float32) -> DeviceArray: ...
    def put(self, array: NDArray[Any]) -> DeviceArray: ...
    def planes(self, images: ArrayLike, pitch: int) -> DeviceArray: ...
    def address(self, array: DeviceArray) -> int: ...
    def launch(
        self, kernel: str, grid: tuple[int, ...], block: tuple[int, ...], arguments: Sequence[Any], shared: int = 0
    ) -> None: ...


class CupyGpu:
    """A GPU that CuPy sees."""

    solver_threads = 1024

    def __init__(self, number: int) -> None:
        import cupy

        self.cupy, self.number = cupy, number
        properties = cupy.cuda.runtime.getDeviceProperties(number)
        self.name: str = properties["name"].decode()
        self.processors = int(properties["multiProcessorCount"])
        self.shared_limit = int(properties["sharedMemPerBlockOptin"])
        self.float_units = 64 if _capability(number) in (75, 80) else 128  # for float32, per multiprocessor
        self.clock_hz = 1e3 * cupy.cuda.Device(number).attributes["ClockRate"]
        # For views on their way in and maps on their way out, beside the work of the current stream.
        self.incoming, self.outgoing = (cupy.cuda.Stream(non_blocking=True) for _ in range(2))
        self._pinned, self._reading = cupy.cuda.alloc_pinned_memory(PINNED), threading.Lock()
        self._functions: dict[str, Any] = {}
        for file in FIRST:
            self._compile(file)

    def _compile(self, file: str) -> None:
        cooperative = file == COOPERATIVE
        module = self.cupy.RawModule(code=source(file), options=OPTIONS, enable_cooperative_groups=cooperative)
        for name in KERNELS[file]:
            self._functions[name] = module.get_function(name)

    @in_words
    def empty(self, shape: tuple[int, ...], dtype: DTypeLike = np.float32) -> DeviceArray:
        return self.cupy.empty(shape, dtype)

    @in_words
    def zeros(self, shape: tuple[int, ...], dtype: DTypeLike = np.float32) -> DeviceArray:
        return self.cupy.zeros(shape, dtype)

    @in_words
    def put(self, array: NDArray[Any]) -> DeviceArray:
        return self.cupy.asarray(np.frombuffer(array.tobytes(), np.uint8) if array.dtype.names else array)

    @in_words
    def get(self, array: DeviceArray) -> NDArray[Any]:
        if array.nbytes > PINNED or not array.flags.c_contiguous:
            return np.asarray(self.cupy.asnumpy(array))
        stream = self.cupy.cuda.get_current_stream()
        with self._reading:
            array.data.copy_to_host_async(self._pinned.ptr, array.nbytes, stream)
            stream.synchronize()
            return np.frombuffer(self._pinned, array.dtype, array.size).reshape(array.shape).copy()

    @in_words
    def planes(self, images: ArrayLike, pitch: int) -> DeviceArray:
        there = self.cupy.asarray(images, np.float32)
        if there.shape[-1] == pitch:
            return self.cupy.ascontiguousarray(there)
        out = self.cupy.empty((*there.shape[:-1], pitch), np.float32)
        out[..., : there.shape[-1]] = there
        return out

    def address(self, array: DeviceArray) -> int:
        return int(array.data.ptr)

    @in_words
    def launch(
        self, kernel: str, grid: tuple[int, ...], block: tuple[int, ...], arguments: Sequence[Any], shared: int = 0
    ) -> None:
        if kernel not in self._functions:
            self._compile(next(file for file, names in KERNELS.items() if kernel in names))
        function = self._functions[kernel]
        if shared > DEFAULT_SHARED and function.max_dynamic_shared_size_bytes < shared:
            function.max_dynamic_shared_size_bytes = shared
        function(grid, block, tuple(arguments), shared_mem=shared)

    @in_words
    def wait(self) -> None:
        self.cupy.cuda.get_current_stream().synchronize()

    @contextmanager
    def ahead(self) -> Iterator[None]:
        with self.cupy.cuda.Device(self.number), self.incoming:
            yield
            self.incoming.synchronize()

    @contextmanager
    def aside(self) -> Iterator[None]:
        with self.cupy.cuda.Device(self.number), self.outgoing:
            yield

    @in_words
    def transfer(self, scene: Scene) -> Scene:
        with self.ahead():
            return scene.to_device()

    @in_words
    def mark(self) -> Any:
        event = self.cupy.cuda.Event()
        event.record()
        return event

    @in_words
    def elapsed(self, start: Any, end: Any) -> float:
        return float(self.cupy.cuda.get_elapsed_time(start, end)) / 1e3

    def allocated_bytes(self) -> int:
        return int(self.cupy.get_default_memory_pool().total_bytes())


def current_device() -> CupyGpu:
    """Return the GPU that CuPy has chosen in this thread."""
    import cupy

    return _device(cupy.cuda.runtime.getDevice())


@cache
def _device(number: int) -> CupyGpu:
    """Return a GPU with its kernels, which are compiled only once."""
    return CupyGpu(number)


def _capability(number: int) -> int:
    """Return a GPU's compute capability, times ten."""
    import cupy

    return int(cupy.cuda.Device(number).compute_capability)


@cache
def why_not() -> str | None:
    """Say why no GPU can be used here; None if one can."""
    if importlib.util.find_spec("cupy") is None:
        return f"CuPy is not installed; {install_extra('cuda')}"
    try:
        from cupy.cuda import runtime

        if runtime.getDeviceCount() == 0:
            return "there is no NVIDIA GPU"
        capability = _capability(runtime.getDevice())
        if capability < LEAST_CAPABILITY:
            return f"the GPU has compute capability {capability / 10}, but {LEAST_CAPABILITY / 10} is needed"
        current_device()
    except ImportError as error:  # an incomplete installation
        return f"CuPy cannot be imported: {first_line(error)}"
    except Exception as error:
        failure = translate(error)
        if isinstance(failure, DeviceError) and getattr(error, "status", None) not in ABSENT:
            raise failure from error  # there is a GPU, and it fails
        return f"CuPy cannot use a GPU here: {first_line(error)}"
    return None


@in_words
def why_too_large(scene: Scene, stages: Sequence[Stage], choices: Choices = BY_DEFAULT) -> str | None:
    """Say why the current GPU is too small for the stages of a run on a scene; None if it is not."""
    import cupy

    from gradcon.engines.cuda.plan import bytes_needed, tiling_of_scale

    if scene.shape[0] * scene.shape[1] > MOST_PIXELS:
        return f"the images have more than {MOST_PIXELS // 1_000_000} million pixels"
    coarsest = max(max(stage.scales) for stage in stages)
    if tiling_of_scale(coarsest, current_device().shared_limit, choices) is None:
        return f"the filters of {1 + coarsest} scales are too long for this GPU"
    needed = max(bytes_needed(scene.shape, stage, choices) for stage in stages)
    free = cupy.cuda.runtime.memGetInfo()[0] + cupy.get_default_memory_pool().free_bytes()
    if needed <= free:
        return None
    return f"the scene needs about {needed / 1e6:.0f} MB, but the GPU has only {free / 1e6:.0f} MB free"
