"""The job of the comparisons with other tools: run one method on one scene, perhaps disturbed, and time it."""

from __future__ import annotations

import time
import warnings
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from gradcon.experiments.changes import Change, changed, described
from gradcon.experiments.datasets import KnownScene
from gradcon.experiments.peer_methods import LIBRARIES, run_peer
from gradcon.experiments.trial import run_cost
from gradcon.identity import versions
from gradcon.io import open_scene
from gradcon.jobs import Job, Outcome
from gradcon.jobs.job import sha256_of
from gradcon.methods.estimation import estimate
from gradcon.methods.options import Options
from gradcon.methods.warm_up import compile_engine
from gradcon.result.jumps import evaluate_at_jumps
from gradcon.result.metrics import evaluate

PEER_SECONDS = {"sgbm": 0.5, "dis": 2.0, "tvl1": 25.0, "ilk": 25.0}  # roughly, per scene


@dataclass(frozen=True)
class Entrant:
    """A method of gradcon with its options, or else one of `PEERS`, tuned or with its defaults."""

    label: str
    options: Options | None = None
    peer: str = ""
    tuned: bool = False


def timed(
    options: dict[str, Any] | None,
    peer: str,
    tuned: bool,
    disparity_range: tuple[float, float],
    views: str,
    engine: str,
    keep: bool,
    change: Change | None,
    folder: str,
) -> Outcome:
    """Run gradcon with `options`, or `peer` if there are none; if `keep`, the outcome holds the disparity."""
    scene = open_scene(folder, views=views)
    scene = scene if change is None else changed(scene, change)
    truth, scene.ground_truth = scene.ground_truth, None  # so that no time is spent on comparing every solve with it
    assert truth is not None
    if options is None:
        low, high = disparity_range
        if low == high:  # a wall; StereoSGBM needs something to search
            low, high = low - 1, high + 1
        start = time.perf_counter()
        disparity = run_peer(scene, peer, tuned, (low, high))
    else:
        chosen = Options(**options)
        compile_engine(engine, chosen.method)  # loads the compiled functions
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the cameras, which are where the dataset says
            disparity = estimate(scene, chosen, engine=engine).disparity
    seconds = time.perf_counter() - start
    record = {
        "metrics": evaluate(disparity, truth),
        "jumps": evaluate_at_jumps(disparity, truth),
        "seconds": seconds,
    }
    return Outcome(record, {"disparity": disparity.astype(np.float16)} if keep else {})


def timed_job(
    scene: KnownScene, views: str, entrant: Entrant, engine: str, keep: bool = False, change: Change | None = None
) -> Job:
    """Return the job that runs `timed` on a scene of a dataset; the time of a disturbed scene is only a rough one."""
    options, peer = entrant.options, entrant.peer
    return Job(
        function=timed,
        parameters={
            "options": None if options is None else asdict(options),
            "peer": peer,
            "tuned": entrant.tuned,
            "disparity_range": list(scene.disparity_range),
            "views": views,
            "engine": engine,
            "keep": keep,
            "change": change,
        },
        inputs=sha256_of([scene.sha256, versions(LIBRARIES)]) if options is None else scene.sha256,
        label=f"{scene.name}, {entrant.label}, {'timed' if change is None else described(change)}",
        where={"folder": str(scene.folder)},
        cost=PEER_SECONDS[peer] if options is None else run_cost(options, scene),
        alone=change is None,
    )
