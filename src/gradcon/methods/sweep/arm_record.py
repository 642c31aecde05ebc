"""Record which views a sweep trusts, pass by pass, at sampled pixels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gradcon.arrays import sampled, to_host
from gradcon.engines.sweep import ArmCosts, Views, view_weights
from gradcon.result.weights import CODES, LONGEST_SIDE, MOST_CODES, SOLVES, Weights
from gradcon.scene import Scene


class ArmRecord:
    """Sees the map after every pass, and records the weight of each view there.

    A view's share of the trust is its arm's weight in the cost, divided among the views of the arm that see the pixel
    as the pass weighs them.
    """

    def __init__(self, scene: Scene, views: Views) -> None:
        assert views.order is not None
        self.views, self.order, self.shape = views, views.order, scene.shape
        targets = len(views.epipoles)
        pixels = max(1, MOST_CODES // (SOLVES * targets))
        self.step = max(1, int(np.ceil(np.sqrt(scene.shape[0] * scene.shape[1] / pixels))))
        self.disparity_step = -(-max(scene.shape) // LONGEST_SIDE)
        self._passes: list[int] = []
        self._codes: list[NDArray[np.uint8]] = []
        self._disparities: list[NDArray[np.float32]] = []

    def see(self, number: int, w: NDArray[np.float32], noise: NDArray[np.float32], arms: ArmCosts) -> None:
        """Record a pass that ended with the map w."""
        middle = slice(self.step // 2, None, self.step)
        shares = self._shares(w[middle, middle], noise[middle, middle], arms)
        self._passes.append(number)
        self._codes.append(np.rint(CODES * np.sqrt(shares)).astype(np.uint8))
        self._disparities.append(w[:: self.disparity_step, :: self.disparity_step].astype(np.float32))

    def weights(self) -> Weights:
        """Return the record."""
        return Weights(
            solves=np.array(self._passes, np.int32),
            codes=np.stack(self._codes)[:, :, :, None],
            step=self.step,
            scales=np.zeros(1, np.int32),
            disparities=np.stack(self._disparities),
            disparity_step=self.disparity_step,
            after=True,
        )

    @np.errstate(divide="ignore", invalid="ignore")  # what a view does not see is NaN
    def _shares(self, w: NDArray[np.float32], noise: NDArray[np.float32], arms: ArmCosts) -> NDArray[np.float64]:
        from gradcon.engines.reference import sample_cubic  # it imports SciPy, which other runs need not

        views, (rows, columns) = self.views, sampled(self.shape, self.step)
        height, width = self.shape
        y, x = np.mgrid[:rows, :columns] * float(self.step) + self.step // 2
        reference = to_host(views.colours[0])[:, y.astype(int), x.astype(int)] * views.scale
        costs = np.empty((len(views.epipoles), rows, columns))
        for t, (e_x, e_y, e_z) in enumerate(views.epipoles):
            z = 1 + e_z * w.astype(np.float64)
            u, v = (x + e_x * w) / z, (y + e_y * w) / z
            seen = (z > 0) & (u >= 0) & (u <= width - 1) & (v >= 0) & (v <= height - 1)
            target = to_host(views.colours[1 + t]).astype(np.float64) * views.scale
            image = sample_cubic(target, np.where(seen, u, 0.0), np.where(seen, v, 0.0))
            cost = np.minimum(np.abs(image - reference).mean(axis=0) / noise, 1.0)
            costs[t] = np.where(seen, cost, np.nan)
        own = np.isfinite(costs) * view_weights(views, arms.near)[:, None, None]
        costs[own == 0] = 0
        shares = np.zeros(costs.shape)
        for first, end in zip(views.arms[:-1], views.arms[1:], strict=True):
            whole = own[first:end].sum(axis=0)
            within = own[first:end] / np.where(whole > 0, whole, 1)
            cost = (within * costs[first:end]).sum(axis=0)
            # The lowest cost of all arms, which the weights have in common, cancels out.
            shares[first:end] = within * (cost + arms.c0) ** -float(arms.sharpness)
        shares /= np.maximum(shares.sum(axis=0), 1e-12)
        return np.moveaxis(shares[np.argsort(self.order)], 0, -1)
