"""A picture that is sharp where one asks, as a camera with a wide lens takes it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.arrays import filters_of, module_of
from gradcon.errors import InputError
from gradcon.rendering.blending import Sources
from gradcon.rendering.carrying import Carried
from gradcon.rendering.inputs import disparity_of, pair
from gradcon.rendering.lens import Backdrop, through_lens
from gradcon.rendering.synthesis import as_picture
from gradcon.rendering.viewpoint import REFERENCE
from gradcon.scene import Scene
from gradcon.scene.numbers import finite_number, shortly

WIDEST = 200.0  # pixels of the blur's radius, or a quarter of the picture if that is less


def refocus(scene: Scene, result: Any, at: tuple[float, float], aperture: float) -> NDArray[np.float32]:
    """Return the reference's picture as a wide lens takes it, sharp at one pixel and at all that is equally far.

    Parameters
    ----------
    scene : Scene
        The views.
    result : Result, Map or array (height, width)
        The disparity of the scene's reference view.
    at : (x, y)
        The pixel of the reference view that is to be sharp.
    aperture : float
        The diameter of the lens in unit baselines: a disparity of 1 away from that pixel's blurs to a disc of so many
        pixels.  With 0 everything is sharp.

    Returns
    -------
    array (height, width) or (height, width, 3), float32
        The picture; white is 1.

    Examples
    --------
    >>> from gradcon import estimate, refocus, synth
    >>> scene = synth.render("planes", size=(48, 64))
    >>> refocus(scene, estimate(scene), at=(20, 24), aperture=8).shape
    (48, 64, 3)
    """
    check_aperture(aperture)
    return next(refocused(scene, result, [focus_at(scene, result, at)], aperture))


def focus_at(scene: Scene, result: Any, at: tuple[float, float], name: str = "at") -> float:
    """Return the disparity at a pixel; refuse one outside the picture.  `name` names it in errors."""
    return float(disparity_of(scene, result)[_pixel(scene, at, name)])


def refocused(scene: Scene, result: Any, focuses: Iterable[float], aperture: float) -> Iterator[NDArray[np.float32]]:
    """Yield the pictures that are sharp at several disparities; what they share is computed once."""
    disparity = disparity_of(scene, result)
    sharp = scene.colours[0].astype(np.float32) * np.float32(scene.colour_scale)
    low, high = float(disparity.min()), float(disparity.max())
    radius = aperture / 2
    _refuse_wide(scene, aperture, radius * (high - low))
    behind = None
    for focus in focuses:
        blur = radius * max(high - focus, focus - low)
        if blur == 0:
            yield as_picture(sharp)
            continue
        if behind is None:
            behind = _backdrop(Sources(scene, disparity), radius * (high - low), radius)
        yield as_picture(through_lens(sharp, disparity, focus, radius, behind))


def _backdrop(sources: Sources, blur: float, radius: float) -> Backdrop:
    """Return what the other views show behind the rims of surfaces, as far as these may be blurred."""
    disparity = sources.disparity
    xp = module_of(disparity)
    filters = filters_of(disparity)
    size = 2 * int(np.ceil(blur)) + 1
    step = filters.maximum_filter(disparity, 3) - filters.minimum_filter(disparity, 3)
    rim = step * radius > 1  # pixels of blur: a jump
    near_rim = filters.maximum_filter(rim.astype(np.uint8), size).astype(bool)
    deep = xp.where(near_rim, filters.minimum_filter(disparity, size), disparity)
    picture = sources.render(REFERENCE, Carried(deep, deep, near_rim), without=(0,))
    return Backdrop(picture.colours, deep, near_rim & picture.seen)


def _pixel(scene: Scene, at: Any, name: str) -> tuple[int, int]:
    """Return the row and column of a pixel; refuse one outside the picture."""
    x, y = pair(name, at, "a pixel's x and y")
    height, width = scene.shape
    if not (0 <= round(x) < width and 0 <= round(y) < height):
        problem = f"({x:g}, {y:g}) is outside the picture of {width} x {height} pixels"
        raise InputError(name, problem, f"give x from 0 to {width - 1} and y from 0 to {height - 1}")
    return round(y), round(x)


def check_aperture(aperture: Any) -> None:
    """Refuse an aperture that is not a number from 0 up."""
    diameter = finite_number(aperture)
    if diameter is None or diameter < 0:
        raise InputError("aperture", f"{shortly(aperture)} is not a diameter", "give a number from 0 up")


def _refuse_wide(scene: Scene, aperture: float, blur: float) -> None:
    """Refuse an aperture that blurs everything away."""
    most = min(WIDEST, max(1.0, min(scene.shape) / 4))
    if blur > most:
        problem = f"{aperture:g} would blur over {2 * blur:.0f} pixels, which leaves nothing to see"
        raise InputError("aperture", problem, f"give at most {aperture * most / blur:.3g}")
