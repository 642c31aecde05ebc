"""What the engine `cpu` has to compile, in parts that processes can compile side by side.

The signatures are not written down anywhere.  The engine itself is asked: its operations run on a tiny scene, on
threads that note the types which every kernel is called with instead of calling it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numba
import numpy as np

from gradcon.engines.contract import Stage, Weighting
from gradcon.engines.cpu.compiling import is_cachable, is_cached
from gradcon.engines.cpu.sweep import CpuSweep
from gradcon.engines.cpu.threads import Threads
from gradcon.engines.cpu.visibility import front
from gradcon.engines.sweep import ArmCosts, Views
from gradcon.scene import Scene

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


class _Notes(Threads):
    """Threads that compute nothing, and note which kernels they would have called."""

    def __init__(self) -> None:
        super().__init__(1)
        self.needs: list[Need] = []

    def deal_to(self, chunks: int, kernel: Callable[..., None], *arguments: Any) -> None:
        self.note(kernel, 0, 1, *arguments)

    def note(self, kernel: Callable[..., Any], *arguments: Any) -> None:
        need = Need(kernel, tuple(numba.typeof(argument) for argument in arguments))
        if need not in self.needs:
            self.needs.append(need)


def _sweep(pixels: str) -> tuple[CpuSweep, _Notes]:
    colours, notes = np.zeros((3, 3, SIZE, SIZE), pixels), _Notes()
    views = Views(colours, 1.0, np.array([[1.0, 0, 0], [0, 1.0, 0]]), np.array([0, 1, 2], np.int32))
    return CpuSweep(views, notes), notes


def views(pixels: str) -> list[Need]:
    """Return what compares views whose pixels have this type."""
    sweep, notes = _sweep(pixels)
    one = np.ones(sweep.shape, np.float32)
    sweep.costs(one, LABELS, 1.0, one, ArmCosts(near=1.0, blur=1.0, c0=0.1, sharpness=1), 1.0)
    sweep.difference(0, LABELS, 1.0, 1)
    return notes.needs


def matching() -> list[Need]:
    """Return what finds the best labels."""
    sweep, notes = _sweep("uint8")
    volume, edges = np.zeros((*sweep.shape, LABELS), np.uint16), np.zeros((4, *sweep.shape), np.float32)
    sweep.aggregate(volume, edges, 1.0, 1.0)
    return notes.needs


def filters() -> list[Need]:
    """Return what smooths maps."""
    sweep, notes = _sweep("uint8")
    one = np.ones(sweep.shape, np.float32)
    sweep.fit_planes(one, 1, 1, 1.0, 1.0, 1.0)
    sweep.median(one, 1, 1.0)
    return notes.needs


def directions() -> list[Need]:
    """Return what tells near from far."""
    w, baseline = np.ones((SIZE, SIZE), np.float32), np.ones(1)[0]
    notes = _Notes()
    notes.note(front, w, baseline, baseline, w.astype(np.float64))
    return notes.needs


def steps() -> dict[str, list[Need]]:
    """Return what the paper's methods need: the data term, the solver, and the rest of a step."""
    # A sweep need not wait for these.
    from gradcon.engines.cpu import smoothness
    from gradcon.engines.cpu.conjugate import solve
    from gradcon.engines.cpu.data import data_term
    from gradcon.engines.cpu.engine import CpuEngine

    pixels = np.zeros((3, SIZE, SIZE, 3), np.uint8)
    scene, notes = Scene(pixels[0], pixels[1:], [(1, 0), (0, 1)]), _Notes()
    engine, stage = CpuEngine(scene, 1.0, notes), Stage((0, 1), (1, 0), 1.0, 1.0, Weighting())
    w = engine.upload(np.zeros(scene.shape))
    term = engine.data_term(w, engine.warp(w, stage), stage, reweight=True)
    dw, counts = engine.solve(w, term, stage.alpha, reweight=True)
    engine.update(w, dw, stage.limit, counts)
    notes.note(smoothness.change, w, w)
    notes.note(smoothness.rmse, w, w, scene.unit)
    heavy = {"data": data_term, "solver": solve}
    found = {name: [need for need in notes.needs if need.kernel is kernel] for name, kernel in heavy.items()}
    return {**found, "rest": [need for need in notes.needs if need.kernel not in heavy.values()]}
