"""The job of nearly every experiment: one method on one scene, with the RMSE after every solve."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.arrays import sampled
from gradcon.engines import Choices
from gradcon.engines.model import RING_GAP
from gradcon.experiments.changes import Change, changed, described
from gradcon.experiments.counts import stages_of_run
from gradcon.experiments.datasets import Kind, KnownScene
from gradcon.experiments.experiment import Setup
from gradcon.io import open_scene
from gradcon.jobs import Job, Outcome
from gradcon.methods.loop import minimise
from gradcon.methods.options import PAPER_EPSILON, Options
from gradcon.result import Solve
from gradcon.result.jumps import beside_jumps, evaluate_at_jumps
from gradcon.result.metrics import evaluate
from gradcon.result.weights import Weights
from gradcon.scene import Scene

COURSE = ("run_end", "stage_solves")  # the choices that `fair` makes
SETTLES_AFTER = 80  # solves, about, for a run of the GCM that ends when its map has settled


def fair(choices: Choices, kind: Kind, setup: Setup) -> Choices:
    """Return choices for runs that are compared with each other: all take all solves, in stages of limited length."""
    return replace(choices, run_end="solves", stage_solves=max(1, setup.solves // kind.stage_part))


def trial(
    options: dict[str, Any],
    views: str,
    engine: str,
    change: Change | None,
    keep: Sequence[int],
    trust: bool,
    folder: str,
) -> Outcome:
    """Estimate a scene.

    `keep` lists the solves after which the disparity is kept as well; that of the last solve is then kept as `final`.
    With `trust`, the record also has the `trust_beside_jumps`.
    """
    scene = _scene(folder, views, json.dumps(change))
    given = Options(**options)
    kept: dict[str, NDArray[np.float16]] = {}

    def after(row: Solve, disparity: NDArray[np.float32]) -> None:
        if row.solve in keep:
            kept[str(row.solve)] = disparity.astype(np.float16)

    run = minimise(scene, given, engine=engine, callback=after if keep else None, keep_weights=trust)
    disparity = run.disparity()
    assert scene.ground_truth is not None
    if keep:
        kept["final"] = disparity.astype(np.float16)
    record = {
        "rmse": [row.rmse for row in run.history],
        "metrics": evaluate(disparity, scene.ground_truth),
        "jumps": evaluate_at_jumps(disparity, scene.ground_truth),
        "course": stages_of_run(run, given),
        "solves": len(run.history),
        "stopped": str(run.stopped),
        "seconds": sum(row.seconds for row in run.history),
    }
    weights = run.weights()
    if weights is not None:
        record["trust"] = trust_beside_jumps(weights, scene)
    return Outcome(record, dict(kept))


def trust_beside_jumps(weights: Weights, scene: Scene) -> dict[str, Any]:
    """Return the trust in the nearest views, the finest scale and the coarsest: everywhere, beside jumps and elsewhere.

    Each is a list with a mean over pixels for each recorded solve; a kind of place that the scene does not have is
    None.
    """
    assert scene.ground_truth is not None
    length = np.hypot(*scene.baselines.T) / scene.unit
    middle = slice(weights.step // 2, None, weights.step)
    beside = beside_jumps(scene.ground_truth)[middle, middle]
    assert beside.shape == sampled(scene.shape, weights.step)
    trust = weights.shares / weights.shares.sum(axis=(3, 4), keepdims=True)  # the kept shares are rounded
    shares = {
        "nearest": trust[..., length < 1 + RING_GAP].sum(axis=(3, 4)),
        "finest": trust[..., -1, :].sum(axis=3),
        "coarsest": trust[..., 0, :].sum(axis=3),
    }
    found: dict[str, Any] = {"solves": weights.solves.tolist()}
    for place, where in (("everywhere", beside | True), ("beside", beside), ("elsewhere", ~beside)):
        means = {name: share[:, where].mean(axis=1).tolist() for name, share in shares.items()} if where.any() else None
        found[place] = means
    return found


def trial_job(
    scene: KnownScene,
    views: str,
    options: Options,
    engine: str,
    change: Change | None = None,
    keep: Sequence[int] = (),
    trust: bool = False,
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
            "trust": trust,
        },
        inputs=scene.sha256,
        label=", ".join([scene.name, what, *_details(options, change), *(["maps kept"] if keep else [])]),
        where={"folder": str(scene.folder)},
        cost=run_cost(options, scene),
    )


def _details(options: Options, change: Change | None) -> list[str]:
    """List what distinguishes this job from others with the same scene and method."""
    found = [f"{options.scales or 'default'} scales", f"alpha {options.alpha:g}"]
    if options.epsilon != PAPER_EPSILON:
        found.append(f"epsilon {options.epsilon:.1e}")
    made = [f"{name} {value}" for name, value in options.choices.differing().items() if name not in COURSE]
    found += ["as printed"] if len(made) > 2 else made
    return found if change is None else [*found, described(change)]


@lru_cache(maxsize=2)  # jobs come scene by scene
def _scene(folder: str, views: str, change: str) -> Scene:
    if change == "null":
        return open_scene(folder, views=views)
    return changed(_scene(folder, views, "null"), json.loads(change))


def run_cost(options: Options, scene: KnownScene) -> float:
    """Estimate how many seconds a run takes on one core."""
    settles = options.method == "gcm" and options.without is None and options.choices.run_end != "solves"
    solves = min(options.solves, SETTLES_AFTER) if settles else options.solves
    scales = {"gcm": min(options.scales or 3, 3), "coarse-to-fine": 1}.get(options.method, options.scales or 1)
    seconds = solves * (0.03 + 0.02 * scales + (0.02 if options.method == "gcm" else 0))
    return seconds * scene.views * scene.size[0] * scene.size[1] / (17 * 512 * 512)
