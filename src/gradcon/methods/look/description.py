"""A look at a scene before it is estimated: its format, its views, its units and the range of its disparities."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradcon.io import Frames
from gradcon.io.listing import baselines_of, load
from gradcon.methods.options import Options
from gradcon.scene import Scene, geometry
from gradcon.scene.shrink import shrunk
from gradcon.scene.units import DISPARITY_SIGN, DISPARITY_UNIT

CAMERAS = "calibrated cameras"  # a layout
QUICK_VIEWS = 5  # a quick estimate uses the nearest views
QUICK_SOLVES, QUICK_SCALES = 12, 5
QUICK_ESTIMATE = "a quick estimate on a small copy"  # where a range comes from
AGREE = 0.8  # the share of the difference between the reference and the views that a quick estimate may leave
SCALES_BY_DEFAULT, MOST_SCALES = 3, 6


def describe_scene(frames: Frames) -> dict[str, Any]:
    """Return everything that `gradcon info` reports, in plain types."""
    listing = frames.listing
    others = [view for view in listing.views if view is not listing.reference]
    scene = load(listing, min(QUICK_VIEWS, 1 + len(others)))
    baselines = baselines_of(others, listing.reference, scene.shape)
    if isinstance(listing.reference.stands, geometry.Camera):
        baselines = baselines / geometry.shortest(list(baselines))  # in the scene's unit
    lengths = np.hypot(*baselines.T)  # NaN for a camera that looks elsewhere
    seen = int(np.isfinite(lengths).sum())
    # Of equally near views, the one to the right comes first, as the second eye of a pair.
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
    found["gcm_options"] = _gcm_options(found)
    return found


def _layout(stands: Any, baselines: geometry.Floats) -> str:
    """Describe how the cameras are arranged."""
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
    """Find the range in the ground truth, in what the source states, or else by a quick estimate on a small copy."""
    if (truth := scene.known_truth) is not None:
        return _range("the ground truth", np.nanmin(truth), np.nanmax(truth))
    if "disparity_range" in scene.metadata:
        return _range("the points that the reference sees", *scene.metadata["disparity_range"])
    if {"disp_min", "disp_max"} <= scene.metadata.keys():
        return _range("parameters.cfg", scene.metadata["disp_min"], scene.metadata["disp_max"])
    return _quick_estimate(scene)


def _range(source: str, low: Any, high: Any) -> dict[str, Any]:
    return {"low": float(low), "high": float(high), "from": source}


def _quick_estimate(scene: Scene) -> dict[str, Any]:
    """Find the range by a few solves on a small copy; it stays unknown unless they make the views agree."""
    from gradcon.methods.loop import minimise

    small = shrunk(scene)
    quick = minimise(small, Options("gcm", solves=QUICK_SOLVES, scales=QUICK_SCALES), engine="reference")
    before, after = (
        float(np.abs(quick.engine.warped_images(w, quick.stages[-1]) - small.reference).mean())
        for w in (np.zeros(small.shape), quick.w)
    )
    if not after < AGREE * before:
        return {"low": None, "high": None, "from": f"{QUICK_ESTIMATE}, which did not make the views agree"}
    return _range(QUICK_ESTIMATE, *np.percentile(quick.disparity(), (2, 98)))


def _gcm_options(found: dict[str, Any]) -> list[str]:
    """Return the options that gcm needs for disparities of this range; the default method finds the range itself."""
    step, low, high = found["nearest"]["baseline"], found["disparity_range"]["low"], found["disparity_range"]["high"]
    if low is None:
        return []
    reach, options = max(abs(low), abs(high)), list[str]()
    scales, span = _scales(step * reach), (high - low) / 2
    # If all disparities are far from 0, a start in their middle saves scales.  Measurements showed no gain otherwise.
    if (scales > SCALES_BY_DEFAULT and span < reach / 4) or (scales > MOST_SCALES and span < reach / 2):
        scales, options = _scales(step * span), ["--initial", f"{(low + high) / 2:.3g}"]
    return options + (["--scales", str(scales)] if scales > SCALES_BY_DEFAULT else [])


def _scales(movement: float) -> int:
    """Return how many scales it takes to see a movement of that many pixels in the nearest view."""
    return 1 + math.ceil(math.log2(max(movement, 1.0)))
