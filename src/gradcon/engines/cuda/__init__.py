"""The engine for NVIDIA GPUs: CUDA kernels, compiled at first use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gradcon.engines.choices import BY_DEFAULT, Choices
from gradcon.engines.contract import AnyEngine, Stage
from gradcon.engines.cuda import device
from gradcon.engines.cuda.gpus import environments
from gradcon.engines.sweep import Views
from gradcon.scene import Scene

if TYPE_CHECKING:
    from gradcon.engines.cuda.engine import CudaEngine
    from gradcon.engines.cuda.sweep import CudaSweep

__all__ = ["create", "create_sweep", "current_device", "environments", "why_not"]

current_device = device.current_device


def create(scene: Scene, epsilon: float, after: AnyEngine | None = None, choices: Choices = BY_DEFAULT) -> CudaEngine:
    from gradcon.engines.cuda.engine import CudaEngine

    return CudaEngine(scene, epsilon, after=after if isinstance(after, CudaEngine) else None, choices=choices)


def create_sweep(views: Views) -> CudaSweep:
    from gradcon.engines.cuda.sweep import CudaSweep

    return CudaSweep(views)


def why_not(
    scene: Scene | None = None,
    stages: Sequence[Stage] = (),
    after: AnyEngine | None = None,
    choices: Choices = BY_DEFAULT,
) -> str | None:
    """Say why no GPU can be used, for a scene or at all; None if one can."""
    reason = device.why_not()
    if reason is not None or scene is None or not stages:
        return reason
    from gradcon.engines.cuda.engine import CudaEngine

    if isinstance(after, CudaEngine) and after.fits(scene, choices):
        return None  # the memory is there already
    return device.why_too_large(scene, stages, choices)
