"""The views of a rig while their maps are made: which are swept first, and what each may start from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gradcon.arrays import module_of
from gradcon.errors import InputError
from gradcon.methods.every_view.carrying import carried, filled
from gradcon.methods.every_view.consistency import merged
from gradcon.methods.every_view.evidence import Witness
from gradcon.methods.every_view.relations import Map, relation
from gradcon.scene import Scene
from gradcon.scene.selection import spread
from gradcon.scene.variants import seen_from

KEYS = 4  # views besides the reference whose maps the others start from
FAR_ENOUGH = 0.8  # of the longest baseline: maps of the outermost views are worse, because all others lie on one side
HOLES = 0.1  # the share of a view that may be missing in a map to start from
MOST_WITNESSES = 32  # views that a pixel is looked up in, of a larger rig
SAMPLES = 9  # pixels along each axis at which views are checked for overlap
LEAST_OVERLAP = 0.02  # the share of a view's pixels that another one must have in its frame


@dataclass
class Rig:
    """The views, and the maps that are done.  Maps are in the memory that the engine works in."""

    scene: Scene  # prepared
    limits: tuple[float, float]  # of the disparities
    seen: dict[str, Scene] = field(default_factory=dict)  # the scene from the views that were asked for
    maps: dict[str, tuple[Map, Map]] = field(default_factory=dict)  # disparity and deviation

    @property
    def pixel(self) -> float:
        """The disparity that moves a surface by one pixel in the farthest view."""
        return 1 / float(np.hypot(*self.scene.baselines.T).max())

    @property
    def keys(self) -> list[str]:
        """The views, besides the reference, that are spread over the rig."""
        lengths = np.hypot(*self.scene.baselines.T)
        near = np.flatnonzero(lengths <= FAR_ENOUGH * lengths.max())
        near = near if len(near) >= KEYS else np.arange(len(lengths))
        return [self.scene.target_names[near[k]] for k in spread(self.scene.baselines[near], KEYS)]

    def scene_from(self, view: str) -> Scene:
        """Return the scene seen from a view; refuse one whose frame shows nothing of the others."""
        scene = self._seen_from(view)
        if _overlap(scene, self.limits) < LEAST_OVERLAP:
            raise InputError(view, "no other view shows what it sees, so it gets no map", "check its camera")
        return scene

    def start(self, view: str, sources: Sequence[str]) -> Map | None:
        """Return what the maps of some views show in another view; None if they leave too much of it open."""
        claims = self.claims(view, sources)
        if not claims:
            return None
        start = claims[0] if len(claims) == 1 else merged(claims, self.witnesses(view, sources), self.pixel)
        if float(module_of(start).isnan(start).mean()) > HOLES:
            return None
        return filled(start)

    def claims(self, view: str, sources: Iterable[str]) -> list[Map]:
        """Return the maps of some views, carried into another view."""
        found = ((self.maps[name][0], relation(self._seen_from(name), view)) for name in sources if name != view)
        return [carried(w, there) for w, there in found if there is not None]

    def witnesses(self, view: str, sources: Iterable[str]) -> list[Witness]:
        """Return other views with their maps, for pixels of a view."""
        scene = self._seen_from(view)
        found = ((relation(scene, name), self.maps[name]) for name in sources if name != view)
        return [Witness(there, *maps) for there, maps in found if there is not None]

    def _seen_from(self, view: str) -> Scene:
        if view not in self.seen:
            self.seen[view] = seen_from(self.scene, view)
        return self.seen[view]

    def all_witnesses(self, view: str) -> list[Witness]:
        """Return all other views that have maps; those that are spread over the rig if there are many."""
        scene = self._seen_from(view)
        others = [k for k, name in enumerate(scene.target_names) if name in self.maps]
        chosen = spread(scene.baselines[others], MOST_WITNESSES)
        return self.witnesses(view, [scene.target_names[others[k]] for k in chosen])


def _overlap(scene: Scene, limits: tuple[float, float]) -> float:
    """Return the share of the reference's pixels that another view has in its frame at some disparity."""
    height, width = scene.shape
    y, x = (a.astype(np.float32) for a in np.meshgrid(*(np.linspace(0, n - 1, SAMPLES) for n in scene.shape)))
    visible: Any = np.zeros(x.shape, bool)
    for name in scene.target_names:
        there = relation(scene, name)
        assert there is not None
        for w in (limits[0], sum(limits) / 2, limits[1]):
            u, v, _, ahead = there.seen(x, y, np.full(x.shape, w, np.float32))
            with np.errstate(invalid="ignore"):
                visible |= ahead & (u >= 0) & (u <= width - 1) & (v >= 0) & (v <= height - 1)
    return float(visible.mean())
