"""The default engine: float32 on all cores, compiled by Numba."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcon.engines.choices import BY_DEFAULT, Choices
from gradcon.engines.contract import AnyEngine
from gradcon.engines.host import current_device, why_not
from gradcon.engines.sweep import Views
from gradcon.scene import Scene

if TYPE_CHECKING:
    from gradcon.engines.cpu.engine import CpuEngine
    from gradcon.engines.cpu.sweep import CpuSweep

__all__ = ["create", "create_sweep", "current_device", "why_not"]


def create(scene: Scene, epsilon: float, after: AnyEngine | None = None, choices: Choices = BY_DEFAULT) -> CpuEngine:
    from gradcon.engines.cpu.engine import CpuEngine

    return CpuEngine(scene, epsilon, choices=choices)


def create_sweep(views: Views) -> CpuSweep:
    from gradcon.engines.cpu.sweep import CpuSweep

    return CpuSweep(views)
