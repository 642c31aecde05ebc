"""The job of one scene: open, estimate, and send back the files of the result as bytes."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from gradcon import estimate
from gradcon.batch.inputs import Files, Watch, scene_files, scene_sha256
from gradcon.batch.scenes import SceneFolder
from gradcon.errors import InputError
from gradcon.io import open_frames
from gradcon.io.format import Hints
from gradcon.jobs import Job, Outcome
from gradcon.jobs.job import sha256_of, sha256_of_files
from gradcon.methods.options import Options
from gradcon.pictures.thumbnail import FILE, thumbnail
from gradcon.result import Result
from gradcon.result.folder import result_files
from gradcon.scene import Scene

# What the files of a result depend on besides the model.
SOURCES = (
    "estimate.py", "result.py", "calibration.py", "depth.py", "points.py", "view_sheet.py", "weights.py", "io/*.py",
    "batch/work.py", "batch/thumbnail.py",
)  # fmt: skip


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
    """In a worker: what `gradcon estimate` does, but for the writing."""
    told = {**hints, "grid": tuple(hints["grid"]) if hints["grid"] else None}
    frames = open_frames(path, views=views, **told)
    if frames.is_video:
        raise InputError(f"{path}: is a video; use gradcon estimate, which starts every frame from the one before.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they are in result.json
        scene = frames[0].flipped(x="x" in flip, y="y" in flip) if flip else frames[0]
        result = estimate(scene, Options(**options), initial=initial, engine=engine, keep_weights=keep_weights)
    files = {f"{folder}/{FILE}": thumbnail(result.scene.colour, result.disparity)}
    files |= {f"{folder}/{name}": content for name, content in result_files(result, points=points)}
    return Outcome(_record(result, folder), files=files)


def refuse_scene(why: str) -> Outcome:
    """The job of a scene whose files cannot be read."""
    raise InputError(why)


def inputs_sha256(path: Path, files: Files) -> str:
    """Of all that goes into a scene's result but the parameters: its files, and the code that reads and writes."""
    return sha256_of([scene_sha256(path, files), sha256_of_files(*SOURCES)])


def scene_jobs(entries: list[SceneFolder], parameters: dict[str, Any], output: Path) -> Iterator[Job]:
    """A job a scene; each scene's files are hashed when its job is asked for."""
    hints = Hints(**parameters["hints"])
    for entry in entries:
        where = {"path": str(entry.path)}
        own = {**parameters, "folder": entry.folder}
        try:
            files = scene_files(entry.path, hints, output)
            watch = Watch(entry.path, files, output)
            inputs = inputs_sha256(entry.path, files)
        except InputError as error:
            yield Job(refuse_scene, {"why": str(error)}, "", entry.folder)
        else:
            yield Job(estimate_scene, own, inputs, entry.folder, where=where, changed=watch.changed)


def compile_everything(method: str) -> None:
    """Run all that is compiled for an estimate once, on next to nothing."""
    pixels = np.random.default_rng(0).random((3, 16, 16), dtype=np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimate(Scene(pixels[0], pixels[1:], [(1, 0), (0, 1)]), Options(method=method, solves=2), engine="cpu")


def work_parameters(options: Options, hints: Hints, **others: Any) -> dict[str, Any]:
    """What a scene's result depends on besides the scene, in plain types."""
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
        "stopped": str(result.stopped),
        "seconds": round(result.seconds["total"], 3),
        "engine": result.engine,
        "rmse": metrics.get("rmse"),
        "badpix": metrics.get("badpix_007"),
        "warnings": list(result.warnings),
    }
