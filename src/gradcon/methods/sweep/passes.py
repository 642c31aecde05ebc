"""One pass of the sweep: costs, the best labels along paths, and a median."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gradcon.arrays import module_of
from gradcon.engines.sweep import Best, Map, SweepEngine, Volume
from gradcon.methods.sweep.labels import Labels, step_of
from gradcon.methods.sweep.noise import edge_factors
from gradcon.methods.sweep.settings import COLOUR_OF_MEDIAN, COLOUR_OF_PLANE, Pass

PATHS = 8
BLIND = 1e6  # beside this noise, every difference is nothing


class Swept(NamedTuple):
    """What a pass found: the disparity, and how sure it is; costs are averaged over the paths, and 1 at most."""

    w: Map
    curvature: Map  # of the cost at the best label
    lead: Map  # of the best label over any other


@dataclass
class Level:
    """The views at one size, with their noise level."""

    engine: SweepEngine
    noise: Map

    def search(self, how: Pass, labels: Labels) -> Swept:
        """Try the same labels at every pixel."""
        start = module_of(self.noise).full(self.engine.views.shape, labels.first, np.float32)
        return self._sweep(how, start, labels.number, labels.step, self._raised_noise)

    def search_near(self, how: Pass, w: Map) -> Swept:
        """Try labels around a smooth surface through w, so that a slant costs nothing."""
        assert how.planes is not None
        surface, planes, step = w, how.planes, step_of(self.engine, how.step)
        spread = step_of(self.engine, planes.disparity)
        for _ in range(planes.fits):
            surface = self.engine.fit_planes(
                surface, planes.radius, planes.stride, COLOUR_OF_PLANE, planes.distance, spread
            )
        start = surface / np.float32(step) - np.float32((how.labels - 1) / 2)
        return self._sweep(how, start, how.labels, step, self.noise)

    def choose(self, how: Pass, maps: Sequence[Map]) -> Map:
        """Choose one of three or more maps at each pixel."""
        xp, step = module_of(self.noise), np.float32(step_of(self.engine, how.step))
        noise = self._raised_noise
        blind = self._blind(noise)
        costs = [self.engine.costs(w / step, 1, float(step), blind, how.arms, how.unit) for w in maps]
        best = self._matched(how, xp.concatenate(costs, axis=2), noise)
        index = xp.rint(best.label).astype(np.int64)
        return xp.take_along_axis(xp.stack(maps, axis=2), index[:, :, None], axis=2)[:, :, 0]

    def _sweep(self, how: Pass, start: Map, labels: int, step: float, noise: Map) -> Swept:
        costs = self.engine.costs(start, labels, step, self._blind(noise), how.arms, how.unit)
        best = self._matched(how, costs, noise)
        w = (start + best.label) * np.float32(step)
        if how.median:
            w = self.engine.median(w, how.median, COLOUR_OF_MEDIAN)
        scale = np.float32(1 / (PATHS * how.unit))
        lead = module_of(w).minimum((best.second - best.lowest) * scale, np.float32(1))
        return Swept(w, best.curvature * scale, lead)

    @property
    def _raised_noise(self) -> Map:
        """The noise level, at least the scene's mean.

        Where there is no texture, the views differ least.  A small noise level would let such pixels decide for
        themselves, by chance; now their neighbours decide for them.
        """
        return module_of(self.noise).maximum(self.noise, self.noise.mean())

    def _blind(self, noise: Map) -> Map:
        """Return the noise level, so large that no difference counts where the reference's camera saw nothing."""
        known = self.engine.views.known
        if known is None:
            return noise
        xp = module_of(noise)
        return xp.where(xp.asarray(known), noise, np.float32(BLIND))

    def _matched(self, how: Pass, costs: Volume, noise: Map) -> Best:
        edges = edge_factors(self.engine.views, noise, how.jump, how.edge)
        return self.engine.aggregate(costs, edges, how.small * how.unit, how.large * how.unit)


def enlarged(w: Map, shape: tuple[int, int]) -> Map:
    """Return a map of a smaller copy at a larger size; each pixel becomes a block."""
    if w.shape == shape:
        return w
    xp = module_of(w)
    k = max(1, round(max(shape[0] / w.shape[0], shape[1] / w.shape[1])))
    y, x = (xp.asarray(np.minimum(np.arange(n) // k, m - 1)) for n, m in zip(shape, w.shape, strict=True))
    return w[y[:, None], x[None, :]]
