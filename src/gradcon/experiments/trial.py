"""The job of nearly every experiment: one method on one scene, with the RMSE after every solve."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.experiments.changes import Change, changed, described
from gradcon.experiments.datasets import KnownScene
from gradcon.io import open_scene
from gradcon.jobs import Job, Outcome
from gradcon.methods.loop import minimise
from gradcon.methods.options import PAPER_EPSILON, Options
from gradcon.result import Solve
from gradcon.result.metrics import evaluate
from gradcon.scene import Scene

USUAL_SOLVES = {"gcm": 80, "coarse-to-fine": 150, "progressive": 100, "naive": 150}  # until a run has converged


def trial(
    options: dict[str, Any], views: str, engine: str, change: Change | None, keep: Sequence[int], folder: str
) -> Outcome:
    """Estimate a scene.

    `keep` lists the solves after which the disparity is kept as well; that of the last solve is then kept as `final`.
    """
    scene = _scene(folder, views, json.dumps(change))
    kept: dict[str, NDArray[np.float16]] = {}

    def after(row: Solve, disparity: NDArray[np.float32]) -> None:
        if row.solve in keep:
            kept[str(row.solve)] = disparity.astype(np.float16)

    run = minimise(scene, Options(**options), engine=engine, callback=after if keep else None)
    disparity = run.disparity()
    assert scene.ground_truth is not None
    if keep:
        kept["final"] = disparity.astype(np.float16)
    record = {
        "rmse": [row.rmse for row in run.history],
        "metrics": evaluate(disparity, scene.ground_truth),
        "solves": len(run.history),
        "stopped": str(run.stopped),
        "seconds": sum(row.seconds for row in run.history),
    }
    return Outcome(record, dict(kept))


def trial_job(
    scene: KnownScene, views: str, options: Options, engine: str, change: Change | None = None, keep: Sequence[int] = ()
) -> Job:
    """Return the job that runs `trial` on a scene of a dataset."""
    what = options.method + (f" without {options.without}" if options.without else "")
    return Job(
        function=trial,
        parameters={
            "options": asdict(options),
            "views": views,
            "engine": engine,
            "change": change,
            "keep": list(keep),
        },
        inputs=scene.sha256,
        label=", ".join([scene.name, what, *_details(options, change, keep)]),
        where={"folder": str(scene.folder)},
        cost=run_cost(options, scene),
    )


def _details(options: Options, change: Change | None, keep: Sequence[int]) -> list[str]:
    """List what distinguishes this job from others with the same scene and method."""
    found = [f"{options.scales or 'default'} scales", f"alpha {options.alpha:g}"]
    if options.epsilon != PAPER_EPSILON:
        found.append(f"epsilon {options.epsilon:.1e}")
    if change is not None:
        found.append(described(change))
    return [*found, "maps kept"] if keep else found


@lru_cache(maxsize=2)  # jobs come scene by scene
def _scene(folder: str, views: str, change: str) -> Scene:
    if change == "null":
        return open_scene(folder, views=views)
    return changed(_scene(folder, views, "null"), json.loads(change))


def run_cost(options: Options, scene: KnownScene) -> float:
    """Estimate how many seconds a run takes on one core."""
    solves = USUAL_SOLVES.get(options.method, 100)
    solves = 200 if options.without == "gradient" else solves
    scales = {"gcm": min(options.scales or 3, 3), "coarse-to-fine": 1}.get(options.method, options.scales or 1)
    seconds = min(options.solves, solves) * (0.03 + 0.02 * scales + (0.02 if options.method == "gcm" else 0))
    return seconds * scene.views * scene.size[0] * scene.size[1] / (17 * 512 * 512)
