"""What the engines that work in the host's memory have in common."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

from numpy.typing import NDArray

from gradcon.engines.contract import Engine
from gradcon.engines.device import Device, Host

Field = TypeVar("Field", bound=NDArray[Any])
Warped = TypeVar("Warped")


class HostCounts(NamedTuple):
    """What a step counts."""

    inner_iterations: int
    clipped: float = 0.0  # share of pixels whose step met the limit


class HostEngine(Engine[Field, Warped, HostCounts]):
    """An engine whose planes are NumPy arrays of (height, width)."""

    device: Device = Host()

    def visible(self, plane: Field) -> Field:
        return plane


def why_not(*_: object) -> None:
    """Return None: an engine on the host can always be used."""


def current_device() -> Host:
    return Host()
