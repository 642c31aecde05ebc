"""The job of one scene: open it, estimate it, and send the files of the result back as bytes."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from gradcon import estimate
from gradcon.batch.checks import check_outcome
from gradcon.batch.inputs import Watch, scene_files, scene_sha256
from gradcon.batch.scenes import SceneFolder
from gradcon.errors import InputError
from gradcon.io import open_frames
from gradcon.io.formats.format import Hints
from gradcon.jobs import Job, Outcome
from gradcon.methods.options import Options
from gradcon.pictures.thumbnail import FILE, thumbnail
from gradcon.result import Result
from gradcon.result.folder import result_files
from gradcon.scene.layout import Layout
from gradcon.scene.variants import laid_out


def estimate_scene(
    options: dict[str, Any],
    views: str,
    engine: str,
    hints: dict[str, Any],
    points: bool,
    keep_weights: bool,
    flip: str | None,
    initial: float | None,
    folder: str,
    path: str,
) -> Outcome:
    """Do in a worker what `gradcon estimate` does, except for writing the files."""
    told = {**hints, "grid": tuple(hints["grid"]) if hints["grid"] else None}
    frames = open_frames(path, views=views, **told)
    if frames.is_video:
        raise InputError(path, "is a video", "use gradcon estimate, which starts each frame from the last")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # result.json lists them
        scene = laid_out(frames[0], Layout.parse(flip)) if flip else frames[0]
        result = estimate(scene, Options(**options), initial=initial, engine=engine, keep_weights=keep_weights)
    files = {f"{folder}/{FILE}": thumbnail(result.scene.colour, result.disparity)}
    files |= {f"{folder}/{name}": content for name, content in result_files(result, points=points)}
    return Outcome(_record(result, folder), files=files)


def refuse_scene(where: str, problem: str, remedy: str) -> Outcome:
    """Fail: the job of a scene whose files cannot be read."""
    raise InputError(where, problem, remedy)


def scene_jobs(entries: list[SceneFolder], parameters: dict[str, Any], output: Path) -> Iterator[Job]:
    """Yield a job for each scene; a scene's files are hashed when its job is asked for."""
    hints = Hints(**parameters["hints"])
    for entry in entries:
        where = {"path": str(entry.path)}
        own = {**parameters, "folder": entry.folder}
        try:
            files = scene_files(entry.path, hints, output)
            watch = Watch(entry.path, files, output)
            inputs = scene_sha256(entry.path, files)
        except InputError as error:
            why = {"where": error.where, "problem": error.problem, "remedy": error.remedy}
            yield Job(refuse_scene, why, "", entry.folder)
        else:
            check = partial(check_outcome, folder=entry.folder)
            yield Job(estimate_scene, own, inputs, entry.folder, where=where, changed=watch.changed, check=check)


def work_parameters(options: Options, hints: Hints, **others: Any) -> dict[str, Any]:
    """Collect, in plain types, what a scene's result depends on besides the scene."""
    told = asdict(hints)
    return {
        "options": asdict(options),
        "hints": {**told, "grid": list(told["grid"]) if told["grid"] else None},
        **others,
    }


def _record(result: Result, folder: str) -> dict[str, Any]:
    metrics = result.metrics or {}
    return {
        "name": result.source["name"],
        "folder": folder,
        "width": result.source["width"],
        "height": result.source["height"],
        "views": result.source["views"],
        "solves": len(result.history),
        "effort": result.effort,
        "stopped": str(result.stopped),
        "seconds": round(result.seconds["total"], 3),
        "engine": result.engine,
        "rmse": metrics.get("rmse"),
        "badpix": metrics.get("badpix_007"),
        "warnings": list(result.warnings),
    }
