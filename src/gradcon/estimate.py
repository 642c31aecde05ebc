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
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradcon import engines, schedules
from gradcon.errors import InputError
from gradcon.metrics import evaluate
from gradcon.result import Result, Solve
from gradcon.scene import Scene

CHECK_EVERY = 10  # solves between looks at whether the run has converged
SETTLED = 3e-4  # mean change since the last look, in pixels of the nearest view, that no longer matters
JITTER = 2.0  # ... or that many mean steps: the map trembles around its place (noisy images) and goes nowhere
CONFIDENCE_SIGMA = 2.0  # pixels; how sure one can be is a matter of the neighbourhood, not of a pixel

Callback = Callable[[Solve, Any], Any]


@dataclass(frozen=True)
class Options:
    """What a user may choose.

    Parameters
    ----------
    method : str
        `gcm`, `coarse-to-fine`, `progressive` or `naive`.
    alpha : float
        Weight of the smoothness term.
    epsilon : float
        Standard deviation of the acquisition noise, in units of the pixels' range [0, 1].
    scales : int, optional
        Number of scales; by default the method's own (3 for gcm and coarse-to-fine, else 1).  Take n scales for
        disparities of up to about 2^(n-1) pixels, either side of the start, to the nearest view.
    solves : int
        At most so many solves; a run ends earlier when it has converged.
    without : str, optional
        `gradient` or `scale`: leave that term out of the model (the paper's ablations).
    """

    method: str = "gcm"
    alpha: float = 0.5
    epsilon: float = 2e-4
    scales: int | None = None
    solves: int = 300
    without: str | None = None

    def __post_init__(self) -> None:
        for field in ("alpha", "epsilon"):
            value = getattr(self, field)
            if not (isinstance(value, int | float) and np.isfinite(value) and value > 0):
                raise InputError(f"{field}: {value!r} is not a positive number.")
        for field, most in (("scales", 8), ("solves", 1_000_000)):
            value = getattr(self, field)
            if not (value is None and field == "scales") and not (isinstance(value, int) and 1 <= value <= most):
                raise InputError(f"{field}: {value!r} is not a whole number from 1 to {most}.")
        schedules.check(self.method, self.without)


def estimate(
    scene: Scene,
    options: Options | None = None,
    *,
    initial: ArrayLike | None = None,
    engine: str = "auto",
    progress: bool = False,
    callback: Callback | None = None,
) -> Result:
    """Estimate the disparity of a scene's reference view.

    Parameters
    ----------
    scene : Scene
        From `open_scene`, or made of arrays.
    options : Options, optional
    initial : array or float, optional
        Disparity to start from, in pixels per unit baseline: a map of the scene's size continues from it; a number
        starts everywhere from that number.  0 by default.
    engine : str
        `auto`, `cpu` or `reference`.
    progress : bool
        Show progress on stderr: a bar on a terminal, lines elsewhere.
    callback : callable, optional
        Called after every solve with its row of the history and the disparity; a true answer ends the run.

    Returns
    -------
    Result

    Examples
    --------
    >>> from gradcon import estimate, synth
    >>> result = estimate(synth.render("planes", size=(48, 48)))
    >>> result.disparity.shape
    (48, 48)
    """
    options = options or Options()
    start = time.perf_counter()
    run = minimise(scene, options, initial=initial, engine=engine, progress=progress, callback=callback)
    clock, machine = run.clock, run.machine
    disparity = run.disparity()
    confidence = clock("confidence", _confidence, machine, run.w, run.stages[run.history[-1].stage], scene.unit)
    warned = clock("direction_check", _direction_warnings, scene, disparity)
    for text in warned:
        warnings.warn(text, stacklevel=2)
    return Result(
        disparity=disparity,
        confidence=confidence,
        history=run.history,
        stopped=run.stopped,
        parameters={**asdict(options), "scales": 1 + max(run.stages[0].scales), "initial": _describe(initial)},
        source={
            "name": scene.name,
            "reference": scene.reference_name,
            "views": 1 + len(scene.targets),
            "targets": scene.target_names,
            "baselines": scene.baselines.tolist(),
            "metadata": scene.metadata,
            "width": scene.shape[1],
            "height": scene.shape[0],
            "sha256": scene.fingerprint(),
        },
        engine=machine.name,
        seconds={"total": time.perf_counter() - start, **clock.seconds},
        metrics=evaluate(disparity, scene.ground_truth) if scene.ground_truth is not None else None,
        warnings=warned,
    )


@dataclass
class Run:
    """Where the loop has come to."""

    w: Any  # the engine's disparity, in pixels of the nearest view
    unit: float  # the scene's
    machine: engines.Engine
    stages: list[schedules.Stage]
    history: list[Solve]
    stopped: str
    clock: _Clock

    def disparity(self) -> NDArray[np.float32]:
        """Pixels per unit baseline."""
        return (self.machine.download(self.w) / self.unit).astype(np.float32)


def minimise(
    scene: Scene,
    options: Options,
    *,
    initial: ArrayLike | None = None,
    engine: str = "auto",
    progress: bool = False,
    callback: Callback | None = None,
) -> Run:
    """The loop alone, without what `estimate` finds out afterwards: confidence, warnings, metrics."""
    stages = schedules.build(options.method, scene.baselines, options.alpha, options.scales, options.without)
    w, reweight = _start(scene, initial)
    machine = engines.create(engine, scene, options.epsilon)
    run = Run(machine.upload(w * scene.unit), scene.unit, machine, stages, history=[], stopped="", clock=_Clock())
    unit, clock = run.unit, run.clock
    stage = since_look = 0
    w_look = run.w
    with _display(progress, options.solves, scene.name) as show:
        while not run.stopped:
            began = time.perf_counter()
            before, now, last = run.w, stages[stage], stage == len(stages) - 1
            warped = clock("warp", machine.warp, before, now)
            term = clock("data_term", machine.data_term, before, warped, now, reweight)
            dw, inner = clock("solve", machine.solve, before, term, now.alpha, reweight)
            run.w, clipped = clock("update", machine.update, before, dw, now.limit)
            step_mean, step_max = machine.change(before, run.w)
            reweight = True
            seconds = time.perf_counter() - began
            disparity = run.disparity() if callback is not None or scene.ground_truth is not None else None
            row = Solve(
                solve=len(run.history) + 1,
                stage=stage,
                scales=now.scales,
                views=1 + len(now.views),
                step_mean=step_mean / unit,
                step_max=step_max / unit,
                clipped=clipped,
                inner_iterations=int(inner),
                seconds=seconds,
                rmse=_rmse(disparity, scene.ground_truth),
            )
            run.history.append(row)
            show(row)
            since_look += 1
            if callback is not None and callback(row, disparity):
                run.stopped = f"The callback asked to stop after {row.solve} solves."
            elif row.solve == options.solves:
                run.stopped = _ran_out(row, stage, len(stages))
            elif not last and clipped == 0:
                stage, since_look, w_look = stage + 1, 0, run.w
            elif last and since_look == CHECK_EVERY:
                change, _ = machine.change(w_look, run.w)
                if change < max(SETTLED, JITTER * step_mean):
                    run.stopped = (
                        f"Converged after {row.solve} solves: the last {CHECK_EVERY} moved the disparity by "
                        f"{change / unit:.1e} pixels on average."
                    )
                since_look, w_look = 0, run.w
    return run


class _Clock:
    """Calls functions and adds up their time by name."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def __call__(self, name: str, function: Callable[..., Any], *arguments: Any) -> Any:
        start = time.perf_counter()
        value = function(*arguments)
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start
        return value


def _start(scene: Scene, initial: ArrayLike | None) -> tuple[NDArray[np.float32], bool]:
    """The first disparity, and whether it is one to reweigh by (IRLS has no weights before its first solve)."""
    if initial is None or np.ndim(initial) == 0:
        value = 0.0 if initial is None else float(np.asarray(initial))
        if not np.isfinite(value):
            raise InputError(f"initial: {value} is not a finite disparity.")
        return np.full(scene.shape, value, np.float32), False
    w = np.asarray(initial, dtype=np.float32)
    if w.shape != scene.shape:
        raise InputError(f"initial: is {w.shape} but the scene is {scene.shape}; give a map of the scene's size.")
    if not np.isfinite(w).all():
        raise InputError("initial: holds NaN or infinite disparities; fill them in first.")
    return w, True


def _describe(initial: ArrayLike | None) -> float | str:
    return 0.0 if initial is None else float(np.asarray(initial)) if np.ndim(initial) == 0 else "a map"


def _rmse(disparity: NDArray[np.float32] | None, truth: NDArray[np.float32] | None) -> float | None:
    if disparity is None or truth is None:
        return None
    error = (disparity - truth)[np.isfinite(truth)].astype(np.float64)
    return float(np.sqrt(np.mean(error**2))) if error.size else None


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


def _confidence(machine: engines.Engine, w: Any, stage: schedules.Stage, unit: float) -> NDArray[np.float32]:
    """Predicted standard deviation, in pixels per unit baseline."""
    from scipy.ndimage import gaussian_filter

    values = machine.download(w)
    # Where the data says nothing, the disparity may be anything that the scene holds, or a pixel off.
    prior = max(float(values.max() - values.min()), 1.0)
    deviation = machine.download(machine.deviation(w, stage, prior))
    return (gaussian_filter(deviation, CONFIDENCE_SIGMA, mode="nearest") / unit).astype(np.float32)


def _direction_warnings(scene: Scene, disparity: NDArray[np.float32]) -> list[str]:
    from gradcon.directions import check_directions

    return check_directions(scene, disparity)


def _display(progress: bool, solves: int, name: str) -> Any:
    if not progress:
        from contextlib import nullcontext

        return nullcontext(lambda row: None)
    from gradcon.progress import display

    return display(solves, name)
