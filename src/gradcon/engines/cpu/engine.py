"""The default engine: float32, all cores, compiled by Numba at first use and cached.

The same operations as `reference`, fused: the reference image's filters are computed once, the data term runs in
tiles that stay in cache, the linear system is solved by preconditioned conjugate gradients.  Results do not depend on
the number of threads: every pixel is computed by one thread, and sums over pixels are added row by row in order.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from gradcon.arrays import to_host
from gradcon.engines import DataTerm, OnHost, Report, known_truth, model, sampled
from gradcon.engines.cpu import data, filters, multigrid, smoothness
from gradcon.engines.cpu.median import NETWORK, median_filter
from gradcon.engines.cpu.rows import one_sided
from gradcon.engines.cpu.warp import MARGIN, warp_views
from gradcon.engines.views import kind_of, rings_and_sectors
from gradcon.methods.schedules import Stage, Weighting
from gradcon.scene import Scene

Field = NDArray[np.float32]
INNER_TOLERANCE = 1e-3  # of the residual in the preconditioner's norm; a tighter one changes no RMSE by 0.001
INNER_MOST = 100
NOTHING_KEPT = np.empty((0, 0, 0, 0), np.float32)


class CpuEngine(OnHost):
    """The operations of one solve on a scene whose baselines are normalised to a shortest one of 1."""

    name = "cpu"

    def __init__(self, scene: Scene, epsilon: float) -> None:
        scene = scene.to_host()
        self.epsilon = np.float32(epsilon)
        self.shape = scene.shape
        self.reference = scene.reference
        self.targets = np.pad(scene.targets, ((0, 0), (MARGIN, MARGIN), (MARGIN, MARGIN)), mode="edge")
        self.M, self.m = scene.M, scene.m / scene.unit
        self.baselines = scene.baselines / scene.unit
        self.kinds = np.array([kind_of(M, m) for M, m in zip(self.M, self.m, strict=True)])
        self.unit, self.truth = scene.unit, known_truth(scene)
        self.inner_iterations, self.clipped = 0, 0.0  # of the last solve
        self._scales: dict[int, tuple[Field, Field, Field]] = {}
        self._buffers: dict[str, Any] = {}
        self._solver = _Solver(*scene.shape)
        self._threads = ThreadPoolExecutor(numba.get_num_threads(), thread_name_prefix="gradcon")

    def upload(self, w: Any) -> Field:
        return np.ascontiguousarray(to_host(w), dtype=np.float32)

    def warp(self, w: Field, stage: Stage) -> Field:
        """The stage's targets as the reference would see them, (views, height, width)."""
        views = np.array(stage.views)
        warped = self._buffer("warped", (len(views), *self.shape))
        self._deal(warp_views, self.targets, self.reference, w, views, self.kinds, self.M, self.m, warped)
        return warped

    def data_term(self, w: Field, warped: Field, stage: Stage, reweight: bool) -> DataTerm:
        """Diagonal and right-hand side of the data term, with the stage's weights; they last until the next call."""
        if stage.weighting.model:
            diagonal, rhs, _ = self._weighted(w, warped, stage, stage.weighting, reweight)
            return DataTerm(diagonal, rhs)
        views = np.array(stage.views)
        diagonal, rhs = self._buffer("diagonal", self.shape), self._buffer("rhs", self.shape)
        self._deal(
            data.uniform_term, warped, w, views, self.kinds, self.M, self.m, *self._stack(stage.scales), reweight,
            diagonal, rhs,
        )  # fmt: skip
        return DataTerm(diagonal, rhs)

    def weights(self, w: Field, warped: Field, stage: Stage, step: int) -> Field:
        """The model's weights of every scale and view, at one pixel of every `step` x `step`."""
        kept = np.empty((*sampled(self.shape, step), len(stage.scales), len(stage.views)), np.float32)
        self._weighted(w, warped, stage, stage.weighting, True, kept, step)
        return kept

    def solve(self, w: Field, term: DataTerm, alpha: float, reweight: bool) -> Field:
        """dw of (diagonal + alpha L) dw = rhs - alpha L w."""
        dw, self.inner_iterations = self._solver.solve(w, term, np.float32(alpha), reweight)
        return dw

    def update(self, w: Field, dw: Field, limit: float) -> Field:
        """w + dw with the step limited, then the median filter."""
        stepped, filtered = self._buffer("stepped", self.shape), np.empty_like(w)
        self.clipped = smoothness.limited_step(w, dw, np.float32(limit), stepped)
        self._deal(median_filter, stepped, NETWORK, filtered)
        return filtered

    def report(self, before: Field, after: Field) -> Report:
        """What the last solve did."""
        step_mean, step_max = smoothness.change(before, after)
        rmse = None if self.truth is None else smoothness.rmse(after, self.truth, self.unit)
        return Report(self.inner_iterations, self.clipped, step_mean, step_max, rmse)

    def change(self, before: Field, after: Field) -> float:
        """Mean |after - before|."""
        return smoothness.change(before, after)[0]

    def deviation(self, w: Field, stage: Stage) -> Field:
        """Predicted standard deviation of w, by the model's weights whatever the method's were, smoothed."""
        _, _, precision = self._weighted(w, self.warp(w, stage), stage, Weighting(), True)
        data = model.data_deviation(precision, np.float32(model.prior_deviation(w.min(), w.max())))
        variance = self._buffer("variance", self.shape)  # of this w: the weights needed it
        parts = []
        for image, s in ((data, model.UNCERTAINTY_SIGMA), (variance, model.sigma(0))):
            parts.append(np.empty_like(image))
            self._deal(filters.blur, image, one_sided(model.gaussian(s)), parts[-1])
        deviation: Field = model.deviation(*parts)
        return deviation

    def warped_images(self, w: Field, stage: Stage) -> Field:
        return self.warp(w, stage)

    def another(self, scene: Scene, epsilon: float) -> CpuEngine:
        return CpuEngine(scene, epsilon)

    def _weighted(
        self,
        w: Field,
        warped: Field,
        stage: Stage,
        weighting: Weighting,
        reweight: bool,
        kept: Field = NOTHING_KEPT,
        step: int = 0,
    ) -> tuple[Field, Field, Field]:
        views = np.array(stage.views)
        g2 = self._buffer("g2", (len(views), *self.shape))
        dw2 = self._buffer("dw2", self.shape)
        self._deal(
            data.finest_scale, warped, w, views, self.kinds, self.M, self.m, *self._scale(0), self.epsilon, g2, dw2
        )  # fmt: skip
        use_scale = np.array([weighting.scale and q > 0 for q in stage.scales])
        blurred_dw2 = self._buffer("blurred_dw2", (len(stage.scales), *self.shape))
        for k, q in enumerate(stage.scales):
            if use_scale[k]:
                self._deal(filters.blur, dw2, self._scale(q)[1], blurred_dw2[k])
        noises = np.array([model.acquisition_noise(self.epsilon, model.sigma(q)) for q in stage.scales], np.float32)
        variance = self._buffer("variance", self.shape)
        self._deal(filters.variance, w, one_sided(model.gaussian(model.SIGMA_C), np.float64), variance)
        rings, sectors = rings_and_sectors(self.baselines[views])
        stack = self._stack(stage.scales)
        table = data.table_shape(len(sectors), len(views) * len(stage.scales), self.shape[1], stack[3].max() - 1)
        tables = self._buffer("tables", (numba.get_num_threads(), *table))
        diagonal, rhs, precision = (self._buffer(name, self.shape) for name in ("diagonal", "rhs", "precision"))
        self._deal(
            data.weighted_term, warped, w, views, self.kinds, self.M, self.m, *stack,
            g2, blurred_dw2, weighting.gradient, use_scale, variance, noises, self.epsilon, rings, sectors, reweight,
            tables, diagonal, rhs, precision, kept, step,
        )  # fmt: skip
        return diagonal, rhs, precision

    def _scale(self, q: int) -> tuple[Field, Field, Field]:
        """The reference's filtered image and derivatives at scale q, and the scale's one-sided taps."""
        if q not in self._scales:
            even, odd = one_sided(model.gaussian(model.sigma(q))), one_sided(model.gaussian_derivative(model.sigma(q)))
            fields = np.empty((3, *self.shape), np.float32)
            filters.reference_fields(self.reference, even, odd, fields)
            self._scales[q] = fields, even, odd
        return self._scales[q]

    def _stack(self, scales: tuple[int, ...]) -> tuple[Field, Field, Field, NDArray[np.intp]]:
        """The scales' fields and taps as arrays over scales, taps filled up with zeros."""
        key = f"stack {scales}"
        if key not in self._buffers:
            parts = [self._scale(q) for q in scales]
            taps = np.array([even.size for _, even, _ in parts])
            evens, odds = (
                np.stack([np.pad(part[i], (0, taps.max() - part[i].size)) for part in parts]) for i in (1, 2)
            )
            self._buffers = {k: v for k, v in self._buffers.items() if not k.startswith("stack")}
            self._buffers[key] = np.stack([fields for fields, _, _ in parts]), evens, odds, taps
        return self._buffers[key]

    def _deal(self, kernel: Callable[..., None], *arguments: Any) -> None:
        """Run kernel(chunk, chunks, ...) for all chunks, one a thread."""
        chunks = numba.get_num_threads()
        list(self._threads.map(lambda chunk: kernel(chunk, chunks, *arguments), range(chunks)))

    def _buffer(self, name: str, shape: tuple[int, ...]) -> Field:
        """Memory that is kept from solve to solve."""
        if name not in self._buffers or self._buffers[name].shape != shape:
            self._buffers[name] = np.empty(shape, np.float32)
        return self._buffers[name]


class _Solver:
    """Multigrid's arrays for one image size."""

    def __init__(self, height: int, width: int) -> None:
        self.table, size = multigrid.levels_of(height, width)
        self.data, self.right, self.below, self.diagonal, self.inverse = (np.zeros(size, np.float32) for _ in range(5))
        self.r, self.work, self.z = (np.zeros(size, np.float32) for _ in range(3))
        self.p, self.q, self.x = (np.zeros((height + 2, width + 2), np.float32) for _ in range(3))

    def solve(self, w: Field, term: DataTerm, alpha: np.float32, reweight: bool) -> tuple[Field, int]:
        fine = [multigrid.level(flat, self.table, 0) for flat in (self.data, self.right, self.below, self.r)]
        smoothness.assemble(w, term.diagonal, term.rhs, alpha, reweight, *fine)
        multigrid.set_up(self.table, self.data, self.right, self.below, self.diagonal, self.inverse)
        iterations = multigrid.conjugate_gradients(
            self.table, self.data, self.diagonal, self.inverse, self.right, self.below, self.r, self.work, self.z,
            self.p, self.q, INNER_TOLERANCE, INNER_MOST, self.x,
        )  # fmt: skip
        return self.x[1:-1, 1:-1], iterations
