"""Imperfections of real cameras: lenses that distort, and positions that are known only approximately.

A change is plain data, because it is part of a job's key.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.scene import Scene

Change = dict[str, Any]


def barrel(strength: float = 0.125, frame: float = 0.125) -> Change:
    """Distort every view by the one-term division model with K1 = -strength / height^2.

    The frame is cropped to the pixels that are known at the strength `frame`; `barrel(0)` is the same frame without
    distortion.
    """
    return {"kind": "barrel", "strength": strength, "frame": frame}


def baseline_noise(deviation: float, draw: str) -> Change:
    """Add Gaussian noise to both coordinates of every baseline.

    `deviation` is a multiple of the shortest baseline; `draw` is a name that seeds the random numbers.
    """
    return {"kind": "baselines", "deviation": deviation, "seed": zlib.crc32(draw.encode())}


def changed(scene: Scene, change: Change) -> Scene:
    """Return the scene as such a camera records it, or as such a calibration describes it."""
    if change["kind"] == "barrel":
        return _distorted(scene, change["strength"], change["frame"])
    noise = np.random.default_rng(change["seed"]).normal(0, change["deviation"] * scene.unit, scene.baselines.shape)
    return _like(scene, scene.reference, scene.targets, scene.baselines + noise, scene.ground_truth)


def _distorted(scene: Scene, strength: float, frame: float) -> Scene:
    """Resample the views and the ground truth.

    A point at distance r from the centre of the distorted image was at r / (1 + K1 r^2) in the undistorted one.  The
    baselines stay the same, because the estimator does not know about the lens.
    """
    from scipy.ndimage import map_coordinates

    height, width = scene.shape
    K1, K1_frame = -strength / height**2, -frame / height**2
    centre = np.array([(height - 1) / 2, (width - 1) / 2])
    keep = next(share for share in np.arange(1.0, 0.5, -0.005) if _reach(share * centre, K1_frame) <= 1 / share)
    half = np.floor(keep * centre)  # whole pixels around the centre
    y, x = np.mgrid[-half[0] : half[0] + 1, -half[1] : half[1] + 1]
    stretch = 1 / (1 + K1 * (x**2 + y**2))
    where = np.stack([centre[0] + y * stretch, centre[1] + x * stretch])
    reference, *targets = (
        map_coordinates(image.astype(np.float64), where, order=3, mode="nearest").clip(0, 1).astype(np.float32)
        for image in (scene.reference, *scene.targets)
    )
    truth = None  # take the nearest pixel: a mean across an edge would be the disparity of neither side
    if scene.ground_truth is not None:
        truth = map_coordinates(scene.ground_truth, where, order=0, mode="nearest")
    return _like(scene, reference, targets, scene.baselines, truth)


def _reach(corner: NDArray[np.float64], K1: float) -> float:
    """Return how much farther from the centre a corner of the frame was before the distortion."""
    return float(1 / (1 + K1 * (corner**2).sum()))


def _like(scene: Scene, reference: Any, targets: Any, baselines: Any, truth: Any) -> Scene:
    return Scene(
        reference,
        targets,
        baselines,
        ground_truth=truth,
        name=scene.name,
        reference_name=scene.reference_name,
        target_names=scene.target_names,
        metadata=scene.metadata,
    )
