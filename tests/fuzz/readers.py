"""Read a sample as a user would, and check what comes out."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from fuzz.texts import steers_terminal
from gradcon import Scene, open_frames, open_scene, read_maps, read_views
from gradcon.batch.folder import BatchFolder
from gradcon.cli import judgements, videos
from gradcon.files import to_json
from gradcon.fusion import folder
from gradcon.fusion.merging import fuse_maps
from gradcon.io import pfm
from gradcon.jobs import Store
from gradcon.report.folder import ResultPage, read_folder
from gradcon.report.page import render
from gradcon.result.agreement import read_agreement

MOST_FRAMES = 3  # of a video are read


class StrangeError(Exception):
    """Something was read that should have been refused."""


def scene(path: Path) -> None:
    _check_scene(open_scene(path))


def refused(path: Path) -> None:
    """Read what must not be a scene."""
    open_scene(path)
    raise StrangeError("it was read")


def third_size(path: Path) -> None:
    """Read a Middlebury scene whose images are smaller than any that exist, with the factor that this needs."""
    _check_scene(open_scene(path, size_factor=3))


def frames(path: Path) -> None:
    found = open_frames(path)
    for k in range(min(len(found), MOST_FRAMES)):
        _check_scene(found[k])


def maps(path: Path) -> None:
    for map_ in read_maps(path):
        if map_.values.dtype != np.float32 or map_.values.ndim != 2 or map_.values.size == 0:
            raise StrangeError(f"a map of {map_.values.dtype} {map_.values.shape}")
        json.loads(map_.description())


def report(path: Path) -> ResultPage:
    found = read_folder(path)
    for text in found.notes:
        _check_text(text)
    return found


def page(path: Path) -> None:
    html = render([report(path)])
    data = html.partition('<script type="application/json"')[2].partition(">")[2].partition("</script>")[0]
    json.loads(data, parse_constant=_refuse_constant)


def _refuse_constant(name: str) -> None:
    raise StrangeError(f"{name} in the page")


def views(path: Path) -> None:
    """Do what `gradcon fuse` does with the maps of every view."""
    for view in read_views(path).views.values():
        for part in (view.disparity, view.uncertainty, view.place.M, view.place.m):
            if not np.isfinite(part).all():
                raise StrangeError(f"a part of {view.folder.name} is not finite")
    fused(path)


def fused(path: Path) -> None:
    cloud = fuse_maps(folder.read_maps(folder.stored_results([path])))
    if not np.isfinite(cloud.positions).all():
        raise StrangeError("a point is not finite")


def agreement(path: Path) -> None:
    read_agreement(path, pfm.read_pfm(path.with_name("disparity.pfm")).shape).summary()


def judged(path: Path) -> None:
    """Do what `gradcon evaluate --leave-out` does."""
    with redirect_stderr(StringIO()) as said:  # a map of another view is used, with a warning
        _, found = judgements.judged(path, path.parent / "scene", {})
    for line in said.getvalue().splitlines():
        _check_text(line)
        if not line.startswith(f"WARNING: {path}: "):
            raise StrangeError(f"prints {line!r:.200}")
    json.loads(to_json(found.summary()))


def job(path: Path) -> None:
    from fuzz.samples.results import JOB

    store = Store(path / "jobs", root=path)
    store.load(JOB)
    for text in store.damaged:
        _check_text(text)
    BatchFolder(path, {}).finished()


def batch_list(path: Path) -> None:
    """Do what `gradcon batch` does with a folder before it writes into it."""
    folder = BatchFolder(path, {"views": "all", "engine": "cpu", "options": {"alpha": 0.5}, "hints": {"grid": None}})
    folder.refuse_other()
    for entry in folder.refuse_foreign_results([Path("/tmp/one"), Path("/tmp/three")]):
        if (path / entry.folder).resolve().parent != path.resolve():
            raise StrangeError(f"the scene's folder {entry.folder!r} is outside the batch's")
    to_json(folder.failures())


def video_list(path: Path) -> None:
    """Do what `gradcon estimate` does with the list of an earlier run."""
    source = {"name": "v", "reference": "a.png", "targets": ["b.png"]}
    (path / "frame_0000").mkdir(exist_ok=True)
    (path / "frame_0000" / "result.json").touch()  # an earlier case may have led to its removal
    footage: Any = SimpleNamespace(fingerprint=lambda frame, views: None)
    kept = videos._earlier(path, {"source": source, "parameters": {"alpha": 0.5}}, footage)
    json.loads(to_json({"frames": sorted(kept, key=lambda row: row["frame"])}))


def _check_scene(found: Scene) -> None:
    """Demand that everything an estimate uses is finite, and that everything it writes can be written."""
    parts: dict[str, Any] = {
        "reference": found.reference,
        "targets": found.targets,
        "M": found.M,
        "m": found.m,
        "baselines": found.baselines,
        "white": found.white,
        "colour_scale": found.colour_scale,
        "unit": found.unit,
    }
    if found.calibration is not None:
        parts |= {"product": found.calibration.product, "offset": found.calibration.offset, "K": found.calibration.K}
    for name, values in parts.items():
        if not np.isfinite(values).all():
            raise StrangeError(f"{name} of the scene is not finite")
    if found.ground_truth is not None and np.isinf(found.ground_truth).any():
        raise StrangeError("ground_truth of the scene is infinite")
    if found.unit <= 0:
        raise StrangeError("the unit of the baselines is not positive")
    to_json(found.metadata).encode()
    for text in (found.name, found.reference_name, *found.target_names):
        text.encode()
    for text in found.doubts:
        _check_text(text)


def _check_text(text: str) -> None:
    if steers_terminal(text):
        raise StrangeError(f"a sentence with control characters: {text!r:.200}")


READERS: Mapping[str, Callable[[Path], Any]] = {
    "scene": scene,
    "refused": refused,
    "third size": third_size,
    "frames": frames,
    "map": maps,
    "result maps": maps,
    "report": report,
    "page": page,
    "views": views,
    "fused": fused,
    "agreement": agreement,
    "judged": judged,
    "job": job,
    "batch list": batch_list,
    "video list": video_list,
}
