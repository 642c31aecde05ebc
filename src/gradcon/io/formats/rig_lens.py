"""The lenses of a rig.toml: their distortion, and the camera of the undistorted view.

    lens = "brown"                           # or "fisheye"; optional
    distortion = [-0.2, 0.05, 0.001, 0]      # in OpenCV's order: k1, k2, p1, p2[, k3[, k4, k5, k6]] of a "brown" lens,
                                             # k1, k2, k3, k4 of a "fisheye"
    undistorted_K = [[700, 0, 320], ...]     # optional: K of the undistorted view, which otherwise keeps K

All three may stand above the views, for those without one of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gradcon.errors import InputError
from gradcon.io.fields import hint
from gradcon.io.formats.rig_fields import needed, numbers, text_of
from gradcon.io.listing import View
from gradcon.lens import Distortion, Undistortion
from gradcon.scene.geometry import Camera

LENS_FIELDS = ("lens", "distortion", "undistorted_K")
COUNTS = {"brown": (4, 5, 8), "fisheye": (4,)}  # of parameters, in OpenCV's order


def lens_of(block: dict[str, Any], table: dict[str, Any], where: str) -> Undistortion | None:
    """Return how a view is undistorted; None if it has no distortion."""
    fields = {**table, **block}
    if "distortion" not in fields:
        for field in ("lens", "undistorted_K"):
            if field in fields:
                raise InputError(where, f"has a {field} but no distortion", f"add 'distortion', or remove {field!r}")
        return None
    model = text_of(fields.get("lens", "brown"), "lens", where)
    if model not in COUNTS:
        raise InputError(where, f"the field 'lens' names an unknown model {model!r:.60}", hint(model, COUNTS))
    values, counts = fields["distortion"], COUNTS[model]
    if not isinstance(values, list) or len(values) not in counts:
        found = f"{len(values)} numbers" if isinstance(values, list) else f"{values!r:.60}"
        wanted = " or ".join(map(str, counts))
        problem = f"the field 'distortion' of a {model} lens must be {wanted} numbers, not {found}"
        raise InputError(where, problem, "give them in OpenCV's order")
    parameters = numbers(values, (len(values),), "distortion", where)
    K = numbers(needed(fields, "K", where), (3, 3), "K", where)
    new_K = numbers(fields["undistorted_K"], (3, 3), "undistorted_K", where) if "undistorted_K" in fields else K
    for matrix, field in ((K, "K"), (new_K, "undistorted_K")):
        Camera.of(matrix, np.eye(3), np.zeros(3), f"{where}, {field}" if field != "K" else where)
    return Undistortion(K, Distortion.of(model, parameters.tolist(), where), new_K, where)


def refuse_unlike(views: Sequence[View], path: Path) -> None:
    """Refuse views with baselines whose undistorted cameras differ: baselines are for cameras that are alike."""
    lenses = [view.undistortion for view in views if view.undistortion is not None]
    if not lenses or isinstance(views[0].stands, Camera):
        return
    alike = all(np.array_equal(lens.new_K, lenses[0].new_K) for lens in lenses)
    if not alike or len(lenses) < len(views):
        problem = "its views have baselines, but their undistorted cameras differ"
        raise InputError(
            path, problem, "give all views a distortion (zeros for none) and one 'undistorted_K' above them"
        )
