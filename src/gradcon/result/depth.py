"""Depth out of a result: what it takes, and as whole millimetres, which every program can read."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.errors import InputError
from gradcon.scene import Scene
from gradcon.scene.calibration import MILLIMETRES, Calibration

Depth = NDArray[np.float32]

LACKS = {  # what depth takes, by the format of the scene
    "hci": "the benchmark's parameters.cfg; put it beside the images",
    "middlebury": "the dmin.txt that came with the images, and a size factor where they are not of a published size; "
    "put the file beside them, or give --size-factor",
    "hdf5": "the attributes dH, focalLength and shift; add them to the file",
    "npy": "focal_length_mm, sensor_size_mm, baseline_mm and focus_distance_m; save an .npz of them and `views`",
    "npz": "focal_length_mm, sensor_size_mm, baseline_mm and focus_distance_m; add these arrays to the file",
    "zarr": "focal_length_mm, sensor_size_mm, baseline_mm and focus_distance_m; add these attributes to the store",
    "rig": "camera matrices; give each view of the rig.toml K, R and t instead of a baseline",
}
LACKS_OTHERWISE = "calibrated cameras; write a rig.toml with K, R and t of each view, or give Scene a calibration"
FARTHEST_MM = 65535  # the largest number of 16 bits
COARSE_MM = 100  # nearer than this, a millimetre is more than 1 % of the depth


def calibration_of(scene: Scene) -> Calibration:
    """How the scene's disparities become depths; where it is not known, the error says what the scene lacks."""
    if scene.calibration is None:
        lacks = LACKS.get(scene.metadata.get("format", ""), LACKS_OTHERWISE)
        raise InputError(f"{scene.name}: its disparities cannot be turned into depths, which takes {lacks}.")
    return scene.calibration


def to_millimetres(depth: Depth, unit: str) -> NDArray[np.float64] | None:
    """Whole millimetres from 1 to 65535; NaN where the depth is unknown, or too near or far for that.

    None where the unit of the depth is not known.
    """
    if not unit:
        return None
    whole = np.rint(depth.astype(np.float64) * MILLIMETRES[unit])
    return np.where((whole >= 1) & (whole <= FARTHEST_MM), whole, np.nan)


def depth_summary(depth: Depth, unit: str) -> dict[str, Any]:
    """Range and median of the depth, and how many pixels have none: what result.json says about it."""
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
    """What people should know about the depths that `depth_summary` describes; mostly nothing."""
    unit, outside = fields["unit"], fields.get("outside_png_pixels", 0)
    remarks = [f"{fields['unknown_pixels']} pixels are beyond infinity"] if fields["unknown_pixels"] else []
    if outside:
        remarks.append(f"{outside} pixels are nearer than 0.5 mm or farther than 65.5 m, and so not in depth.png")
    if unit and fields["median"] * MILLIMETRES[unit] < COARSE_MM:
        remarks.append("whole millimetres, as in depth.png, are coarse for it; use depth.pfm")
    return remarks
