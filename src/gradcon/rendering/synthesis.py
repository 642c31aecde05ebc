"""Views between the cameras."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.arrays import module_of, to_host
from gradcon.errors import InputError
from gradcon.rendering.blending import Sources
from gradcon.rendering.inputs import disparity_of, pair
from gradcon.rendering.viewpoint import viewpoints, virtual
from gradcon.scene import Scene

BEYOND = 0.5  # of the rig's extent: how far outside the cameras a view may be asked for
Position = tuple[float, float]  # to the right and down, in unit baselines


def synthesise(scene: Scene, result: Any, at: Position) -> NDArray[np.float32]:
    """Return the view of a camera that was never there.

    Parameters
    ----------
    scene : Scene
        The views.
    result : Result, Map or array (height, width)
        The disparity of the scene's reference view.
    at : (right, down)
        Where the camera stands, in unit baselines from the reference camera, whose orientation it has.

    Returns
    -------
    array (height, width) or (height, width, 3), float32
        The picture; white is 1.  Where no view shows what the camera would see, the nearest views are blended.

    Raises
    ------
    InputError
        The result belongs to another scene, or the place is far outside the cameras.

    Examples
    --------
    >>> from gradcon import estimate, synth, synthesise
    >>> scene = synth.render("planes", size=(48, 64))
    >>> synthesise(scene, estimate(scene), at=(0.5, 0)).shape
    (48, 64, 3)
    """
    return next(synthesised(scene, result, [at]))


def synthesised(scene: Scene, result: Any, places: Iterable[Position]) -> Iterator[NDArray[np.float32]]:
    """Yield the views from several places; what they share is computed once."""
    sources = Sources(scene, disparity_of(scene, result))
    for place in places:
        right, down = pair("at", place, "how far the camera stands to the right and down, such as (0.5, 0)")
        refuse_far(scene, (right, down))
        yield as_picture(sources.render(virtual(right, down)).colours)


def span(scene: Scene) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the least and the largest place of the cameras to the right, and the same downwards."""
    places = np.array([each.place[:2] for each in viewpoints(scene)]) + 0.0  # which turns -0 into 0
    low, high = places.min(axis=0), places.max(axis=0)
    return (float(low[0]), float(high[0])), (float(low[1]), float(high[1]))


def is_between(scene: Scene, at: Position, beyond: float = 0.0) -> bool:
    """Return whether a place is among the cameras, or at most so many unit baselines outside."""
    return all(low - beyond - 1e-9 <= where <= high + beyond + 1e-9
               for where, (low, high) in zip(at, span(scene), strict=True))  # fmt: skip


def refuse_far(scene: Scene, at: Position) -> None:
    """Refuse a place that is so far from all cameras that hardly anything it sees is known."""
    across, down = span(scene)
    extent = max(across[1] - across[0], down[1] - down[0])
    if not is_between(scene, at, BEYOND * extent):
        problem = (
            f"({at[0]:g}, {at[1]:g}) is far outside the cameras, which stand from {across[0]:g} to {across[1]:g} "
            f"to the right and from {down[0]:g} to {down[1]:g} down"
        )
        raise InputError("at", problem, "choose a place between them")


def as_picture(colours: Any) -> NDArray[np.float32]:
    """Return colours (C, height, width) as a picture in the host's memory, from 0 to 1."""
    xp = module_of(colours)
    picture: NDArray[np.float32] = to_host(xp.clip(colours, 0, 1).astype(np.float32))
    return np.ascontiguousarray(picture[0] if len(picture) == 1 else np.moveaxis(picture, 0, -1))
