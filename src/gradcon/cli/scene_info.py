"""What a path holds, before anything is estimated: how it was recognised, its views, units and disparities."""

from __future__ import annotations

import math
import shlex
from typing import Any

import numpy as np

from gradcon.io import Frames
from gradcon.io.listing import baselines_of, load
from gradcon.methods.options import Options
from gradcon.scene import Scene, geometry
from gradcon.scene.shrink import shrunk
from gradcon.scene.units import DISPARITY_SIGN, DISPARITY_UNIT

CAMERAS = "calibrated cameras"  # a layout
QUICK_VIEWS = 5  # the nearest, for a quick look at the disparities
QUICK_SOLVES, QUICK_SCALES = 12, 5
AGREE = 0.8  # share of the difference between reference and views that a quick look may leave
SCALES_BY_DEFAULT, MOST_SCALES = 3, 6


def describe_scene(frames: Frames) -> dict[str, Any]:
    """All that `gradcon info` says, in plain types."""
    listing = frames.listing
    others = [view for view in listing.views if view is not listing.reference]
    scene = load(listing, min(QUICK_VIEWS, 1 + len(others)))
    baselines = baselines_of(others, listing.reference, scene.shape)
    if isinstance(listing.reference.stands, geometry.Camera):
        baselines = baselines / geometry.shortest(list(baselines))  # the scene's unit
    lengths = np.hypot(*baselines.T)  # NaN for a camera that looks elsewhere
    seen = int(np.isfinite(lengths).sum())
    # Of views as near as each other, first the one to the right, as a second eye would be.
    order = np.lexsort((baselines[:, 0], np.abs(baselines[:, 1]), np.round(lengths / np.nanmax(lengths), 6)))
    calibration = scene.calibration
    found = {
        "recognised": listing.recognised,
        "name": scene.name,
        "reference": listing.reference.name,
        "views": 1 + len(others),
        "width": scene.shape[1],
        "height": scene.shape[0],
        "frames": listing.frames,
        "layout": _layout(listing.reference.stands, baselines),
        "baselines": [
            {"view": view.name, "x": float(x), "y": float(y)} for view, (x, y) in zip(others, baselines, strict=True)
        ],
        "nearest": {"view": others[order[0]].name, "baseline": float(np.nanmin(lengths))},
        "farthest": {"view": others[order[seen - 1]].name, "baseline": float(np.nanmax(lengths))},
        "unit": DISPARITY_UNIT,
        "sign": DISPARITY_SIGN,
        "calibration": calibration.summary() if calibration is not None else None,
        "disparity_range": _disparity_range(scene),
        "ground_truth": scene.ground_truth is not None,
        "metadata": listing.metadata,
    }
    found["options"] = _options(found)
    return found


def _layout(stands: Any, baselines: geometry.Floats) -> str:
    if isinstance(stands, geometry.Camera):
        return CAMERAS
    places = np.vstack([(0, 0), baselines])
    columns, rows = (len(np.unique(np.round(places[:, k], 6))) for k in range(2))
    count = len(places)
    if rows == 1 or columns == 1:
        return f"a {'row' if rows == 1 else 'column'} of {count}"
    grid = f"a grid of {rows} rows and {columns} columns"
    if count == rows * columns:
        return f"all of {grid}"
    is_cross = (np.abs(baselines).min(axis=1) == 0).all() and count == rows + columns - 1
    return f"{'the cross' if is_cross else 'some'} of {grid}"


def _disparity_range(scene: Scene) -> dict[str, Any]:
    """From the truth, from what the source says, or else from a quick estimate on a small copy."""
    if scene.ground_truth is not None and np.isfinite(scene.ground_truth).any():
        low, high = np.nanmin(scene.ground_truth), np.nanmax(scene.ground_truth)
        return {"low": float(low), "high": float(high), "from": "the ground truth"}
    if "disparity_range" in scene.metadata:
        low, high = scene.metadata["disparity_range"]
        return {"low": float(low), "high": float(high), "from": "the points that the reference sees"}
    if {"disp_min", "disp_max"} <= scene.metadata.keys():
        low, high = scene.metadata["disp_min"], scene.metadata["disp_max"]
        return {"low": float(low), "high": float(high), "from": "parameters.cfg"}
    return _quick_look(scene)


def _quick_look(scene: Scene) -> dict[str, Any]:
    """A range from a few solves on a small copy, if they make the views agree."""
    from gradcon.methods.loop import minimise

    small = shrunk(scene)
    quick = minimise(small, Options(solves=QUICK_SOLVES, scales=QUICK_SCALES), engine="reference")
    before, after = (
        float(np.abs(quick.engine.warped_images(w, quick.stages[-1]) - small.reference).mean())
        for w in (np.zeros(small.shape), quick.w)
    )
    if not after < AGREE * before:
        return {"low": None, "high": None, "from": "nothing: a quick look at a small copy did not make the views agree"}
    low, high = np.percentile(quick.disparity(), (2, 98))
    return {"low": float(low), "high": float(high), "from": "a quick look at a small copy, so about"}


def _options(found: dict[str, Any]) -> list[str]:
    """Options that `gradcon estimate` will want for disparities of this range."""
    step, low, high = found["nearest"]["baseline"], found["disparity_range"]["low"], found["disparity_range"]["high"]
    if low is None:
        return []
    reach, options = max(abs(low), abs(high)), list[str]()
    scales, span = _scales(step * reach), (high - low) / 2
    # All is far from 0, so that to start in the middle saves scales.  Of less help it was no better, measured.
    if (scales > SCALES_BY_DEFAULT and span < reach / 4) or (scales > MOST_SCALES and span < reach / 2):
        scales, options = _scales(step * span), ["--initial", f"{(low + high) / 2:.3g}"]
    return options + (["--scales", str(scales)] if scales > SCALES_BY_DEFAULT else [])


def _scales(movement: float) -> int:
    """How many scales see a movement of so many pixels between the reference and its nearest view."""
    return 1 + math.ceil(math.log2(max(movement, 1.0)))


def info_table(found: dict[str, Any], command: list[str]) -> str:
    """What `describe_scene` found, for people; `command` is what estimates the scene."""
    near, far, span, calibration = (found[key] for key in ("nearest", "farthest", "disparity_range", "calibration"))
    rows = [
        ("recognised", found["recognised"]),
        ("views", f"{found['views']} of {found['width']} x {found['height']} pixels: {found['layout']}"),
        ("reference", f"{found['reference']}: the disparity is of its pixels"),
        ("baselines", f"{near['baseline']:.4g} ({near['view']}) to {far['baseline']:.4g} ({far['view']})"),
        ("disparity", _span(span)),
        ("unit", f"{found['unit']}; {found['sign']}"),
        ("meaning", _meaning(found)),
        ("depth", _depth(calibration)),
        ("truth", "ground truth is there" if found["ground_truth"] else "no ground truth"),
        ("estimate", shlex.join([*command, *found["options"]])),
    ]
    if "columns" in found["metadata"]:
        rows.insert(2, ("columns", found["metadata"]["columns"]))
    if found["frames"] is not None:
        rows.insert(2, ("frames", f"{found['frames']}, of a video"))
    return "\n".join(f"{name:11} {text}" for name, text in rows)


def _span(span: dict[str, Any]) -> str:
    known = "not known" if span["low"] is None else f"{span['low']:.3g} to {span['high']:.3g}"
    return f"{known} (from {span['from']})"


def _meaning(found: dict[str, Any]) -> str:
    """Between which two images the disparity is, and in which direction."""
    near = found["nearest"]["view"]
    x, y = next((entry["x"], entry["y"]) for entry in found["baselines"] if entry["view"] == near)
    about = "about " if found["layout"] == CAMERAS else ""
    place = ", ".join(_moved(axis, step) for axis, step in (("x", x), ("y", y)))
    turned = " after turning it as the camera is" if about else ""
    return f"the pixel (x, y) of {found['reference']} with disparity w is seen in {near} at {about}({place}){turned}"


def _moved(axis: str, step: float) -> str:
    if abs(step) < 1e-6:
        return axis
    times = "" if abs(abs(step) - 1) < 1e-6 else f"{abs(step):.3g} "
    return f"{axis} {'+' if step > 0 else '-'} {times}w"


def _depth(calibration: dict[str, Any] | None) -> str:
    if calibration is None:
        return "not known: the cameras are not calibrated"
    product, offset, unit = (calibration[key] for key in ("product", "offset", "unit"))
    below = f"(disparity {'+' if offset > 0 else '-'} {abs(offset):.6g})" if offset else "disparity"
    return f"{product:.6g} / {below} {unit or '(scale not known)'}; focal length {calibration['K'][0][0]:.6g} pixels"
