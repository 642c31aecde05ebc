"""The table that `gradcon info` prints."""

from __future__ import annotations

import shlex
from typing import Any

from gradcon.errors import printable
from gradcon.methods.look.description import CAMERAS, FROM_VIEWS


def info_table(found: dict[str, Any], command: list[str]) -> str:
    """Format what `describe_scene` found; `command` is the command that estimates the scene."""
    near, far, span, calibration = (found[key] for key in ("nearest", "farthest", "disparity_range", "calibration"))
    rows = [
        ("recognised", found["recognised"]),
        ("views", f"{found['views']} of {found['width']} x {found['height']} pixels: {found['layout']}"),
        ("reference", f"{found['reference']}, whose disparity will be estimated"),
        ("baselines", f"{near['baseline']:.4g} ({near['view']}) to {far['baseline']:.4g} ({far['view']})"),
        ("disparity", _span(span)),
        ("unit", f"{found['unit']}; {found['sign']}"),
        ("meaning", _meaning(found)),
        ("depth", _depth(calibration)),
        ("truth", "ground truth is available" if found["ground_truth"] else "no ground truth"),
        *(tuple(line) for line in found["lines"][1:]),
        ("estimate", shlex.join(command)),
    ]
    if "columns" in found["metadata"]:
        rows.insert(2, ("columns", found["metadata"]["columns"]))
    if "slide" in found["metadata"]:
        rows.insert(2, ("slide", found["metadata"]["slide"]))
    if "undistorted" in found["metadata"]:
        rows.insert(2, ("lens", _lens(found["metadata"]["undistorted"])))
    if found["frames"] is not None:
        rows.insert(2, ("frames", f"{found['frames']} (a light-field video)"))
    return "\n".join(f"{name:11} {printable(text)}" for name, text in rows)


def _lens(undistorted: dict[str, Any]) -> str:
    """Say that views were undistorted, and how much of them no camera saw."""
    models, unseen = ", ".join(undistorted["models"]), undistorted["unseen"]
    shown = f"{100 * unseen:.1f} % of all pixels were not seen, and do not count" if unseen else "every pixel was seen"
    return f"{undistorted['views']} views were undistorted as they were read (model {models}); {shown}"


def _span(span: dict[str, Any]) -> str:
    about = "about " if span["from"] == FROM_VIEWS else ""
    return f"{about}{span['low']:.3g} to {span['high']:.3g} (from {span['from']})"


def _meaning(found: dict[str, Any]) -> str:
    """Say where the nearest view sees a pixel of the reference."""
    near = found["nearest"]["view"]
    x, y = next((entry["x"], entry["y"]) for entry in found["baselines"] if entry["view"] == near)
    about = "about " if found["layout"] == CAMERAS else ""
    place = ", ".join(_moved(axis, step) for axis, step in (("x", x), ("y", y)))
    rotated = ", apart from the camera's rotation" if about else ""
    return f"the pixel (x, y) of {found['reference']} with disparity w is seen in {near} at {about}({place}){rotated}"


def _moved(axis: str, step: float) -> str:
    if abs(step) < 1e-6:
        return axis
    times = "" if abs(abs(step) - 1) < 1e-6 else f"{abs(step):.3g} "
    return f"{axis} {'+' if step > 0 else '-'} {times}w"


def _depth(calibration: dict[str, Any] | None) -> str:
    if calibration is None:
        return "unknown: the cameras are not calibrated"
    product, offset, unit = (calibration[key] for key in ("product", "offset", "unit"))
    below = f"(disparity {'+' if offset > 0 else '-'} {abs(offset):.6g})" if offset else "disparity"
    return f"{product:.6g} / {below} {unit or '(scale unknown)'}; focal length {calibration['K'][0][0]:.6g} pixels"
