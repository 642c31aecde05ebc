"""How long the parts of a solve take.

A solve is timed from a disparity in the middle of a run, because the first solves are not like the others.  Engines
take turns from that same disparity, so that whatever else the computer does hits all of them.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, cast, get_args

import numpy as np

from gradcon import engines
from gradcon.bench.schema import SolveFigures, SolveSeconds
from gradcon.engines import AnyEngine, Clock, Stage
from gradcon.methods import schedules
from gradcon.methods.options import PAPER_EPSILON, Options
from gradcon.scene import Scene

Part = Literal["warp", "data_term", "solve", "update"]
STAGES: tuple[Part, ...] = get_args(Part)
WARM_UP = 4  # solves to the middle of a run; the first of them also compiles


class TimedSolve(NamedTuple):
    """One solve: the disparity after it, its seconds by part and in total, and its inner iterations."""

    w: Any
    seconds: dict[str, float]
    inner_iterations: int


class Case(NamedTuple):
    """A solve to time: an engine, the disparity from which it starts, and the stage."""

    engine: AnyEngine
    w: Any
    stage: Stage


def time_solves(names: Sequence[str], scene: Scene, scales: int, solves: int) -> dict[str, SolveFigures]:
    """Return the medians over solves of gcm's first stage, by engine; the engines take turns from one disparity."""
    first = prepare(names[0] if names[0] != "reference" else "cpu", scene, scales)
    w, cases = first.engine.download(first.w), {}
    for name in names:
        same = name == first.engine.name
        engine = first.engine if same else engines.create(name, scene, PAPER_EPSILON, [first.stage])
        cases[name] = Case(engine, engine.upload(w), first.stage)
    return {name: medians(timed) for name, timed in take_turns(cases, solves).items()}


def prepare(name: str, scene: Scene, scales: int) -> Case:
    """Return an engine in the middle of a run of gcm, in the run's first stage."""
    stages = schedules.build("gcm", scene.baselines, Options.alpha, scales)
    engine = engines.create(name, scene, PAPER_EPSILON, stages)
    w = engine.upload(np.zeros(scene.shape, np.float32))
    for k in range(WARM_UP):
        w = timed_solve(engine, w, stages[0], reweight=k > 0).w
    return Case(engine, w, stages[0])


def take_turns(cases: dict[str, Case], solves: int) -> dict[str, list[TimedSolve]]:
    """Time so many solves of each case; a round does one solve of every case."""
    laps: dict[str, list[TimedSolve]] = {name: [] for name in cases}
    for _ in range(solves):
        for name, case in cases.items():
            laps[name].append(timed_solve(case.engine, case.w, case.stage, reweight=True))
    return laps


def medians(timed: Sequence[TimedSolve]) -> SolveFigures:
    seconds = {part: statistics.median(solve.seconds[part] for solve in timed) for part in (*STAGES, "total")}
    return {
        "seconds": cast(SolveSeconds, seconds),
        "inner_iterations": statistics.median(solve.inner_iterations for solve in timed),
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
