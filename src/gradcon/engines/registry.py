"""The engines by name, what each can do, and which of them a run gets.

To add an engine, write a module with the functions of `EngineModule` and add one line to `ENGINES`.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from gradcon.engines.choices import BY_DEFAULT, Choices
from gradcon.engines.contract import AnyEngine, Stage
from gradcon.engines.device import Device, Host
from gradcon.engines.sweep import SweepEngine, Views
from gradcon.errors import DeviceError, InputError
from gradcon.scene import Scene

AUTO = "auto"
Worker = AnyEngine | SweepEngine  # what a method may work with


class EngineModule(Protocol):
    """What an engine's module offers; it is imported when the engine is used."""

    def create(
        self, scene: Scene, epsilon: float, after: AnyEngine | None = None, choices: Choices = BY_DEFAULT
    ) -> AnyEngine:
        """Make an engine; it may take over the memory of `after`, an engine of any kind whose work is done."""

    def create_sweep(self, views: Views) -> SweepEngine:
        """Make an engine for a plane sweep."""

    def why_not(
        self,
        scene: Scene | None = None,
        stages: Sequence[Stage] = (),
        after: AnyEngine | None = None,
        choices: Choices = BY_DEFAULT,
    ) -> str | None:
        """Say why the engine cannot run here, at all or for a scene; None if it can."""

    def current_device(self) -> Device:
        """Return the device on which this thread's engines work."""

    def environments(self) -> list[dict[str, str]]:
        """Return the variables for processes on each of several devices; needed only if `EngineKind.workers` is set."""


@dataclass(frozen=True)
class EngineKind:
    """What an engine can do, known without importing it."""

    name: str
    module: str
    keeps_maps: bool = False  # its maps can stay in the memory of its device
    automatic: bool = False  # `auto` may take it
    compiles: bool = False  # its first use compiles code, which all processes on this computer then share
    workers: int | None = None  # how many processes are worth running on a device; None for one per core of the host

    def load(self) -> EngineModule:
        return importlib.import_module(self.module)

    def environments(self) -> list[dict[str, str]]:
        """Return the variables for processes on each device; an empty list unless there are several to choose from."""
        return [] if self.workers is None else self.load().environments()


ENGINES = {
    kind.name: kind
    for kind in (
        EngineKind("cuda", "gradcon.engines.cuda", automatic=True, keeps_maps=True, workers=1),
        EngineKind("cpu", "gradcon.engines.cpu", automatic=True, compiles=True),
        EngineKind("reference", "gradcon.engines.reference", compiles=True),  # `cpu` tells near from far for it
    )
}
PREFERRED = [name for name, kind in ENGINES.items() if kind.automatic]  # in this order; the last one runs everywhere
NAMES = (AUTO, *ENGINES)


def check(name: str) -> None:
    """Reject an engine that does not exist."""
    if name not in NAMES:
        raise InputError("engine", f"{name!r} is not one of {', '.join(NAMES)}")


def check_usable(name: str) -> None:
    """Reject an engine that does not exist, or that cannot run here."""
    check(name)
    if name != AUTO and (reason := ENGINES[name].load().why_not()):
        raise _unusable(name, reason)


def kind_for(name: str) -> EngineKind:
    """Return the kind of engine that a run gets here under this name."""
    check(name)
    usable = (kind for kind in _candidates(name) if _why_not(kind, name) is None)
    return next(usable, ENGINES[name if name != AUTO else PREFERRED[-1]])


def device_for(name: str) -> Device:
    """Return the device on which an engine of this name will work in this thread; the host if it cannot."""
    kind = kind_for(name)
    return kind.load().current_device() if _why_not(kind, name) is None else Host()


def create(
    name: str,
    scene: Scene,
    epsilon: float,
    stages: Sequence[Stage],
    after: AnyEngine | None = None,
    choices: Choices = BY_DEFAULT,
) -> AnyEngine:
    """Make the engine called `name` for a scene; `auto` takes the GPU if it can be used for it, else the CPU.

    `stages` are those that the engine will run: a GPU may be too small for them.  `after` is an engine whose work is
    done, and whose memory the new one may take.
    """
    if after is not None:
        after.make_room(scene, choices)
    kind, note = _usable(name, scene, stages, after, choices)
    engine = kind.load().create(scene, epsilon, after, choices)
    engine.note = note or engine.note
    return engine


def create_sweep(name: str, views: Views) -> SweepEngine:
    """Make the engine called `name` for a plane sweep; `auto` takes the GPU if it can be used, else the CPU."""
    kind, note = _usable(name)
    engine = kind.load().create_sweep(views)
    engine.note = note or engine.note
    return engine


def _usable(
    name: str,
    scene: Scene | None = None,
    stages: Sequence[Stage] = (),
    after: AnyEngine | None = None,
    choices: Choices = BY_DEFAULT,
) -> tuple[EngineKind, str]:
    """Return the first kind of engine that can be used under this name, and why it is not the one before."""
    check(name)
    reasons: list[str] = []
    for kind in _candidates(name):
        reason = _why_not(kind, name, scene, stages, after, choices)
        if reason is None:
            return kind, f"no GPU: {reasons[-1]}" if reasons else ""
        reasons.append(reason)
    raise _unusable(name, reasons[-1])


def _candidates(name: str) -> list[EngineKind]:
    return [ENGINES[one] for one in (PREFERRED if name == AUTO else (name,))]


def _why_not(
    kind: EngineKind,
    asked: str,
    scene: Scene | None = None,
    stages: Sequence[Stage] = (),
    after: AnyEngine | None = None,
    choices: Choices = BY_DEFAULT,
) -> str | None:
    """Say why an engine cannot be used; None if it can.  A GPU that fails matters only to a user who asked for it."""
    try:
        return kind.load().why_not(scene, stages, after, choices)
    except DeviceError as error:
        if asked != AUTO:
            raise
        return str(error).rstrip(".")


def _unusable(name: str, reason: str) -> InputError:
    return InputError("engine", f"{name} cannot be used: {reason}", "use the engine cpu, or auto")
