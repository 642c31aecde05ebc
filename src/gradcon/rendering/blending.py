"""A picture from any viewpoint, blended from the views that see the same surfaces.

Each pixel of the picture knows its disparity, so it knows where every view shows it.  A view counts if nothing stands
in front there, more if its camera is near, and more if it agrees with the others: the rim of a surface mixes two
colours, and a blend of all would show it twice.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np

from gradcon.arrays import module_of
from gradcon.rendering.carrying import Carried, carry
from gradcon.rendering.sampling import inside, nearest, sample
from gradcon.rendering.viewpoint import Viewpoint, viewpoints
from gradcon.scene import Scene

MOST = 4  # views that are blended; more cost time, and make it blurred where the map is wrong
HIDDEN = 1.0  # pixels that two surfaces must be apart in a view for one to hide the other
SAME_PLACE = 0.1  # unit baselines, within which a camera is as good as the one asked for
AGREEMENT = 0.04  # the difference in colour that halves the weight of a view; white is 1
ROUNDS = 2


class Blend(NamedTuple):
    """What a viewpoint sees."""

    colours: Any  # (C, height, width) float32; white is 1
    seen: Any  # (height, width) bool: a view shows what is there; elsewhere the nearest views are blended regardless


class Sources:
    """The views of a scene with their disparity map, and the map as it is seen from each view, once it is needed."""

    def __init__(self, scene: Scene, disparity: Any) -> None:
        self.disparity = disparity
        self.viewpoints = viewpoints(scene)
        self._colours, self._scale = scene.colours, np.float32(scene.colour_scale)
        self._carried: dict[int, Carried] = {}
        lengths = [float(np.hypot(*B)) for B in scene.baselines]
        self._reach = [max(lengths), *lengths]  # how far disparity moves a pixel; of the reference in other views
        self._unit = scene.unit
        self._saw = module_of(disparity).asarray(scene.seen) if scene.seen is not None else None

    def render(
        self,
        to: Viewpoint,
        surface: Carried | None = None,
        without: Collection[int] = (),
        most: int = MOST,
    ) -> Blend:
        """Blend the picture from a viewpoint.

        Parameters
        ----------
        to : Viewpoint
            Where the camera stands.
        surface : Carried, optional
            What it sees; by default the scene's map, carried there.
        without : collection of int
            The views that may not be used; 0 is the reference.
        most : int
            How many views are used, the nearest first.
        """
        xp = module_of(self.disparity)
        surface = carry(self.disparity, to) if surface is None else surface
        v, u = xp.indices(surface.disparity.shape, dtype=np.float64)
        w = surface.disparity.ravel()
        x, y = to.back(u.ravel(), v.ravel(), w)
        order = self._nearest(to, without)
        blend, seen = self._blended(x, y, w, order[:most])
        for k in order[most:]:  # others may see what those do not
            rest = xp.flatnonzero(~seen)
            if len(rest) == 0:
                break
            blend[:, rest], seen[rest] = self._blended(x[rest], y[rest], w[rest], [k])
        shape = surface.disparity.shape
        return Blend(blend.reshape(-1, *shape), seen.reshape(shape))

    def _blended(self, x: Any, y: Any, w: Any, order: list[tuple[int, float]]) -> tuple[Any, Any]:
        """Blend what some views show of reference pixels (x, y) of disparity w; say which pixels any of them shows."""
        xp = module_of(w)
        colours, weights, near_by = [], [], []
        for k, distance in order:
            a, b, near = self.viewpoints[k].see(x, y, w)
            shows = inside(a, b, self.disparity.shape) & xp.isfinite(near)
            a, b = xp.where(xp.isfinite(a), a, 0.0), xp.where(xp.isfinite(b), b, 0.0)
            shows &= self._front(k, a, b) <= near + HIDDEN / self._reach[k]
            if self._saw is not None:
                shows &= nearest(self._saw[k], a, b)
            colours.append(self.sample(k, a, b))
            near_by.append(1 / (distance + SAME_PLACE * self._unit) ** 2)
            weights.append(shows * near_by[-1])
        given = xp.stack(weights).astype(np.float32)
        seen = given.sum(axis=0) > 0
        anyway = xp.asarray(np.array(near_by, np.float32))[:, None]
        return _agreed(xp.stack(colours), xp.where(seen, given, anyway)), seen

    def sample(self, k: int, u: Any, v: Any) -> Any:
        """Return the colours of view k at positions; white is 1."""
        return sample(self._colours[k], u, v) * self._scale

    def seen_by(self, k: int) -> Carried:
        """Return the map as view k sees it."""
        if k not in self._carried:
            self._carried[k] = carry(self.disparity, self.viewpoints[k])
        return self._carried[k]

    def _front(self, k: int, u: Any, v: Any) -> Any:
        """Return the nearness of what view k shows at positions; nothing stands in front of the map in its own view."""
        return nearest(self.seen_by(k).nearness if k else self.disparity, u, v)

    def _nearest(self, to: Viewpoint, without: Collection[int]) -> list[tuple[int, float]]:
        """Return the views and the distances of their cameras, the nearest first."""
        distances = [float(np.linalg.norm(each.place - to.place)) for each in self.viewpoints]
        usable = [k for k in range(len(distances)) if k not in without]
        return [(k, distances[k]) for k in sorted(usable, key=lambda k: round(distances[k], 9))]


def _agreed(colours: Any, weights: Any) -> Any:
    """Return the weighted mean of several pictures, in which those that deviate from it count less."""
    xp = module_of(colours)
    blend = (weights[:, None] * colours).sum(axis=0) / weights.sum(axis=0)
    for _ in range(ROUNDS):
        deviation = xp.abs(colours - blend).mean(axis=1)
        better = weights / (1 + (deviation / AGREEMENT) ** 2)
        blend = (better[:, None] * colours).sum(axis=0) / better.sum(axis=0)
    return blend
