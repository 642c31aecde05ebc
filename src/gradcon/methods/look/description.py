"""What `gradcon info` says about a scene: its format, its views, its units, and what a look at the views finds."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcon.io import Frames
from gradcon.io.listing import baselines_of
from gradcon.methods.look.look import look_at
from gradcon.result.findings import Findings
from gradcon.scene import Scene, geometry
from gradcon.scene.units import DISPARITY_SIGN, DISPARITY_UNIT

CAMERAS = "calibrated cameras"  # a layout
FROM_VIEWS = "the views"  # where a range comes from


def describe_scene(frames: Frames) -> dict[str, Any]:
    """Return everything that `gradcon info` reports, in plain types."""
    listing = frames.listing
    others = [view for view in listing.views if view is not listing.reference]
    scene = frames[0]
    findings = look_at(scene).findings
    baselines = baselines_of(others, listing.reference, scene.shape)
    if isinstance(listing.reference.stands, geometry.Camera):
        baselines = baselines / geometry.shortest(list(baselines))  # in the scene's unit
    lengths = np.hypot(*baselines.T)  # NaN for a camera that looks elsewhere
    seen = int(np.isfinite(lengths).sum())
    # Of equally near views, the one to the right comes first, as the second eye of a pair.
    order = np.lexsort((baselines[:, 0], np.abs(baselines[:, 1]), np.round(lengths / np.nanmax(lengths), 6)))
    calibration = scene.calibration
    return {
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
        "disparity_range": _disparity_range(scene, findings),
        "findings": findings.fields(),
        "lines": [list(line) for line in findings.lines()],
        "doubts": findings.doubts,
        "ground_truth": scene.ground_truth is not None,
        "metadata": scene.metadata,
    }


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


def _disparity_range(scene: Scene, findings: Findings) -> dict[str, Any]:
    """Take the range from the ground truth, from what the source states, or else from the look."""
    if (truth := scene.known_truth) is not None:
        return _range("the ground truth", np.nanmin(truth), np.nanmax(truth))
    if "disparity_range" in scene.metadata:
        return _range("the points that the reference sees", *scene.metadata["disparity_range"])
    if {"disp_min", "disp_max"} <= scene.metadata.keys():
        return _range("parameters.cfg", scene.metadata["disp_min"], scene.metadata["disp_max"])
    return _range(FROM_VIEWS, *findings.disparity_range)


def _range(source: str, low: Any, high: Any) -> dict[str, Any]:
    return {"low": float(low), "high": float(high), "from": source}
