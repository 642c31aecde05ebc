"""A sweep from its first pass to its last."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gradcon import engines
from gradcon.arrays import as_array, module_of, to_host
from gradcon.engines import Clock
from gradcon.engines.failures import in_words
from gradcon.engines.sweep import Map, SweepEngine
from gradcon.engines.sweep_views import shrunk, views_of
from gradcon.errors import InputError
from gradcon.methods import registry
from gradcon.methods.loop import Callback
from gradcon.methods.options import Options
from gradcon.methods.sweep import labels, settings
from gradcon.methods.sweep.arm_record import ArmRecord
from gradcon.methods.sweep.labels import Labels
from gradcon.methods.sweep.noise import noise_level
from gradcon.methods.sweep.passes import Level, Swept
from gradcon.methods.sweep.uncertainty import deviation
from gradcon.progress import display
from gradcon.result import Solve
from gradcon.result.stopped import Stopped, StopReason
from gradcon.result.weights import Weights
from gradcon.scene import Scene

PASSES = 3  # if the range of the disparities is not so long that it takes smaller copies


class Start(NamedTuple):
    """Where a sweep begins: with a range to search, or near a map that is known already."""

    low: float
    high: float
    near: Map | None


@dataclass
class SweepRun:
    """A sweep: where it is, and how it got there.  Disparities are in pixels per unit baseline."""

    scene: Scene
    engine: SweepEngine
    term: str | None  # what is left out
    clock: Clock
    record: ArmRecord | None = None
    history: list[Solve] = field(default_factory=list)
    stopped: Stopped | None = None
    w: Any = None
    _range: tuple[float, float] = (0.0, 0.0)
    _labels: int = 0
    _lead: Map | None = None  # in the first pass
    _last: Swept = field(init=False)  # what the latest pass found

    def passes(self, initial: Map | None) -> Iterator[Solve]:
        """Make one pass after the other, and yield their rows of the history."""
        first, second, third = settings.without(self.term)
        start = Start(*_bounds(initial), initial) if initial is not None else self.clock("range", self._search_range)
        self._range, w = (start.low, start.high), start.near
        step = labels.step_of(self.engine, first.step)
        coarsest = labels.halvings(self.scene.shape, start.low, start.high, step) if w is None else 0
        for size in range(coarsest, -1, -1):
            tried = Labels.between(start.low, start.high, step * 2**size)
            level = self._level(size, tried)
            if w is None:
                self._labels = tried.number
                yield self._pass(first.name, size, level, level.search, first, tried)
                w, self._lead = self._last.w, self._last.lead
                if self.term == "surface":
                    break
            yield self._pass(second.name, size, level, level.search_near, second, enlarged(w, level.noise.shape))
            w = self._last.w
            if size == 0:
                yield self._pass(third.name, size, level, level.search_near, third, w)
        self.stopped = Stopped.because(StopReason.SWEPT, passes=len(self.history))

    def _search_range(self) -> Start:
        """Search everything on a small copy."""
        first = settings.without(self.term)[0]
        k = labels.shrink_factor(self.scene.shape)
        small = type(self.engine)(shrunk(self.engine.views, k))
        everything = labels.whole_range(small, first.step)
        swept = Level(small, noise_level(small, everything)).search(first, everything)
        return Start(*labels.found_range(swept.w, swept.lead, everything.step), None)

    def _level(self, size: int, tried: Labels) -> Level:
        engine = self.engine if size == 0 else type(self.engine)(shrunk(self.engine.views, 2**size))
        noise = self.clock("noise", noise_level, engine, tried)
        if self.term == "noise":
            noise = module_of(noise).full_like(noise, settings.FIXED_NOISE)
        return Level(engine, noise)

    def _pass(self, name: str, size: int, level: Level, search: Callable[..., Swept], *how: Any) -> Solve:
        """Make a pass, and return its row of the history."""
        began, before = time.perf_counter(), self.w
        self._last = self.clock(name, search, *how)
        self.w = enlarged(self._last.w, self.scene.shape)
        if self.record is not None:
            self.record.see(len(self.history) + 1, to_host(self.w), to_host(enlarged(level.noise, self.scene.shape)))
        change = abs(self.w - before) if before is not None else abs(self.w)
        row = Solve(
            solve=len(self.history) + 1,
            stage=len(self.history),
            scales=(size,),
            views=1 + len(self.scene.target_names),
            step_mean=float(change.mean()),
            step_max=float(change.max()),
            clipped=0.0,
            inner_iterations=0,
            seconds=time.perf_counter() - began,
            rmse=self._rmse(),
        )
        self.clock.settle()
        self.history.append(row)
        return row

    def _rmse(self) -> float | None:
        truth, xp = self.scene.known_truth, module_of(self.w)
        if truth is None:
            return None
        return float(xp.sqrt(xp.nanmean(xp.square(self.w - xp.asarray(truth), dtype=np.float64))))

    def maps(self) -> tuple[Any, Any]:
        """Return the disparity and its predicted standard deviation, in the memory that the engine works in."""
        lead = None if self._lead is None else enlarged(self._lead, self.scene.shape)
        last = Swept(*(enlarged(a, self.scene.shape) for a in self._last))
        return self.w, deviation(self.engine.views, lead, last)

    def weights(self) -> Weights | None:
        """Return which views were trusted, if that was recorded."""
        return self.record.weights() if self.record is not None else None

    def choices(self) -> dict[str, Any]:
        """Return the range that was searched, and the number of labels in it."""
        return {"disparity_range": list(self._range), "labels": self._labels}


@in_words
def minimise(
    scene: Scene,
    options: Options,
    *,
    initial: ArrayLike | None = None,
    engine: str | SweepEngine = "auto",
    progress: bool = False,
    callback: Callback | None = None,
    keep_weights: bool = False,
) -> SweepRun:
    """Sweep a scene, without what `estimate` adds: warnings and metrics."""
    if isinstance(engine, str):
        engine = engines.create_sweep(engine, views_of(scene, colour=options.without != "colour"))
    record = ArmRecord(scene, engine.views) if keep_weights else None
    run = SweepRun(scene, engine, options.without, Clock(engine.device), record)
    with display(PASSES, scene.name) if progress else nullcontext(lambda row: None) as show:
        for row in run.passes(_start(scene, options, initial, engine)):
            show(row)
            if callback is not None and callback(row, to_host(run.w)):
                run.stopped = Stopped.because(StopReason.CALLBACK, solves=row.solve)
                break
    return run


def enlarged(w: Map, shape: tuple[int, int]) -> Map:
    """Return a map of a smaller copy at a larger size; each pixel becomes a block."""
    if w.shape == shape:
        return w
    xp = module_of(w)
    k = max(1, round(max(shape[0] / w.shape[0], shape[1] / w.shape[1])))
    y, x = (xp.asarray(np.minimum(np.arange(n) // k, m - 1)) for n, m in zip(shape, w.shape, strict=True))
    return w[y[:, None], x[None, :]]


def _bounds(w: Map) -> tuple[float, float]:
    return float(w.min()), float(w.max())


def _start(scene: Scene, options: Options, initial: ArrayLike | None, engine: SweepEngine) -> Map | None:
    """Return the map to start from in the engine's memory; None to search everything."""
    if initial is None:
        return None
    registry.check_start(options.method, initial)
    given = as_array(initial)
    if given.dtype.kind not in "buif" or given.shape != scene.shape:
        raise InputError(
            "initial", f"is {given.shape} but the scene is {scene.shape}", "give a map of the scene's size"
        )
    w = engine.upload(given.astype(np.float32))
    if not module_of(w).isfinite(w).all():
        raise InputError("initial", "holds NaN or infinite disparities", "fill them in first")
    return w
