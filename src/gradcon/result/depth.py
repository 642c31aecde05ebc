"""The depth of a result: what a scene needs for it, its summary, and whole millimetres, which every program reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.errors import InputError
from gradcon.scene import Scene
from gradcon.scene.calibration import MILLIMETRES, Calibration

Depth = NDArray[np.float32]

ARRAY_FIELDS = "focal_length_mm, sensor_size_mm, baseline_mm and focus_distance_m"
NEEDS = {  # what depth needs and what to do, by the format of the scene
    "hci": ("the benchmark's parameters.cfg", "put it next to the images"),
    "middlebury": (
        "the dmin.txt that came with the images, and a size factor if their size is not a published one",
        "put the file next to them, or give --size-factor",
    ),
    "hdf5": ("the attributes dH, focalLength and shift", "add them to the file"),
    "npy": (ARRAY_FIELDS, "save them and `views` as an .npz"),
    "npz": (ARRAY_FIELDS, "add these arrays to the file"),
    "zarr": (ARRAY_FIELDS, "add these attributes to the store"),
    "rig": ("camera matrices", "give each view of the rig.toml K, R and t instead of a baseline"),
}
NEEDS_OTHERWISE = (
    "calibrated cameras",
    "write a rig.toml with K, R and t of each view, or give Scene a calibration",
)
FARTHEST_MM = 65535  # the largest 16-bit number
COARSE_MM = 100  # below this depth, a millimetre is more than 1 %


def calibration_of(scene: Scene) -> Calibration:
    """Return the calibration of a scene; if it has none, the error says what is missing."""
    if scene.calibration is None:
        raise no_depth(scene.name, scene.metadata.get("format", ""))
    return scene.calibration


def no_depth(where: str | Path, format_: str) -> InputError:
    """Return the error for a scene of this format that has no calibration."""
    needs, remedy = NEEDS.get(format_, NEEDS_OTHERWISE)
    return InputError(where, f"its disparities cannot be turned into depths, which needs {needs}", remedy)


def to_millimetres(depth: Depth, unit: str) -> NDArray[np.float64] | None:
    """Round depths to whole millimetres from 1 to 65535; NaN where the depth is unknown or outside that range.

    Return None if the unit of the depth is unknown.
    """
    if not unit:
        return None
    whole = np.rint(depth.astype(np.float64) * MILLIMETRES[unit])
    return np.where((whole >= 1) & (whole <= FARTHEST_MM), whole, np.nan)


def depth_summary(depth: Depth, unit: str) -> dict[str, Any]:
    """Return the range and the median of the depth, and how many pixels have none, as in result.json."""
    known = depth[np.isfinite(depth)]
    low, middle, high = (known.min(), np.median(known), known.max()) if known.size else 3 * (np.nan,)
    fields = {
        "unit": unit,
        "min": float(low),
        "max": float(high),
        "median": float(middle),
        "unknown_pixels": int(depth.size - known.size),
    }
    millimetres = to_millimetres(depth, unit)
    if millimetres is not None:
        fields["outside_png_pixels"] = int(known.size - np.count_nonzero(np.isfinite(millimetres)))
    return fields


def depth_remarks(fields: dict[str, Any]) -> list[str]:
    """Return remarks for the user about the depths that `depth_summary` describes; usually there are none."""
    unit, outside = fields["unit"], fields.get("outside_png_pixels", 0)
    remarks = [f"{fields['unknown_pixels']} pixels are beyond infinity"] if fields["unknown_pixels"] else []
    if outside:
        remarks.append(
            f"{outside} pixels are nearer than 0.5 mm or farther than 65.5 m, and therefore missing in depth.png"
        )
    if unit and fields["median"] * MILLIMETRES[unit] < COARSE_MM:
        remarks.append("the whole millimetres of depth.png are coarse for it; use depth.pfm")
    return remarks
