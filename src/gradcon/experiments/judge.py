"""How well the judge without truth ranks maps: on every scene, maps of many methods and settings, and disturbed ones.

The maps are made from the nearest half of the views, and the others judge them.  A rank correlation of 1 says that the
suspected errors sort the maps as the true ones do.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter, maximum_filter, median_filter
from scipy.stats import spearmanr

from gradcon.experiments.datasets import KINDS, KnownScene
from gradcon.experiments.experiment import Column, Context, Experiment, Findings, Row, Table, mean
from gradcon.experiments.trial import run_cost
from gradcon.io import open_scene
from gradcon.jobs import Job, Outcome, Outcomes
from gradcon.judging.opinion import BAD, second_opinion
from gradcon.methods.estimation import estimate
from gradcon.methods.options import Options
from gradcon.methods.registry import METHODS
from gradcon.result.metrics import evaluate

Map = NDArray[np.float32]

NAME = "judge"
SOLVES = 40
SETTINGS = {
    "sweep": Options(),
    **{f"sweep, {term}": Options("sweep", without=term) for term in METHODS["sweep"].terms},
    "gcm": Options("gcm", solves=SOLVES),
    "gcm, 10 solves": Options("gcm", solves=10),
    "gcm, one scale": Options("gcm", scales=1, solves=SOLVES),
    "gcm, epsilon 2e-3": Options("gcm", epsilon=2e-3, solves=SOLVES),
    **{f"gcm, alpha {alpha:g}": Options("gcm", alpha=alpha, solves=SOLVES) for alpha in (0.25, 1.0)},
    **{f"gcm, {term}": Options("gcm", without=term, solves=SOLVES) for term in METHODS["gcm"].terms},
    "coarse-to-fine": Options("coarse-to-fine", scales=3, solves=SOLVES),
    **{name: Options(name, solves=SOLVES) for name in ("progressive", "naive")},
}
QUICK_SETTINGS = ("sweep", "sweep, edges", "gcm, 10 solves")
GROUPS = {
    "all": "all maps",
    "estimated": "estimated ones",
    "others": "those of other methods than the sweep",
}


def disturbed(w: Map) -> dict[str, Map]:
    """Return a map with errors of several kinds, in pixels per unit baseline."""
    y, x = np.indices(w.shape)
    rng = np.random.default_rng(0)
    return {
        "slightly blurred": gaussian_filter(w, 1),
        "blurred": gaussian_filter(w, 3),
        "slightly noisy": w + rng.normal(0, 0.05, w.shape),
        "noisy": w + rng.normal(0, 0.2, w.shape),
        "with waves": w + 0.1 * np.sin(x / 10) * np.sin(y / 10),
        "slightly too near": w + 0.05,
        "too far": w - 0.2,
        "median": median_filter(w, 9),
        "surfaces grown": maximum_filter(w, 5),
    }


def judged_maps(views: str, engine: str, settings: list[str], folder: str) -> Outcome:
    """Estimate the maps of a scene, and return their true errors and the suspected ones."""
    scene = open_scene(folder, views=views)
    few = open_scene(folder, views=(len(scene.colours) + 1) // 2)
    truth, few.ground_truth = scene.ground_truth, None
    assert truth is not None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the cameras, which are where the dataset says
        maps = {key: estimate(few, SETTINGS[key], engine=engine, check_directions=False).disparity for key in settings}
    left = [k for k, name in enumerate(scene.target_names, 1) if name not in few.target_names]
    second = second_opinion(scene, left, engine)
    right = np.abs(second.disparity - truth) < BAD
    errors = {}
    for key, disparity in {**maps, **disturbed(maps["sweep"])}.items():
        suspected, true = second.of(disparity), evaluate(disparity, truth)
        errors[key] = {
            "rmse": true["rmse"],
            "badpix_007": true["badpix_007"],
            "suspected_rmse": suspected.rmse,
            "suspected_badpix_007": suspected.badpix_007,
            "rmse_where_right": evaluate(disparity, np.where(right, truth, np.nan))["rmse"],
        }
    own = evaluate(second.disparity, np.where(second.sure, truth, np.nan))["rmse"]
    return Outcome({"errors": errors, "own_rmse": own, "sure": 100 * float(second.sure.mean())})


def jobs(context: Context) -> list[Job]:
    return [_job(context, kind, scene) for kind in context.datasets for scene in _scenes(context, kind)]


def conclude(context: Context, outcomes: Outcomes) -> Findings:
    found: dict[str, dict[str, Row]] = {}
    for kind in context.datasets:
        done = {scene.name: outcomes[_job(context, kind, scene)] for scene in _scenes(context, kind)}
        rows = {name: _row(name, outcome.record) for name, outcome in done.items() if outcome is not None}
        if rows:
            found[kind] = {**rows, "mean": _mean(list(rows.values()))}
    if "hci" not in found:
        return Findings()
    return Findings(
        rows=found["hci"],
        columns=COLUMNS,
        more_tables=[
            Table(f"{NAME}-{kind}", KINDS[kind].label, rows, COLUMNS) for kind, rows in found.items() if kind != "hci"
        ],
        notes=[
            f"{len(_settings(context))} maps were estimated from the nearest half of the views, and "
            f"{len(disturbed(np.zeros((2, 2), np.float32)))} are the map of the sweep, disturbed. The other views made "
            "the second map that all of them were compared with. The last columns are the RMSE of the second map "
            "where it counts, how much of the frame that is, and the rank correlation that the true errors reach if "
            f"they are only known where the second map is right to {BAD:g}."
        ],
    )


def _row(name: str, record: dict[str, Any]) -> Row:
    errors = record["errors"]
    groups = {
        "all": list(errors),
        "estimated": [key for key in errors if key in SETTINGS],
        "others": [key for key in errors if key in SETTINGS and SETTINGS[key].method != "sweep"],
    }
    row: Row = {"label": name, "own_rmse": record["own_rmse"], "sure": record["sure"], "maps": errors}
    for what in ("rmse", "badpix_007"):
        row[what] = {group: _rank(errors, keys, f"suspected_{what}", what) for group, keys in groups.items()}
    row["known"] = {group: _rank(errors, keys, "rmse_where_right", "rmse") for group, keys in groups.items()}
    return row


def _rank(errors: dict[str, dict[str, float]], keys: list[str], suspected: str, true: str) -> float | None:
    """Return Spearman's rank correlation, or None if there is none: of one map, or of equal errors."""
    pairs = [[errors[key][name] for key in keys] for name in (suspected, true)]
    if any(np.ptp(each) == 0 for each in pairs):
        return None
    return float(spearmanr(*pairs)[0])


def _mean(rows: list[Row]) -> Row:
    found: Row = {"label": "mean", **{name: mean(row[name] for row in rows) for name in ("own_rmse", "sure")}}
    for what in ("rmse", "badpix_007", "known"):
        known = {group: [row[what][group] for row in rows if row[what][group] is not None] for group in GROUPS}
        found[what] = {group: mean(values) if values else None for group, values in known.items()}
    return found


def _scenes(context: Context, kind: str) -> list[KnownScene]:
    dataset = context.datasets[kind]
    return dataset.spread(1) if context.setup.quick else dataset.scenes


def _settings(context: Context) -> list[str]:
    return list(QUICK_SETTINGS if context.setup.quick else SETTINGS)


def _job(context: Context, kind: str, scene: KnownScene) -> Job:
    settings = _settings(context)
    return Job(
        function=judged_maps,
        parameters={"views": KINDS[kind].views, "engine": context.setup.engine, "settings": settings},
        inputs=scene.sha256,
        label=f"{scene.name}, {len(settings)} maps judged",
        where={"folder": str(scene.folder)},
        cost=sum(run_cost(SETTINGS[key], scene) / 2 for key in settings),
    )


COLUMNS = [
    Column("label", "scene", "s"),
    *(Column(f"rmse|{group}", f"RMSE, {label}", ".2f") for group, label in GROUPS.items()),
    *(Column(f"badpix_007|{group}", f"BadPix 0.07, {label}", ".2f") for group, label in GROUPS.items()),
    Column("own_rmse", "RMSE of the second map", ".3f"),
    Column("sure", "where it counts (%)", ".1f"),
    Column("known|all", "if the errors were known where it is right: all maps", ".2f"),
    Column("known|estimated", "estimated ones", ".2f"),
]

EXPERIMENT = Experiment(
    "The judge without truth",
    "not part of it; this shows how well views that were left out rank the maps of methods and settings",
    "hci",
    jobs,
    conclude,
    also_uses=("middlebury",),
    more_tables=(f"{NAME}-middlebury",),
)
