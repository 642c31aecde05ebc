"""Where views disagree with a disparity map, and by how much it seems to be wrong.

A picture that is predicted well does not mean that the disparity is right: surfaces without texture look the same at
many disparities.  And a rim that is a few pixels too wide costs hardly any brightness, but a large error of disparity.
So the disparity of each pixel competes with others: some that are a little smaller or larger, and those of the surfaces
beside it.  Where another one explains the views clearly better, the difference of the two is the suspected error.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import maximum_filter, minimum_filter, uniform_filter

from gradcon.rendering.searching import costs
from gradcon.scene import Scene
from gradcon.scene.geometry import Floats

STEPS = (0.16, 0.4, 0.8, 1.6, 3.2, 6.4)  # pixels in the farthest view
AROUND = (2, 5, 10)  # pixels, within which another surface may be the right one
WINDOW = 5  # pixels, over which costs are averaged
MOST = np.float32(0.1)  # of white: a larger difference in colour is not worse
CLEARLY = 0.2  # the share by which the cost must fall


def suspected_error(scene: Scene, disparity: Floats, views: Sequence[int]) -> NDArray[np.float32]:
    """Return the error of each pixel that some views of the scene suggest; 0 is the reference."""
    colours = scene.colours[[0, *views]].astype(np.float32) * np.float32(scene.colour_scale)
    targets = np.array(views) - 1
    M, m = np.ascontiguousarray(scene.M[targets]), np.ascontiguousarray(scene.m[targets])
    w = disparity.astype(np.float32)
    own = best = _cost(colours, M, m, w)
    error = np.zeros_like(w)
    for other in _others(w, float(np.hypot(*scene.baselines.T).max())):
        cost = _cost(colours, M, m, other)
        better = (cost < best) & (own - cost > CLEARLY * own)
        best = np.where(better, cost, best)
        error = np.where(better, np.abs(other - w), error)
    return error


def _others(w: NDArray[np.float32], reach: float) -> list[NDArray[np.float32]]:
    """Return the maps that compete with w."""
    near = [w + np.float32(sign * step / reach) for step in STEPS for sign in (-1, 1)]
    beside = [choose(w, 2 * r + 1) for r in AROUND for choose in (minimum_filter, maximum_filter)]
    return [*near, *beside, uniform_filter(w, WINDOW)]


def _cost(colours: NDArray[np.float32], M: Floats, m: Floats, w: NDArray[np.float32]) -> NDArray[np.float32]:
    out = np.empty_like(w)
    costs(colours[0], colours[1:], M, m, w, MOST, out)
    smooth: NDArray[np.float32] = uniform_filter(out, WINDOW)
    return smooth
