"""COLMAP's camera models: the intrinsic matrix, and the distortion of the lens.

The centre of the top left pixel is (0.5, 0.5) in COLMAP, where ours is (0, 0).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gradcon.errors import InputError
from gradcon.lens import Distortion, Undistortion
from gradcon.scene.geometry import Floats

MAX_NUMBER = 1e50  # a larger number means damage, and products of such numbers would overflow
EXPORT = "export the model again"  # the remedy for a damaged file


class CameraModel(NamedTuple):
    """How many parameters a model has: focal lengths, then cx and cy, then those of the distortion, if it has one."""

    focals: int
    distortion: str = ""  # one of `lens.MODELS`
    terms: int = 0

    @property
    def parameters(self) -> int:
        return self.focals + 2 + self.terms


MODELS = {  # in the order in which COLMAP numbers them
    "SIMPLE_PINHOLE": CameraModel(1),
    "PINHOLE": CameraModel(2),
    "SIMPLE_RADIAL": CameraModel(1, "brown", 1),
    "RADIAL": CameraModel(1, "brown", 2),
    "OPENCV": CameraModel(2, "brown", 4),
    "OPENCV_FISHEYE": CameraModel(2, "fisheye", 4),
    "FULL_OPENCV": CameraModel(2, "brown", 8),
    "FOV": CameraModel(2, "fov", 1),
    "SIMPLE_RADIAL_FISHEYE": CameraModel(1, "fisheye", 1),
    "RADIAL_FISHEYE": CameraModel(1, "fisheye", 2),
    "THIN_PRISM_FISHEYE": CameraModel(2, "thin-prism-fisheye", 8),
}


@dataclass(frozen=True)
class Lens:
    """What COLMAP calls a camera: the intrinsic matrix, in our pixel coordinates, the image size, and the lens."""

    K: Floats
    size: tuple[int, int]  # (width, height)
    undistortion: Undistortion | None  # None if it is a pinhole


def lens_of(model: str, size: Sequence[int], parameters: Sequence[float], where: str) -> Lens:
    """Check what a model says about a camera; `where` names the camera in errors."""
    refuse_unknown_model(model, where)
    if min(size) < 1 or max(size) >= 2**31:
        raise InputError(where, f"an image cannot have {size[0]} x {size[1]} pixels", EXPORT)
    known = MODELS[model]
    if len(parameters) != known.parameters or not is_sane(parameters):
        raise InputError(where, f"the model {model} must have {known.parameters} finite parameters", EXPORT)
    fx, fy = parameters[0], parameters[known.focals - 1]
    cx, cy, *terms = parameters[known.focals :]
    if min(fx, fy) <= 0:
        raise InputError(where, f"the focal length {min(fx, fy):g} is not positive", EXPORT)
    K = np.array([[fx, 0, cx - 0.5], [0, fy, cy - 0.5], [0, 0, 1]])
    undistortion = None
    if known.distortion:
        undistortion = Undistortion(K, Distortion.of(known.distortion, terms, where), K, where)
    return Lens(K, (size[0], size[1]), undistortion)


def refuse_unknown_model(model: str, where: str) -> None:
    """Reject a camera whose model gradcon does not know, and say how to replace it."""
    if model not in MODELS:
        raise InputError(
            where,
            f"its model is {model:.40}, which is not among {', '.join(MODELS)}",
            "convert the images and the model with `colmap image_undistorter`",
        )


def is_sane(numbers: Iterable[float]) -> bool:
    """Return whether all numbers are finite and plausible for a reconstruction."""
    return all(abs(number) < MAX_NUMBER for number in numbers)
