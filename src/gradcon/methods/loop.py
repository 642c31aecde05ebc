"""The loop: build the data term at the current disparity, solve for a step, limit it, filter, and again.

    repeat
        warped = targets seen at w                              (engine.warp)
        diagonal, rhs = data term: linearise, weigh             (engine.data_term)
        (diagonal + alpha L) dw = rhs - alpha L w               (engine.solve)
        w = median(w + limit(dw))                               (engine.update)
        next stage of the method, if no step met the limit
    until the last stage's steps no longer matter

This file owns the history, the progress, the stopping; `schedules` says what a stage is, `engines` do the work.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradcon import engines
from gradcon.arrays import as_array, module_of, to_host
from gradcon.engines.cuda.errors import in_words
from gradcon.errors import InputError
from gradcon.methods import schedules
from gradcon.methods.options import Options
from gradcon.methods.recorder import Recorder
from gradcon.result import Solve
from gradcon.scene import Scene

CHECK_EVERY = 10  # solves between looks at whether the run has converged
SETTLED = 3e-4  # mean change since the last look, in pixels of the nearest view, that no longer matters
JITTER = 2.0  # ... or that many mean steps: the map trembles around its place (noisy images) and goes nowhere

Callback = Callable[[Solve, Any], Any]


@dataclass
class Run:
    """Where the loop has come to."""

    w: Any  # the engine's disparity, in pixels of the nearest view
    unit: float  # the scene's
    machine: engines.Engine
    stages: list[schedules.Stage]
    history: list[Solve]
    stopped: str
    clock: Clock
    recorder: Recorder | None = None  # of the weights, where they are to be kept

    def disparity(self) -> NDArray[np.float32]:
        """Pixels per unit baseline."""
        return to_host(self.maps()[0])

    def maps(self, uncertainty: bool = False) -> tuple[Any, ...]:
        """The disparity, and where asked its predicted standard deviation, in the memory that the engine works in."""
        maps = [self.w]
        if uncertainty:
            maps.append(self.machine.deviation(self.w, self.stages[self.history[-1].stage]))
        scaled = (self.machine.visible(plane) / np.float32(self.unit) for plane in maps)
        return tuple(plane.astype(np.float32, copy=False) for plane in scaled)


class Clock:
    """Adds up time by name, on the engine's own clock."""

    def __init__(self, machine: engines.Engine) -> None:
        self.machine = machine
        self.seconds: dict[str, float] = {}
        self._laps: list[tuple[str, Any, Any]] = []

    def __call__(self, name: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call the function; its time is known when the engine has come so far, and `settle` asked for it."""
        start = self.machine.mark()
        value = function(*arguments)
        self._laps.append((name, start, self.machine.mark()))
        return value

    def settle(self) -> None:
        """Add up what the engine has done; to be called when it has been waited for."""
        for name, start, end in self._laps:
            self.seconds[name] = self.seconds.get(name, 0.0) + self.machine.elapsed(start, end)
        self._laps.clear()


@in_words
def minimise(
    scene: Scene,
    options: Options,
    *,
    initial: ArrayLike | None = None,
    engine: str | engines.Engine = "auto",
    progress: bool = False,
    callback: Callback | None = None,
    keep_weights: bool = False,
) -> Run:
    """The loop alone, without what `estimate` finds out afterwards: uncertainty, warnings, metrics."""
    stages = schedules.build(options.method, scene.baselines, options.alpha, options.scales, options.without)
    w, reweight = _start(scene, initial)
    machine = engines.create(engine, scene, options) if isinstance(engine, str) else engine
    run = Run(machine.upload(w * np.float32(scene.unit)), scene.unit, machine, stages, [], "", Clock(machine))
    unit, clock = run.unit, run.clock
    if keep_weights:
        scales = 1 + max(stages[0].scales)
        run.recorder = recorder = Recorder(machine, scene.shape, len(scene.targets), scales, unit)
    else:
        recorder = None
    stage = since_look = 0
    w_look = run.w
    with _display(progress, options.solves, scene.name) as show:
        while not run.stopped:
            began = time.perf_counter()
            before, now, last = run.w, stages[stage], stage == len(stages) - 1
            warped = clock("warp", machine.warp, before, now)
            if recorder is not None and recorder.wants(len(run.history) + 1):
                clock("weights", recorder.record, len(run.history) + 1, before, warped, now)
            term = clock("data_term", machine.data_term, before, warped, now, reweight)
            dw = clock("solve", machine.solve, before, term, now.alpha, reweight)
            run.w = clock("update", machine.update, before, dw, now.limit)
            report = machine.report(before, run.w)
            clock.settle()
            reweight = True
            row = Solve(
                solve=len(run.history) + 1,
                stage=stage,
                scales=now.scales,
                views=1 + len(now.views),
                step_mean=report.step_mean / unit,
                step_max=report.step_max / unit,
                clipped=report.clipped,
                inner_iterations=report.inner_iterations,
                seconds=time.perf_counter() - began,
                rmse=report.rmse,
            )
            run.history.append(row)
            show(row)
            since_look += 1
            if callback is not None and callback(row, run.disparity()):
                run.stopped = f"The callback asked to stop after {row.solve} solves."
            elif row.solve == options.solves:
                run.stopped = _ran_out(row, stage, len(stages))
            elif not last and row.clipped == 0:
                stage, since_look, w_look = stage + 1, 0, run.w
            elif last and since_look == CHECK_EVERY:
                change = machine.change(w_look, run.w)
                if change < max(SETTLED, JITTER * report.step_mean):
                    run.stopped = (
                        f"Converged after {row.solve} solves: the last {CHECK_EVERY} moved the disparity by "
                        f"{change / unit:.1e} pixels on average."
                    )
                since_look, w_look = 0, run.w
    if recorder is not None and recorder.solves[-1] != row.solve:
        clock("weights", recorder.record, row.solve, before, machine.warp(before, now), now)
        clock.settle()
    return run


def _start(scene: Scene, initial: ArrayLike | None) -> tuple[Any, bool]:
    """The first disparity, and whether it is one to reweigh by (IRLS has no weights before its first solve)."""
    given = as_array(0.0 if initial is None else initial)
    if given.dtype.kind not in "buif":
        raise InputError(f"initial: is a {type(initial).__name__}, neither a number nor a map of the disparity.")
    if given.ndim == 0:
        value = float(given)
        if not np.isfinite(value):
            raise InputError(f"initial: {value} is not a finite disparity.")
        return np.full(scene.shape, value, np.float32), False
    w = given.astype(np.float32)
    if w.shape != scene.shape:
        raise InputError(f"initial: is {w.shape} but the scene is {scene.shape}; give a map of the scene's size.")
    if not module_of(w).isfinite(w).all():
        raise InputError("initial: holds NaN or infinite disparities; fill them in first.")
    return w, True


def _ran_out(row: Solve, stage: int, stages: int) -> str:
    if stage < stages - 1:
        return (
            f"The {row.solve} solves allowed were used up in stage {stage + 1} of {stages}, before the finest "
            "scales or all views were reached. Raise `solves`."
        )
    return (
        f"The {row.solve} solves allowed were used up; the mean step was still {row.step_mean:.1e} pixels. "
        "Raise `solves` if it should converge further."
    )


def _display(progress: bool, solves: int, name: str) -> Any:
    if not progress:
        from contextlib import nullcontext

        return nullcontext(lambda row: None)
    from gradcon.progress import display

    return display(solves, name)
