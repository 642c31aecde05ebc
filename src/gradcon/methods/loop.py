"""The loop of the paper's methods: one step after the other, until the last stage's steps no longer matter.

    repeat
        w, report = engine.step(w, stage)       warp, linearise and weigh, solve, limit and filter
        the next stage, if hardly any step met the limit
    until the last stage's steps no longer matter, or all solves are used

`schedules` says what a stage is, `stopping` when it ends, and `engines` do the arithmetic.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradcon import engines
from gradcon.arrays import as_array, module_of
from gradcon.engines import AnyEngine, Clock, Stage
from gradcon.engines.failures import in_words
from gradcon.errors import InputError
from gradcon.methods import schedules
from gradcon.methods.options import Options
from gradcon.methods.recorder import Recorder
from gradcon.methods.stopping import StopRule
from gradcon.progress import Show, display
from gradcon.result import Solve
from gradcon.result.stopped import Stopped, StopReason
from gradcon.result.weights import Weights
from gradcon.scene import Scene
from gradcon.scene.numbers import LARGEST

if TYPE_CHECKING:
    from gradcon.methods.look import Look

Callback = Callable[[Solve, NDArray[np.float32]], object]


@dataclass
class Run:
    """A run of the loop: where it is, and how it got there."""

    engine: AnyEngine
    stages: list[Stage]
    unit: float  # the scene's
    epsilon: float
    w: Any  # the engine's disparity, in pixels of the nearest view
    reweight: bool  # whether w is an estimate that weights can be computed from
    rule: StopRule
    clock: Clock
    recorder: Recorder | None = None  # of the weights, if they are to be kept
    history: list[Solve] = field(default_factory=list)
    stopped: Stopped | None = None

    def step(self) -> Solve:
        """Take one step, and judge whether it was the last."""
        began, number, before = time.perf_counter(), len(self.history) + 1, self.w
        index = self.rule.stage
        stage = self.stages[index]
        sample = self.recorder.step if self.recorder is not None and self.recorder.wants(number) else 0
        self.w, report, weights = self.engine.step(
            before, stage, reweight=self.reweight, sample=sample, clock=self.clock
        )
        self.clock.settle()
        self.reweight = True
        if self.recorder is not None:
            self.recorder.see(number, before, stage, weights)
        row = Solve(
            solve=number,
            stage=index,
            scales=stage.scales,
            views=1 + len(stage.views),
            step_mean=report.step_mean / self.unit,
            step_max=report.step_max / self.unit,
            clipped=report.clipped,
            inner_iterations=report.inner_iterations,
            seconds=time.perf_counter() - began,
            rmse=report.rmse,
        )
        self.history.append(row)
        self.stopped = self.rule.judge(number, self.w, report, self.unit)
        return row

    def disparity(self) -> NDArray[np.float32]:
        """Return the disparity, in pixels per unit baseline, in the host's memory."""
        return self.engine.device.get(self._scaled(self.w))

    def maps(self) -> tuple[Any, Any]:
        """Return the disparity and its predicted standard deviation, in the memory that the engine works in."""
        deviation = self.engine.deviation(self.w, self.stages[self.history[-1].stage])
        return self._scaled(self.w), self._scaled(deviation)

    def weights(self) -> Weights | None:
        """Return which views and scales were trusted, if that was recorded."""
        return self.recorder.weights() if self.recorder is not None else None

    def choices(self) -> dict[str, Any]:
        """Return the parameters that were used where none were given."""
        return {"scales": 1 + max(self.stages[0].scales), "epsilon": self.epsilon}

    def _scaled(self, plane: Any) -> Any:
        return (self.engine.visible(plane) / np.float32(self.unit)).astype(np.float32, copy=False)


@in_words
def minimise(
    scene: Scene,
    options: Options,
    *,
    initial: ArrayLike | None = None,
    engine: str | AnyEngine = "auto",
    progress: bool = False,
    callback: Callback | None = None,
    keep_weights: bool = False,
    look: Look | None = None,
) -> Run:
    """Run the loop alone, without what `estimate` adds: uncertainty, warnings and metrics."""
    run = begin(scene, options, initial, engine, keep_weights)
    with _display(progress, options.solves, scene.name) as show:
        while run.stopped is None:
            row = run.step()
            show(row)
            if callback is not None and callback(row, run.disparity()):
                run.stopped = Stopped.because(StopReason.CALLBACK, solves=row.solve)
    return run


def begin(
    scene: Scene,
    options: Options,
    initial: ArrayLike | None = None,
    engine: str | AnyEngine = "auto",
    keep_weights: bool = False,
) -> Run:
    """Prepare a run; if `engine` is a name, make that engine."""
    stages = schedules.stages_of(scene, options)
    start, reweight = _start(scene, initial)
    if isinstance(engine, str):
        engine = engines.create(engine, scene, options.noise_parameter, stages, choices=options.choices)
    w = engine.upload(start * np.float32(scene.unit))
    scales = 1 + max(stages[0].scales)
    return Run(
        engine=engine,
        stages=stages,
        unit=scene.unit,
        epsilon=options.noise_parameter,
        w=w,
        reweight=reweight,
        rule=StopRule(engine, len(stages), options.solves, w, schedules.course_of(options, len(stages))),
        clock=Clock(engine.device),
        recorder=Recorder(engine, scene.shape, len(scene.baselines), scales, scene.unit) if keep_weights else None,
    )


def _start(scene: Scene, initial: ArrayLike | None) -> tuple[Any, bool]:
    """Return the first disparity, and whether it is an estimate (IRLS has no weights before its first solve)."""
    given = checked_start(scene, 0.0 if initial is None else initial)
    if given.ndim == 0:
        return np.full(scene.shape, given, np.float32), False
    return given, True


def checked_start(scene: Scene, initial: ArrayLike) -> Any:
    """Return the disparity to start from, a number or a map, as a float32 array; refuse any other."""
    given = as_array(initial, "initial")
    if given.dtype.kind not in "buif":
        kind = type(initial).__name__
        raise InputError("initial", f"is a {kind}, neither a number nor a map of the disparity", "give one of the two")
    if given.ndim == 0 and not np.isfinite(float(given)):
        raise InputError("initial", f"{float(given)} is not a finite disparity", "give a finite number")
    if given.ndim and given.shape != scene.shape:
        problem = f"is {given.shape} but the scene is {scene.shape}"
        raise InputError("initial", problem, "give a map of the scene's size")
    if not module_of(given).isfinite(given).all():
        raise InputError("initial", "holds NaN or infinite disparities", "fill them in first")
    largest = float(abs(given).max())
    if largest * max(1.0, scene.unit) > LARGEST:
        problem = f"has a disparity of {largest:g}, which is too large to compute with"
        raise InputError("initial", problem, f"stay within {LARGEST / max(1.0, scene.unit):g} on either side of 0")
    return given.astype(np.float32)


def _display(progress: bool, solves: int, name: str) -> AbstractContextManager[Show]:
    if not progress:
        return nullcontext(lambda row, plan=(): None)
    return display(solves, name)
