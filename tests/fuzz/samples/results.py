"""What gradcon itself writes and reads again: results, weights, lists of videos and batches, finished jobs."""

from __future__ import annotations

import hashlib
import io
import json
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.sample import Sample, files_in, in_memory, written
from fuzz.samples.images import pixels
from gradcon import Options, Scene, estimate, estimate_views, open_scene, synth
from gradcon.batch.folder import BATCH_FORMAT
from gradcon.jobs import Job, Store
from gradcon.jobs.job import Outcome

SIDE = 16


@cache
def _result() -> dict[str, bytes]:
    views = np.kron(pixels((1, 3, SIDE // 4, SIDE // 4)), np.ones((1, 1, 4, 4), np.uint8))
    scene = Scene.from_lightfield(views, ground_truth=np.ones((SIDE, SIDE)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # such a small scene is doubtful, and the result says so
        result = estimate(scene, Options("gcm", solves=2), engine="reference", keep_weights=True)
    files = written(lambda folder: result.save(folder / "result"))
    summary = json.loads(files["result/result.json"])
    _fix_times(summary)
    return files | {"result/result.json": json.dumps(summary).encode()}


def _fix_times(value: Any) -> None:
    """Set all times to one second, so that a case is the same in every run."""
    for name, part in list(value.items()) if isinstance(value, dict) else enumerate(value):
        if isinstance(part, (dict, list)):
            _fix_times(part)
        elif isinstance(value, dict) and isinstance(part, float) and ("seconds" in name or "time" in name):
            value[name] = 1.0


def result() -> list[Sample]:
    files = _result()
    maps = ("result/result.json", "result/disparity.pfm", "result/uncertainty.pfm", "result/truth.pfm")
    return [
        Sample(files, "report", "result", ("result/result.json",)),
        Sample(files, "result maps", "result", ("result/result.json",)),
        Sample(files, "report", "result", (*maps, "result/views.jpg")),
        Sample({name: files[name] for name in maps}, "page", "result", ("result/result.json",)),
    ]


@cache
def _every_view() -> dict[str, bytes]:
    scene = synth.render("planes", (SIDE, SIDE), views=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        every = estimate_views(scene, Options("gcm", solves=1), engine="reference")
    files = written(lambda folder: every.save(folder / "views"))
    for name in [name for name in files if name.endswith("result.json")]:
        summary = json.loads(files[name])
        _fix_times(summary)
        before, files[name] = files[name], json.dumps(summary).encode()
        old, new = (hashlib.sha256(content).hexdigest().encode() for content in (before, files[name]))
        files["views/views.json"] = files["views/views.json"].replace(old, new)
    listed = json.loads(files["views/views.json"])
    _fix_times(listed)
    listed["seconds"] = dict.fromkeys(listed["seconds"], 1.0)
    return files | {"views/views.json": json.dumps(listed).encode()}


def every_view() -> list[Sample]:
    files = _every_view()
    folder = json.loads(files["views/views.json"])["views"][1]["folder"]
    counts, result = (f"views/{folder}/{name}" for name in ("agreement.npz", "result.json"))
    first = "views/" + json.loads(files["views/views.json"])["views"][0]["folder"]
    return [
        Sample(files, "views", "views", ("views/views.json",)),
        Sample({**files, result: _without_hashes(files[result])}, "agreement", counts, (counts,), "zip"),
        Sample({**files, result: _without_hashes(files[result])}, "agreement", counts, (counts,)),
        Sample(files, "fused", first, (f"{first}/result.json",)),
    ]


def _without_hashes(summary: bytes) -> bytes:
    return json.dumps({**json.loads(summary), "files": {}}).encode()


def judged() -> list[Sample]:
    """Return a result beside its scene, whose views it says it was made from."""

    def write(folder: Path) -> None:
        synth.write("planes", folder / "scene", (SIDE, SIDE), views=3)
        scene = open_scene(folder / "scene", views=2)
        estimate(scene, Options("gcm", solves=1), engine="reference").save(folder / "result")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        files = written(write)
    summary = json.loads(files["result/result.json"])
    _fix_times(summary)
    files["result/result.json"] = json.dumps(summary).encode()
    return [Sample(files, "judged", "result", ("result/result.json",))]


def weights() -> list[Sample]:
    files = _result()
    small = {name: files[name] for name in ("result/result.json", "result/disparity.pfm")}
    with np.load(io.BytesIO(files["result/weights.npz"])) as archive:
        arrays = {name: archive[name] for name in archive.files}
    stored = in_memory(lambda file: np.savez(file, **arrays))
    packed = files["result/weights.npz"]
    return [
        Sample({**small, "result/weights.npz": content}, "report", "result", ("result/weights.npz",), repair)
        for content in (stored, packed)
        for repair in ("zip", "")
    ]


def video_list() -> list[Sample]:
    source = {"name": "v", "reference": "a.png", "targets": ["b.png"]}
    frame = {"frame": 0, "folder": "frame_0000", "solves": 2, "seconds": 0.5, "rmse": None, "content": None}
    rows = [frame, {**frame, "frame": 1, "folder": "frame_0001"}]
    story = {"format": "gradcon-video-1", "source": source, "parameters": {"alpha": 0.5}, "frames": rows}
    files = {"out/video.json": json.dumps(story).encode(), "out/frame_0000/result.json": b"{}"}
    return [Sample(files, "video list", "out", ("out/video.json",))]


def batch_list() -> list[Sample]:
    kept = {
        "format": BATCH_FORMAT,
        "parameters": {"views": "all", "engine": "cpu", "options": {"alpha": 0.5}, "hints": {"grid": None}},
        "scenes": {"one": "/tmp/one", "two": "/tmp/two"},
        "failures": {"two": "is empty"},
    }
    files = {"out/batch.json": json.dumps(kept).encode(), "out/jobs/a.json": b"{}"}
    return [Sample(files, "batch list", "out", ("out/batch.json",))]


def job() -> list[Sample]:
    def write(folder: Path) -> None:
        arrays = {"disparity": np.ones((2, 3), np.float32)}
        outcome = Outcome({"folder": "one", "rmse": 0.5}, arrays, 1.5, {"numpy": "2"}, {"one/a.txt": b"text"})
        Store(folder / "jobs", root=folder).save(JOB, outcome)

    files = written(write)
    return [Sample(files, "job", "", repair=repair) for repair in ("job", "")]


JOB = Job(files_in, {"a": 1}, "0", "one")
