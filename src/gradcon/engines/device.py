"""Where an engine's arrays live: its clock, its streams, and transfers to and from the host's memory."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ParamSpec, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from gradcon.scene import Scene

Moment = Any  # a point in time on a device's own clock: a float on the host, an event on a GPU
Parameters = ParamSpec("Parameters")
Value = TypeVar("Value")


class Device(Protocol):
    """What the loop needs from the place where an engine works."""

    @property
    def name(self) -> str:
        """What users call the device; empty for the host."""

    def get(self, array: Any) -> NDArray[Any]:
        """Return the array in the host's memory; wait until it is computed."""

    def transfer(self, scene: Scene) -> Scene:
        """Return the scene with its views in the device's memory, without waiting for the device's other work."""

    def wait(self) -> None:
        """Wait until the device has done everything it was told to do."""

    def ahead(self) -> AbstractContextManager[Any]:
        """Return a context in which this thread prepares the engine's next work; it ends when that is done."""

    def aside(self) -> AbstractContextManager[Any]:
        """Return a context in which this thread's work neither waits for the engine's work nor delays it."""

    def mark(self) -> Moment:
        """Return the moment at which the device gets to this point."""

    def elapsed(self, start: Moment, end: Moment) -> float:
        """Return the seconds between two moments that have passed."""

    def allocated_bytes(self) -> int | None:
        """Return how much of its own memory the device has allocated, or None if it has none of its own."""


class Host:
    """The host as a device: its arrays are NumPy's, and a call returns when its work is done."""

    name = ""

    def get(self, array: Any) -> NDArray[Any]:
        return np.asarray(array)

    def transfer(self, scene: Scene) -> Scene:
        return scene

    def wait(self) -> None:
        pass

    def ahead(self) -> AbstractContextManager[Any]:
        return nullcontext()

    def aside(self) -> AbstractContextManager[Any]:
        return nullcontext()

    def mark(self) -> float:
        return time.perf_counter()

    def elapsed(self, start: float, end: float) -> float:
        return end - start

    def allocated_bytes(self) -> None:
        return None


class Clock:
    """Adds up seconds by name, on a device's clock.

    A device may lag behind the calls that it was given.  `settle` adds up the laps once the device has passed them.
    """

    def __init__(self, device: Device) -> None:
        self.device = device
        self.seconds: dict[str, float] = {}
        self._laps: list[tuple[str, Moment, Moment]] = []

    def __call__(
        self, name: str, function: Callable[Parameters, Value], *args: Parameters.args, **kwargs: Parameters.kwargs
    ) -> Value:
        """Call the function and count its time under `name`."""
        start = self.device.mark()
        value = function(*args, **kwargs)
        self._laps.append((name, start, self.device.mark()))
        return value

    def settle(self) -> None:
        """Add up the laps so far; call it when the device has been waited for."""
        for name, start, end in self._laps:
            self.seconds[name] = self.seconds.get(name, 0.0) + self.device.elapsed(start, end)
        self._laps.clear()
