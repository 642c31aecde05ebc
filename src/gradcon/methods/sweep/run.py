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
from gradcon.arrays import module_of, to_host
from gradcon.engines import Clock
from gradcon.engines.failures import in_words
from gradcon.engines.sweep import Map, SweepEngine, Views
from gradcon.engines.sweep_views import shrunk, views_of
from gradcon.methods import registry
from gradcon.methods.look import Look, look_at
from gradcon.methods.loop import Callback, checked_start
from gradcon.methods.options import Options
from gradcon.methods.sweep import labels, settings
from gradcon.methods.sweep.arm_record import ArmRecord
from gradcon.methods.sweep.known_map import mended, moved_edges
from gradcon.methods.sweep.labels import Labels
from gradcon.methods.sweep.noise import noise_level
from gradcon.methods.sweep.passes import Level, Swept, enlarged
from gradcon.methods.sweep.settings import Pass
from gradcon.methods.sweep.uncertainty import deviation
from gradcon.progress import display
from gradcon.result import Solve
from gradcon.result.stopped import Stopped, StopReason
from gradcon.result.weights import Weights
from gradcon.scene import Scene

KIND = "pass"
PROCESS_BYTES, PIXEL_BYTES = 150_000_000, 265  # of memory, besides twice the views
SMALLEST = 32  # pixels on the shorter side of views that are halved because of their noise
PASSES = 3  # if the range of the disparities is not so long that it takes smaller copies


class Start(NamedTuple):
    """Where a sweep begins: with a range to search, or near a map that fits."""

    low: float
    high: float
    near: Map | None


@dataclass
class SweepRun:
    """A sweep: where it is, and how it got there.  Disparities are in pixels per unit baseline."""

    scene: Scene
    engine: SweepEngine
    look: Look
    term: str | None  # what is left out
    clock: Clock
    record: ArmRecord | None = None
    history: list[Solve] = field(default_factory=list)
    stopped: Stopped | None = None
    plan: list[float] = field(default_factory=list)  # how much work each pass takes, relative to the others
    w: Any = None
    _range: tuple[float, float] = (0.0, 0.0)
    _labels: int = 0
    _lead: Map | None = None  # in the first pass
    _last: Swept = field(init=False)  # what the latest pass found

    def passes(self, initial: Map | None) -> Iterator[Solve]:
        """Make one pass after the other, and yield their rows of the history."""
        first, second, third = settings.without(self.term)
        start = self._start(initial)
        self._range, w = (start.low, start.high), start.near
        self.w = w
        step = labels.step_of(self.engine, first.step)
        coarsest = self._halvings(start, step) if w is None else 0
        self.plan = self._plan(start, coarsest)
        for size in range(coarsest, -1, -1):
            tried = Labels.between(start.low, start.high, step * 2**size)
            level = self._level(size, tried)
            if w is None:
                self._labels = tried.number
                yield self._pass(first, size, level, level.search, tried)
                w, self._lead = self._last.w, self._last.lead
                if self.term == "surface":
                    break
            elif not self.history:
                w = self.clock("edges", level.choose, first, moved_edges(w, labels.shrink_factor(self.scene.shape)))
            yield self._pass(second, size, level, level.search_near, enlarged(w, level.noise.shape))
            w = self._last.w
            if size == 0:
                yield self._pass(third, size, level, level.search_near, w)
        reason = StopReason.SWEPT if initial is None or start.near is not None else StopReason.SWEPT_ANEW
        self.stopped = Stopped.because(reason, passes=len(self.history))

    def passes_near(self, w: Map, last_only: bool) -> Iterator[Solve]:
        """Make the passes after the first around a map that needs no check, or only the last one; yield as `passes`."""
        _, second, third = settings.without(self.term)
        self._range, self.w = self.look.findings.disparity_range, w
        self.plan = [float(third.labels)] if last_only else [float(second.labels), float(third.labels)]
        level = self._level(0, Labels.between(*self._range, labels.step_of(self.engine, settings.FIRST.step)))
        for how in (third,) if last_only else (second, third):
            yield self._pass(how, 0, level, level.search_near, self.w)
        self.stopped = Stopped.because(StopReason.SWEPT_NEAR, passes=len(self.history))

    def _start(self, known: Map | None) -> Start:
        """Begin with the range that the look has found, or with a map that is known already and fits its small copy."""
        low, high = self.look.findings.disparity_range
        if known is None or self.term == "surface":
            return Start(low, high, None)
        _, second, _ = settings.without(self.term)
        band = labels.step_of(self.engine, second.step * (second.labels - 1) / 2)
        copy = self.look.copy
        return Start(low, high, mended(known, copy.swept, self.look.k, max(band, 2 * copy.tried.step)))

    def _halvings(self, start: Start, step: float) -> int:
        """Return how often the views are halved for the first pass: as often as the range or the noise demands."""
        _, least = settings.smoothing(self.look.findings.noise, self.look.findings.texture)
        least = min(least, int(np.log2(max(1, min(self.scene.shape) // SMALLEST))))
        return max(least, labels.halvings(self.scene.shape, start.low, start.high, step))

    def _plan(self, start: Start, coarsest: int) -> list[float]:
        """Return how many labels each pass tries, over all its pixels."""
        first, second, third = settings.without(self.term)
        tried = Labels.between(start.low, start.high, labels.step_of(self.engine, first.step) * 2**coarsest)
        search = [tried.number * 4.0**-coarsest] if start.near is None else []
        if self.term == "surface":
            return search
        return [*search, *(second.labels * 4.0**-size for size in range(coarsest, -1, -1)), third.labels]

    def _level(self, size: int, tried: Labels) -> Level:
        engine = self.engine if size == 0 else self.engine.for_views(shrunk(self.engine.views, 2**size))
        noise = self.clock("noise", noise_level, engine, tried)
        if self.term == "noise":
            noise = module_of(noise).full_like(noise, settings.FIXED_NOISE)
        return Level(engine, noise)

    def _pass(self, how: Pass, size: int, level: Level, search: Callable[..., Swept], where: Any) -> Solve:
        """Make a pass, and return its row of the history."""
        began, before = time.perf_counter(), self.w
        self._last = self.clock(how.name, search, how, where)
        if "disparity_range" in self.look.findings.given:  # what the user gives is a limit, what was found is none
            self._last = self._last._replace(w=self._last.w.clip(*self.look.findings.disparity_range))
        self.w = enlarged(self._last.w, self.scene.shape)
        if self.record is not None:
            noise = to_host(enlarged(level.noise, self.scene.shape))
            self.record.see(len(self.history) + 1, to_host(self.w), noise, how.arms)
        change = abs(self.w - before) if before is not None else None
        self.engine.device.wait()  # or its clock could not be read yet
        row = Solve(
            solve=len(self.history) + 1,
            stage=len(self.history),
            scales=(size,),
            views=1 + len(self.scene.target_names),
            step_mean=None if change is None else float(change.mean()),
            step_max=None if change is None else float(change.max()),
            clipped=0.0,
            inner_iterations=0,
            seconds=time.perf_counter() - began,
            rmse=self._rmse(),
            kind=KIND,
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
    look: Look | None = None,
) -> SweepRun:
    """Sweep a scene, without what `estimate` adds: warnings and metrics."""
    if isinstance(engine, str):
        engine = engines.create_sweep(engine, views_of(scene, colour=options.without != "colour"))
    look = look or look_at(scene, options, engine.name, check_places=False)
    record = ArmRecord(scene, engine.views) if keep_weights else None
    run = SweepRun(scene, engine, look, options.without, Clock(engine.device), record)
    opening = forecast(engine.views) if progress else ""
    with display(PASSES, scene.name, KIND, opening) if progress else nullcontext(lambda row, plan: None) as show:
        for row in run.passes(_start(scene, options, initial, engine)):
            show(row, run.plan)
            if callback is not None and callback(row, to_host(run.w)):
                run.stopped = Stopped.because(StopReason.CALLBACK, solves=row.solve)
                break
    return run


def forecast(views: Views) -> str:
    """Say how much memory a large scene will take; `docs/performance.md` has what was measured."""
    pixels = views.shape[0] * views.shape[1]
    needed = PROCESS_BYTES + 2 * views.colours.nbytes + PIXEL_BYTES * pixels
    return f"takes about {needed / 1e9:.1f} GB of memory" if needed > 1e9 else ""


def _start(scene: Scene, options: Options, initial: ArrayLike | None, engine: SweepEngine) -> Map | None:
    """Return the map to start from in the engine's memory; None to search everything."""
    if initial is None:
        return None
    given = checked_start(scene, initial)
    registry.check_start(options.method, given)
    return engine.upload(given)
