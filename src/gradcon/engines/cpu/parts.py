"""What a sweep on the cpu has to compile, in parts that processes can compile side by side.

The signatures are not written down anywhere.  The engine itself is asked: a recorder runs its operations on a tiny
scene, and notes the types that every kernel is called with instead of calling it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numba
import numpy as np

from gradcon.engines.cpu.compiling import is_cachable, is_cached
from gradcon.engines.cpu.sweep import CpuSweep
from gradcon.engines.cpu.visibility import hidden_difference
from gradcon.engines.sweep import ArmCosts, Views

SIZE, LABELS = 16, 4  # of the tiny scene


class Need(NamedTuple):
    """A kernel, and the types of its arguments."""

    kernel: Any
    signature: tuple[Any, ...]

    def is_missing(self) -> bool:
        """Return whether a folder for compiled code exists and lacks this kernel's."""
        return is_cachable(self.kernel) and not is_cached(self.kernel, self.signature)

    def compile(self) -> None:
        """Load the kernel from the cache; compile it if it is not there."""
        self.kernel.compile(self.signature)


class _Recorder(CpuSweep):
    """A sweep that computes nothing, and notes which kernels it would have called."""

    def __init__(self, pixels: str) -> None:
        colours = np.zeros((3, 3, SIZE, SIZE), pixels)
        super().__init__(Views(colours, 1.0, np.array([[1.0, 0, 0], [0, 1.0, 0]]), np.array([0, 1, 2], np.int32)))
        self.needs: list[Need] = []

    def _deal(self, kernel: Callable[..., None], *arguments: Any) -> None:
        need = Need(kernel, tuple(numba.typeof(argument) for argument in (0, 1, *arguments)))
        if need not in self.needs:
            self.needs.append(need)


def views(pixels: str) -> list[Need]:
    """Return what compares views whose pixels have this type."""
    sweep = _Recorder(pixels)
    one = np.ones(sweep.shape, np.float32)
    sweep.costs(one, LABELS, 1.0, one, ArmCosts(near=1.0, blur=1.0, c0=0.1, sharpness=1), 1.0)
    sweep.difference(0, LABELS, 1.0, 1)
    return sweep.needs


def matching() -> list[Need]:
    """Return what finds the best labels."""
    sweep = _Recorder("uint8")
    volume, edges = np.zeros((*sweep.shape, LABELS), np.uint16), np.zeros((4, *sweep.shape), np.float32)
    sweep.aggregate(volume, edges, 1.0, 1.0)
    return sweep.needs


def filters() -> list[Need]:
    """Return what smooths maps."""
    sweep = _Recorder("uint8")
    one = np.ones(sweep.shape, np.float32)
    sweep.fit_planes(one, 1, 1, 1.0, 1.0, 1.0)
    sweep.median(one, 1, 1.0)
    return sweep.needs


def directions() -> list[Need]:
    """Return what tells near from far."""
    one = np.ones((SIZE, SIZE), np.float32)
    baseline = np.ones(1)[0]
    arguments = one, baseline, baseline, baseline, one, one
    return [Need(hidden_difference, tuple(map(numba.typeof, arguments)))]
