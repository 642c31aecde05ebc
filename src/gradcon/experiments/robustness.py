"""The paper's remark on real cameras: every method on distorted images, and with inexact baselines.

Each method keeps the alpha that cross-validation chose for it on the undisturbed scenes, because users tune on good
data.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from gradcon.experiments.changes import Change, barrel, baseline_noise
from gradcon.experiments.comparison import Comparison, Verdict
from gradcon.experiments.counts import COUNT_COLUMNS, Record, count
from gradcon.experiments.datasets import KnownScene
from gradcon.experiments.experiment import Claim, Column, Context, Experiment, Findings, Row, listing, mean
from gradcon.experiments.methods import GCM, GCM_ONE_SCALE, ONE_SCALE, THREE_SCALES, Contender
from gradcon.jobs import Job, Outcomes


def _noise(deviation: float, name: str) -> Change:
    return baseline_noise(deviation, draw=f"{name} {deviation:g}")


QUICK_SCENES = 2
FRAME = "same frame"  # the undistorted images, cropped like the distorted ones: what `barrel` is compared with
BARREL = "barrel distortion"
NOISE = {f"baselines +- {deviation:g}": deviation for deviation in (0.02, 0.05, 0.1)}
CHANGES: dict[str, Callable[[str], Change]] = {  # by its name in the report; the scene's name seeds its noise
    FRAME: lambda name: barrel(0),
    BARREL: lambda name: barrel(),
    **{key: partial(_noise, deviation) for key, deviation in NOISE.items()},
}


def comparison(context: Context) -> Comparison:
    """Return the undisturbed runs, which choose the alphas."""
    return Comparison(context.datasets["hci"], ONE_SCALE + THREE_SCALES, context.setup)


def follow_up(context: Context, outcomes: Outcomes) -> list[Job]:
    """Return the runs of every method on every change of every scene."""
    verdict = comparison(context).judge(outcomes)
    return [job for scene in _scenes(context, verdict) for job in _jobs(verdict, scene)]


def conclude(context: Context, outcomes: Outcomes) -> Findings:
    verdict = comparison(context).judge(outcomes)
    wanted = _scenes(context, verdict)
    scenes = [scene for scene in wanted if all(outcomes[job] for job in _jobs(verdict, scene))]
    if not scenes:
        return Findings()
    rows = {who.key: _row(verdict, who, scenes, outcomes) for who in verdict.comparison.contenders}
    columns = [Column("label", "method", "s"), Column("undisturbed", "undisturbed")]
    columns += [*(Column(f"by_change|{key}", key) for key in CHANGES), *COUNT_COLUMNS]
    return Findings(
        rows=rows,
        columns=columns,
        claims=[claim("barrel", [BARREL], rows), claim("baselines", tuple(NOISE), rows)],
        notes=[
            f"The values are means of the RMSE over these scenes: {', '.join(scene.name for scene in scenes)}. "
            "The alphas are those chosen on the undisturbed scenes. The counts are of all runs on changed scenes.",
            "Barrel distortion follows the one-term division model with K1 = -0.125 / height^2 on every view. The "
            f"frame is cropped to the known pixels, so compare with `{FRAME}`. The ground truth moves with the pixels, "
            "but keeps its values.",
            "Noise on the baselines is Gaussian, on both coordinates, in units of the shortest baseline; each scene "
            "and level has its own draw. It also makes progressive inclusion add the views in more stages.",
        ],
    )


def claim(statement: str, changes: Sequence[str], rows: dict[str, Row]) -> Claim:
    """Judge whether the GCM at three scales has the lowest RMSE of all methods but itself at one scale."""
    others = {key: row for key, row in rows.items() if key not in (GCM.key, GCM_ONE_SCALE.key)}
    best, texts = True, {}
    for change in changes:
        rmse = Column(f"by_change|{change}", "").value
        second = min(others.values(), key=rmse)
        best = best and rmse(rows[GCM.key]) < rmse(second)
        texts[change] = f"GCM {rmse(rows[GCM.key]):.3f}, the best other is {second['label']} with {rmse(second):.3f}"
    return Claim(statement, best, listing(texts))


def _scenes(context: Context, verdict: Verdict) -> list[KnownScene]:
    """Return the scenes whose undisturbed runs are all done; in a quick run, only a few of them."""
    dataset = context.datasets["hci"]
    wanted = dataset.spread(QUICK_SCENES) if context.setup.quick else dataset.scenes
    return [scene for scene in wanted if scene.name in verdict.complete]


def _jobs(verdict: Verdict, scene: KnownScene) -> list[Job]:
    return [_job(verdict, who, scene, change) for change in CHANGES.values() for who in verdict.comparison.contenders]


def _job(verdict: Verdict, who: Contender, scene: KnownScene, change: Callable[[str], Change]) -> Job:
    alpha = verdict.choices[who.key].of_scene[scene.name]
    return verdict.comparison.job(scene, who, alpha, change(scene.name))


def _row(verdict: Verdict, who: Contender, scenes: list[KnownScene], outcomes: Outcomes) -> Row:
    records: dict[str, dict[str, Record]] = {}
    for key, change in CHANGES.items():
        done = {scene.name: outcomes[_job(verdict, who, scene, change)] for scene in scenes}
        records[key] = {name: outcome.record for name, outcome in done.items() if outcome}
    found = {key: {name: record["rmse"][-1] for name, record in runs.items()} for key, runs in records.items()}
    disturbed = [values for key, values in found.items() if key != FRAME]
    by_scene = {scene.name: mean(values[scene.name] for values in disturbed) for scene in scenes}
    undisturbed = verdict.cross_validated(who.key)
    return {
        "label": who.label,
        "rmse": mean(by_scene.values()),  # over the disturbances, like `scenes`
        "undisturbed": mean(undisturbed[scene.name] for scene in scenes),
        "by_change": {key: mean(values.values()) for key, values in found.items()},
        "alphas": verdict.choices[who.key].alphas,
        "scenes": by_scene,
        "scenes_by_change": found,
        **count(record for runs in records.values() for record in runs.values()),
    }


EXPERIMENT = Experiment(
    "Distorted lenses and inexact baselines",
    "the remark on real cameras in Multi-Scale Results",
    "hci",
    jobs=lambda context: comparison(context).jobs(),
    conclude=conclude,
    follow_up=follow_up,
)
