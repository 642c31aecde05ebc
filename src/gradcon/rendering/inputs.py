"""The disparity map that belongs to a scene, from whatever a caller has: a result, a map or an array."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcon.arrays import as_array, beside, module_of, on_device
from gradcon.errors import InputError
from gradcon.io.maps.map import Map
from gradcon.rendering.carrying import fill
from gradcon.result import Result
from gradcon.scene import Scene
from gradcon.scene.numbers import checked_numbers, shortly

ACROSS = np.array([1.0, 0.0])


def disparity_of(scene: Scene, result: Any) -> Any:
    """Return the disparity map of a scene's reference as float64, where the scene's views are; no pixel is unknown.

    An unknown pixel takes the farther of the known ones on its left and right.
    """
    if not isinstance(scene, Scene):
        raise InputError("scene", f"is a {type(scene).__name__}, not a Scene", "open it with open_scene")
    values: Any
    if isinstance(result, Result):
        if result.scene.reference_fingerprint() != scene.reference_fingerprint():
            problem = f"was estimated from other pixels than those of {scene.reference_name} of {scene.name}"
            raise InputError("result", problem, "give the result of this scene")
        values = result.disparity
    elif isinstance(result, Map):
        if result.quantity not in (None, "disparity"):
            raise InputError("result", f"holds {result.name}, not disparity", "give a disparity map")
        values = result.values
    else:
        values = as_array(result, "result")
    if not on_device(values):
        values = checked_numbers("result", "the disparities", values)
    if values.shape != scene.shape:
        (height, width), size = scene.shape, " x ".join(str(n) for n in values.shape[::-1])
        problem = f"is {size or 'one'} pixels, but the views of {scene.name} are {width} x {height}"
        raise InputError("result", problem, "give the result of this scene")
    values = beside(values, scene.colours)
    xp = module_of(values)
    values = values.astype(np.float64)
    known = xp.isfinite(values)
    if not bool(known.any()):
        raise InputError("result", "is unknown at every pixel", "give a map that is known somewhere")
    return fill(values, known, ACROSS)


def pair(name: str, value: Any, meaning: str) -> tuple[float, float]:
    """Return two finite numbers; refuse anything else."""
    numbers = checked_numbers(name, f"the values {shortly(value)}", value, f"give {meaning}")
    if numbers.shape != (2,) or not np.isfinite(numbers).all():
        raise InputError(name, f"{shortly(value)} is not a pair of finite numbers", f"give {meaning}")
    return float(numbers[0]), float(numbers[1])
