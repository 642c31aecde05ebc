"""The default engine: float32, all cores, compiled by Numba at first use and cached.

It computes the equations of `reference` in fused loops: the reference image is filtered once, the data term runs in
tiles that stay in cache, and preconditioned conjugate gradients solve the linear system.  Results do not depend on the
number of threads: one thread computes each pixel, and sums over pixels are added row by row in order.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numba
import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradcon.arrays import sampled, to_host
from gradcon.engines import model
from gradcon.engines.contract import DataTerm, Stage, StepReport, Weighting
from gradcon.engines.cpu import data, filters, smoothness
from gradcon.engines.cpu.arguments import Model, Sample, Scales, Sums, Views, registers
from gradcon.engines.cpu.median import NETWORK, median_filter
from gradcon.engines.cpu.rows import one_sided
from gradcon.engines.cpu.solver import MultigridSolver
from gradcon.engines.cpu.warp import MARGIN, warp_views
from gradcon.engines.host import HostCounts, HostEngine
from gradcon.engines.views import kind_of, order_of
from gradcon.scene import Scene

Field = NDArray[np.float32]
NOTHING_KEPT = np.empty((0, 0, 0, 0), np.float32)


class CpuEngine(HostEngine[Field, Field]):
    """The equations of `reference` in float32, fused and compiled."""

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
        self.unit, self.truth = scene.unit, scene.known_truth
        self._scales: dict[int, tuple[Field, Field, Field]] = {}
        self._stacks: dict[tuple[int, ...], Scales] = {}
        self._buffers: dict[str, Field] = {}
        self._solver = MultigridSolver(*scene.shape)
        self._threads = ThreadPoolExecutor(numba.get_num_threads(), thread_name_prefix="gradcon")

    def upload(self, w: ArrayLike) -> Field:
        return np.ascontiguousarray(to_host(w), dtype=np.float32)

    def warp(self, w: Field, stage: Stage) -> Field:
        views = np.array(stage.views)
        warped = self._buffer("warped", (len(views), *self.shape))
        self._deal(warp_views, self.targets, self.reference, w, views, self.kinds, self.M, self.m, warped)
        return warped

    def data_term(self, w: Field, warped: Field, stage: Stage, reweight: bool, sample: int = 0) -> DataTerm[Field]:
        if stage.weighting.model:
            kept = None
            if sample:
                kept = np.empty((*sampled(self.shape, sample), len(stage.scales), len(stage.views)), np.float32)
            sums, _ = self._weighted(w, warped, stage, stage.weighting, reweight, kept, sample)
            return DataTerm(sums.diagonal, sums.rhs, kept)
        diagonal, rhs = self._buffer("diagonal", self.shape), self._buffer("rhs", self.shape)
        views = self._views(stage, warped)
        self._deal(data.uniform_term, w, views, self._stack(stage.scales), reweight, diagonal, rhs)
        return DataTerm(diagonal, rhs)

    def solve(self, w: Field, term: DataTerm[Field], alpha: float, reweight: bool) -> tuple[Field, HostCounts]:
        dw, iterations = self._solver.solve(w, term, np.float32(alpha), reweight)
        return dw, HostCounts(iterations)

    def update(self, w: Field, dw: Field, limit: float, counts: HostCounts) -> tuple[Field, HostCounts]:
        stepped, filtered = self._buffer("stepped", self.shape), np.empty_like(w)
        clipped = smoothness.limited_step(w, dw, np.float32(limit), stepped)
        self._deal(median_filter, stepped, NETWORK, filtered)
        return filtered, counts._replace(clipped=clipped)

    def report(self, before: Field, after: Field, counts: HostCounts) -> StepReport:
        step_mean, step_max = smoothness.change(before, after)
        rmse = None if self.truth is None else smoothness.rmse(after, self.truth, self.unit)
        return StepReport(counts.inner_iterations, counts.clipped, step_mean, step_max, rmse)

    def change(self, before: Field, after: Field) -> float:
        mean: float = smoothness.change(before, after)[0]
        return mean

    def deviation(self, w: Field, stage: Stage) -> Field:
        sums, variance = self._weighted(w, self.warp(w, stage), stage, Weighting(), True)
        rough = model.data_deviation(sums.precision, np.float32(model.prior_deviation(w.min(), w.max())))
        smooth = []
        for image, s in ((rough, model.UNCERTAINTY_SIGMA), (variance, model.sigma(0))):
            smooth.append(np.empty_like(image))
            self._deal(filters.blur, image, one_sided(model.gaussian(s)), smooth[-1])
        deviation: Field = model.deviation(*smooth)
        return deviation

    def warped_images(self, w: Field, stage: Stage) -> Field:
        return self.warp(w, stage)

    def _weighted(
        self,
        w: Field,
        warped: Field,
        stage: Stage,
        weighting: Weighting,
        reweight: bool,
        kept: Field | None = None,
        step: int = 0,
    ) -> tuple[Sums, Field]:
        """Return the sums of the weighted data term, and the local variance of w; weights go to `kept`."""
        views, scales = self._views(stage, warped), self._stack(stage.scales)
        noise_model = self._model(w, views, stage, weighting)
        at = registers(len(noise_model.order.memberships), len(stage.scales), len(stage.views))
        width = data.table_width(self.shape[1], scales.taps.max() - 1)
        tables = self._buffer("tables", (numba.get_num_threads(), at.rows, width))
        sums = Sums(*(self._buffer(name, self.shape) for name in Sums._fields))
        sample = Sample(NOTHING_KEPT if kept is None else kept, step)
        self._deal(data.weighted_term, w, views, scales, noise_model, reweight, at, tables, sums, sample)
        return sums, noise_model.variance

    def _model(self, w: Field, views: Views, stage: Stage, weighting: Weighting) -> Model:
        """Return what the noise powers are computed from."""
        g2 = self._buffer("g2", views.warped.shape)
        dw2 = self._buffer("dw2", self.shape)
        self._deal(data.finest_scale, w, views, *self._scale(0), self.epsilon, g2, dw2)
        use_scale = np.array([weighting.scale and q > 0 for q in stage.scales])
        blurred_dw2 = self._buffer("blurred_dw2", (len(stage.scales), *self.shape))
        for k, q in enumerate(stage.scales):
            if use_scale[k]:
                self._deal(filters.blur, dw2, self._scale(q)[1], blurred_dw2[k])
        variance = self._buffer("variance", self.shape)
        self._deal(filters.variance, w, one_sided(model.gaussian(model.SIGMA_C), np.float64), variance)
        noises = np.array([model.acquisition_noise(self.epsilon, model.sigma(q)) for q in stage.scales], np.float32)
        order = order_of(self.baselines[views.chosen])
        return Model(g2, blurred_dw2, variance, noises, self.epsilon, weighting.gradient, use_scale, order)

    def _views(self, stage: Stage, warped: Field) -> Views:
        return Views(np.array(stage.views), self.kinds, self.M, self.m, warped)

    def _scale(self, q: int) -> tuple[Field, Field, Field]:
        """Return the reference's filtered image and derivatives at scale q, and the scale's one-sided taps."""
        if q not in self._scales:
            even, odd = one_sided(model.gaussian(model.sigma(q))), one_sided(model.gaussian_derivative(model.sigma(q)))
            fields = np.empty((3, *self.shape), np.float32)
            filters.reference_fields(self.reference, even, odd, fields)
            self._scales[q] = fields, even, odd
        return self._scales[q]

    def _stack(self, scales: tuple[int, ...]) -> Scales:
        """Return the fields and taps of several scales as arrays; the taps are padded with zeros."""
        if scales not in self._stacks:
            parts = [self._scale(q) for q in scales]
            taps = np.array([even.size for _, even, _ in parts])
            evens, odds = (
                np.stack([np.pad(part[i], (0, taps.max() - part[i].size)) for part in parts]) for i in (1, 2)
            )
            stack = Scales(np.stack([fields for fields, _, _ in parts]), evens, odds, taps)
            self._stacks = {scales: stack}  # a stage that has ended does not come back
        return self._stacks[scales]

    def _deal(self, kernel: Callable[..., None], *arguments: Any) -> None:
        """Run kernel(chunk, chunks, ...) for all chunks, one per thread."""
        chunks = numba.get_num_threads()
        list(self._threads.map(lambda chunk: kernel(chunk, chunks, *arguments), range(chunks)))

    def _buffer(self, name: str, shape: tuple[int, ...]) -> Field:
        """Return memory that is kept from solve to solve."""
        if name not in self._buffers or self._buffers[name].shape != shape:
            self._buffers[name] = np.empty(shape, np.float32)
        return self._buffers[name]
