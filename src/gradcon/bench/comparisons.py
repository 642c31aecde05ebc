"""Ratios of times: what has to stay the same, or get better, from version to version.

Seconds depend on the computer and on what else it does.  So each ratio comes from a single run in which the two things
take turns, and from the middle of several such rounds.
"""

from __future__ import annotations

import statistics
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from gradcon.bench.measure import SCENE, check, say
from gradcon.bench.scenes import make_scene
from gradcon.bench.schema import Ratio, Ratios
from gradcon.bench.setting import setting
from gradcon.bench.solves import Case, prepare, take_turns
from gradcon.engines import create
from gradcon.io import open_scene
from gradcon.methods.estimation import estimate
from gradcon.methods.options import PAPER_EPSILON, Options
from gradcon.methods.warm_up import compile_engine
from gradcon.scene import Scene

ROUNDS = 3  # of whole estimates
METHODS = ("gcm", "sweep")


def ratios(
    engine: str = "cpu", *, size: int = 512, solves: int = 5, rounds: int = ROUNDS, path: Path | None = None
) -> Ratios:
    """Measure the ratios of which `benchmarks/` keeps a history.

    Parameters
    ----------
    engine : {"cpu", "cuda", "reference"}
    size : int
        Side of a view in pixels.
    solves : int
        Number of rounds for the ratios of a solve.
    rounds : int
        Number of rounds for the ratios of whole estimates.
    path : Path, optional
        A scene for the solve and the whole estimates, instead of one rendered at `size`; its cross of views is used.

    Returns
    -------
    Ratios
        A dictionary, as `docs/benchmarks.md` explains.
    """
    from gradcon import synth

    check(engine, solves, size)
    with tempfile.TemporaryDirectory() as folder:
        if path is None:
            say(f"rendering the scene {SCENE!r} at {size} x {size} ...")
            path = synth.write(SCENE, Path(folder) / SCENE, (size, size), views="cross")
        scene = open_scene(path, views="cross")
    scene.ground_truth = None  # so that no time is spent on comparing every solve with it
    say(f"measuring a solve of {engine} and reference, {solves} rounds ...")
    to_reference = _to_reference(engine, scene, solves)
    say(f"measuring whole estimates, {rounds} rounds ...")
    to_flow = _to_flow(engine, scene, rounds)
    say(f"measuring a solve with six and three scales, {solves} rounds ...")
    cross = make_scene(size, 16, 0)
    scales = _of_solves(prepare(engine, cross, 6), prepare(engine, cross, 3), solves)
    say(f"measuring a solve with 81 and 17 views, {solves} rounds ...")
    views = _of_solves(prepare(engine, make_scene(size, 16, 64), 3), prepare(engine, cross, 3), solves)
    height, width = scene.shape
    return {
        **setting("ratios", engine),
        "scene": {"name": scene.name, "width": width, "height": height, "views": len(scene.colours)},
        "solves": solves,
        "rounds": rounds,
        "ratios": {
            "reference_to_engine": to_reference,
            "gcm_to_dis": to_flow["gcm"],
            "sweep_to_dis": to_flow["sweep"],
            "six_scales_to_three": scales,
            "views_81_to_17": views,
        },
    }


def _to_reference(engine: str, scene: Scene, solves: int) -> Ratio:
    fast = prepare(engine, scene, 3)
    slow = create("reference", scene, PAPER_EPSILON, [fast.stage])
    return _of_solves(Case(slow, slow.upload(fast.engine.download(fast.w)), fast.stage), fast, solves)


def _of_solves(one: Case, other: Case, solves: int) -> Ratio:
    timed = take_turns({"one": one, "other": other}, solves)
    return _ratio(*([solve.seconds["total"] for solve in timed[name]] for name in ("one", "other")))


def _to_flow(engine: str, scene: Scene, rounds: int) -> dict[str, Ratio]:
    """Return how long a whole estimate by each method takes, compared with the tuned flow."""
    from gradcon.experiments.peer_methods import missing_libraries, run_peer

    missing = missing_libraries()
    if missing is not None:
        return {method: _skipped(str(missing)) for method in METHODS}
    compile_engine(engine, *METHODS)

    def run(method: str) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the cameras, which are where the scene says
            estimate(scene, Options(method), engine=engine)

    laps: dict[str, list[float]] = {name: [] for name in (*METHODS, "dis")}
    for _ in range(rounds):
        for method in METHODS:
            laps[method].append(_seconds(partial(run, method)))
        laps["dis"].append(_seconds(partial(run_peer, scene, "dis", True, (0.0, 0.0))))
    return {method: _ratio(laps[method], laps["dis"]) for method in METHODS}


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _ratio(one: Sequence[float], other: Sequence[float]) -> Ratio:
    rounds = [a / b for a, b in zip(one, other, strict=True)]
    return {
        "ratio": statistics.median(rounds),
        "low": min(rounds),
        "high": max(rounds),
        "seconds": statistics.median(one),
        "compared_seconds": statistics.median(other),
        "skipped": None,
    }


def _skipped(why: str) -> Ratio:
    return {"ratio": None, "low": None, "high": None, "seconds": None, "compared_seconds": None, "skipped": why}
