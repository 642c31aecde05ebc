"""The job of the comparison with other tools: run one method on one scene and take the time."""

from __future__ import annotations

import time
from typing import Any

from gradcon.experiments.peer_methods import PEERS, run_peer
from gradcon.io import open_scene
from gradcon.jobs import Outcome
from gradcon.methods.loop import minimise
from gradcon.methods.options import Options
from gradcon.result.metrics import evaluate


def timed(
    name: str, tuned: bool, disparity_range: tuple[float, float], options: dict[str, Any], engine: str, folder: str
) -> Outcome:
    """Run a peer, or gradcon with `options` if `name` is not a peer; the time is that of the disparity map alone."""
    scene = open_scene(folder, views="cross")
    truth, scene.ground_truth = scene.ground_truth, None  # so that no time is spent on comparing every solve with it
    assert truth is not None
    low, high = disparity_range
    if name not in PEERS:
        minimise(scene, Options(solves=1), engine=engine)  # loads the compiled functions
    start = time.perf_counter()
    if name in PEERS:
        disparity = run_peer(scene, name, tuned, (low, high))
    else:
        disparity = minimise(scene, Options(**options), engine=engine).disparity()
    seconds = time.perf_counter() - start
    return Outcome({"metrics": evaluate(disparity, truth), "seconds": seconds})
