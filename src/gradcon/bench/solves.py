"""How long the parts of a solve take.

A solve is timed from a disparity in the middle of a run, because the first solves are not like the others.  Engines
take turns from that same disparity, so that whatever else the computer does hits all of them.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gradcon import engines
from gradcon.engines import AnyEngine, Clock, Stage
from gradcon.methods import schedules
from gradcon.methods.options import PAPER_EPSILON, Options
from gradcon.scene import Scene

STAGES = ("warp", "data_term", "solve", "update")
WARM_UP = 4  # solves to the middle of a run; the first of them also compiles


class TimedSolve(NamedTuple):
    """One solve: the disparity after it, its seconds by part and in total, and its inner iterations."""

    w: Any
    seconds: dict[str, float]
    inner_iterations: int


def time_solves(names: Sequence[str], scene: Scene, scales: int, solves: int) -> dict[str, dict[str, Any]]:
    """Return the medians over solves of gcm's first stage, by engine; the engines take turns from one disparity."""
    stages = schedules.build("gcm", scene.baselines, Options.alpha, scales)
    made = {name: engines.create(name, scene, PAPER_EPSILON, stages) for name in names}
    quick = made[names[0]] if names[0] != "reference" else engines.create("cpu", scene, PAPER_EPSILON, stages)
    w = quick.upload(np.zeros(scene.shape, np.float32))
    for k in range(WARM_UP):
        w = timed_solve(quick, w, stages[0], reweight=k > 0).w
    start = {name: engine.upload(quick.download(w)) for name, engine in made.items()}
    laps: dict[str, list[TimedSolve]] = {name: [] for name in names}
    for _ in range(solves):
        for name, engine in made.items():
            laps[name].append(timed_solve(engine, start[name], stages[0], reweight=True))
    return {
        name: {
            "seconds": {part: statistics.median(solve.seconds[part] for solve in timed) for part in (*STAGES, "total")},
            "inner_iterations": statistics.median(solve.inner_iterations for solve in timed),
        }
        for name, timed in laps.items()
    }


def timed_solve(engine: AnyEngine, w: Any, stage: Stage, reweight: bool) -> TimedSolve:
    """Take a step and time it on the engine's clock; the report counts as part of `update`."""
    clock = Clock(engine.device)
    start = engine.device.mark()
    step = engine.step(w, stage, reweight=reweight, clock=clock)
    end = engine.device.mark()
    engine.device.wait()
    clock.settle()
    total = engine.device.elapsed(start, end)
    seconds = {**clock.seconds, "total": total}
    seconds["update"] = total - sum(clock.seconds[part] for part in STAGES[:-1])
    return TimedSolve(step.w, seconds, step.report.inner_iterations)
