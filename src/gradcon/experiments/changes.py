"""Imperfections of real cameras: of their pixels, lenses and exposures, and of what is known about their positions.

A change is plain data, because it is part of a job's key.  Changes with random numbers take a name that seeds them.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from gradcon.scene import Scene

Change = dict[str, Any]
Pixels = NDArray[np.uint8]  # (height, width) or (height, width, 3)


def barrel(strength: float = 0.125, frame: float = 0.125) -> Change:
    """Distort every view by the one-term division model with K1 = -strength / height^2.

    The frame is cropped to the pixels that are known at the strength `frame`; `barrel(0)` is the same frame without
    distortion.
    """
    return {"kind": "barrel", "strength": strength, "frame": frame}


def baseline_noise(deviation: float, draw: str) -> Change:
    """Add Gaussian noise to both coordinates of every baseline; `deviation` is a multiple of the shortest one."""
    return {"kind": "baselines", "deviation": deviation, "seed": _seed(draw)}


def noise(deviation: float, draw: str) -> Change:
    """Add Gaussian noise to every channel of every pixel; white is 255."""
    return {"kind": "noise", "deviation": deviation, "seed": _seed(draw)}


def jpeg(quality: int) -> Change:
    """Compress every view as JPEG."""
    return {"kind": "jpeg", "quality": quality}


def gains(most: float, draw: str) -> Change:
    """Multiply each view, the reference too, by a factor from 1 - most to 1 + most; what exceeds white is lost."""
    return {"kind": "gains", "most": most, "seed": _seed(draw)}


def vignetting(loss: float) -> Change:
    """Darken every view with the square of the distance from its middle, by the share `loss` in the corners."""
    return {"kind": "vignetting", "loss": loss}


def shifts(most: float, draw: str) -> Change:
    """Shift each target by up to `most` pixels along x and along y."""
    return {"kind": "shifts", "most": most, "seed": _seed(draw)}


def turns(most: float, draw: str) -> Change:
    """Turn each target around its middle by up to `most` degrees."""
    return {"kind": "turns", "most": most, "seed": _seed(draw)}


def changed(scene: Scene, change: Change) -> Scene:
    """Return the scene as such a camera records it, or as such a calibration describes it."""
    if change["kind"] == "barrel":
        return _distorted(scene, change["strength"], change["frame"])
    if change["kind"] == "baselines":
        random = np.random.default_rng(change["seed"]).normal(0, change["deviation"] * scene.unit, (len(scene.M), 2))
        reference, *targets = (_image(view) for view in scene.colours)
        return _like(scene, reference, targets, scene.baselines + random, scene.ground_truth, scene.white)
    bytes_per_unit = 255 * scene.colour_scale
    reference, *targets = (
        _recorded(_bytes(_image(view) * bytes_per_unit), change, number) for number, view in enumerate(scene.colours)
    )
    return _like(scene, reference, targets, scene.baselines, scene.ground_truth)


def described(change: Change) -> str:
    """Return a change in two words, for the labels of jobs."""
    return " ".join(str(value) for value in list(change.values())[:2])


def _recorded(image: Pixels, change: Change, view: int) -> Pixels:
    """Return what the camera of a view records instead of an image; the reference is view 0."""
    random = np.random.default_rng([change.get("seed", 0), view])
    match change["kind"]:
        case "noise":
            return _bytes(image + random.normal(0, change["deviation"], image.shape))
        case "jpeg":
            return _compressed(image, change["quality"])
        case "gains":
            return _bytes(image * random.uniform(1 - change["most"], 1 + change["most"]))
        case "vignetting":
            y, x = (np.linspace(-1, 1, n) for n in image.shape[:2])
            shade = 1 - change["loss"] * (y[:, None] ** 2 + x**2) / 2
            return _bytes((image.T * shade.T).T)
    if view == 0:  # the ground truth belongs to the reference, so it stays in its place
        return image
    angle, *shift = random.uniform(-change["most"], change["most"], 3)
    return _moved(image, np.deg2rad(angle), [0, 0]) if change["kind"] == "turns" else _moved(image, 0, shift)


def _compressed(image: Pixels, quality: int) -> Pixels:
    file = io.BytesIO()
    Image.fromarray(image).save(file, "JPEG", quality=quality)
    return np.asarray(Image.open(file))


def _moved(image: Pixels, angle: float, shift: Sequence[float]) -> Pixels:
    """Turn an image around its middle, then shift it; the outermost pixels are repeated beyond the frame."""
    height, width = image.shape[:2]
    reach = int(np.ceil(np.abs(shift).max() + abs(angle) * max(height, width))) + 2  # and 2 for the cubic interpolation
    padded = np.pad(image, ((reach, reach), (reach, reach), *[(0, 0)] * (image.ndim - 2)), "edge")
    rotation = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    middle = np.array([width / 2 + reach, height / 2 + reach])  # Pillow puts the first pixel's centre at 1/2
    where = np.column_stack([rotation, middle - rotation @ (middle + shift)])
    size = padded.shape[1], padded.shape[0]
    canvas = Image.fromarray(padded)
    moved = canvas.transform(size, Image.Transform.AFFINE, where.ravel().tolist(), Image.Resampling.BICUBIC)
    return np.asarray(moved)[reach : reach + height, reach : reach + width]


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


def _image(planes: NDArray[Any]) -> NDArray[Any]:
    """Return a view of `Scene.colours` as (height, width) or (height, width, 3)."""
    return planes[0] if len(planes) == 1 else np.moveaxis(planes, 0, -1)


def _bytes(image: NDArray[Any]) -> Pixels:
    """Round to 8 bits, which is what cameras record."""
    return np.clip(np.rint(image), 0, 255).astype(np.uint8)


def _seed(draw: str) -> int:
    return zlib.crc32(draw.encode())


def _like(scene: Scene, reference: Any, targets: Any, baselines: Any, truth: Any, white: float | None = None) -> Scene:
    return Scene(
        reference,
        targets,
        baselines,
        ground_truth=truth,
        name=scene.name,
        reference_name=scene.reference_name,
        target_names=scene.target_names,
        metadata=scene.metadata,
        white=white,
    )
