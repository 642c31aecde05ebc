"""The default engine: float32, all cores, compiled by Numba at first use and cached.

It computes the equations of `reference` in fused loops: the reference image is filtered once a stage, the data term
runs down the image in rings of rows, and preconditioned conjugate gradients solve the linear system.  Results do not
depend on the number of threads: one thread computes each pixel, and sums over pixels are added row by row in order.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradcon.arrays import sampled, to_host
from gradcon.engines import model
from gradcon.engines.choices import BY_DEFAULT, Choices
from gradcon.engines.contract import DataTerm, Stage, StepReport, Weighting
from gradcon.engines.cpu import smoothness
from gradcon.engines.cpu.arguments import Model, Sample, Scales, Sums, Views
from gradcon.engines.cpu.banks import bank_of
from gradcon.engines.cpu.data import data_term
from gradcon.engines.cpu.filters import blur, derivatives
from gradcon.engines.cpu.layout import layout_of, table_shape
from gradcon.engines.cpu.median import median_filter
from gradcon.engines.cpu.memory import aligned, aligned_copy
from gradcon.engines.cpu.solver import MultigridSolver
from gradcon.engines.cpu.threads import Threads
from gradcon.engines.cpu.variance import local_variances
from gradcon.engines.cpu.warp import warp_views, with_margins
from gradcon.engines.filters import filters_of
from gradcon.engines.host import HostCounts, HostEngine
from gradcon.engines.views import coupled_frames, frames_of, kind_of, order_of, reference_seen
from gradcon.scene import Scene

Field = NDArray[np.float32]
NOTHING_KEPT = np.empty((0, 0, 0, 0), np.float32)


class CpuEngine(HostEngine[Field, Field]):
    """The equations of `reference` in float32, fused and compiled."""

    name = "cpu"

    def __init__(
        self, scene: Scene, epsilon: float, threads: Threads | None = None, choices: Choices = BY_DEFAULT
    ) -> None:
        scene = scene.to_host()
        self.choices, self.filters = choices, filters_of(choices)
        self.epsilon = np.float32(epsilon)
        self.shape = scene.shape
        self.reference = scene.reference
        self.M, self.m = scene.M, scene.m / scene.unit
        self.baselines = scene.baselines / scene.unit
        self.frames = frames_of(scene)
        self.coupled = coupled_frames(self.frames, choices)
        self.kinds = np.array([kind_of(M, m) for M, m in zip(self.M, self.m, strict=True)])
        self.targets = with_margins(scene.targets, self.kinds)
        self.unit, self.truth = scene.unit, scene.known_truth
        self._scales: dict[tuple[int, ...], Scales] = {}
        self._buffers: dict[str, Field] = {}
        self._threads = threads or Threads()
        self.seen = reference_seen(scene)
        self._solver = MultigridSolver(*scene.shape, self._threads, choices.smoothness)

    def upload(self, w: ArrayLike) -> Field:
        return np.ascontiguousarray(to_host(w), dtype=np.float32)

    def warp(self, w: Field, stage: Stage) -> Field:
        """Return the stage's targets, warped, less the reference."""
        views = np.array(stage.views)
        differences = self._buffer("differences", (len(views), *self.shape))
        self._threads.deal(
            warp_views, self.targets, self.reference, w, views, self.kinds, self.M, self.m, self.frames, differences
        )
        return differences

    def data_term(self, w: Field, warped: Field, stage: Stage, reweight: bool, sample: int = 0) -> DataTerm[Field]:
        kept = None
        if sample and stage.weighting.model:
            kept = np.empty((*sampled(self.shape, sample), len(stage.scales), len(stage.views)), np.float32)
        sums, _ = self._sums(w, warped, stage, stage.weighting, reweight, kept, sample)
        return DataTerm(sums.diagonal, sums.rhs, kept)

    def solve(self, w: Field, term: DataTerm[Field], alpha: float, reweight: bool) -> tuple[Field, HostCounts]:
        dw, iterations = self._solver.solve(w, term, np.float32(alpha), reweight)
        return dw, HostCounts(iterations)

    def update(self, w: Field, dw: Field, limit: float, counts: HostCounts) -> tuple[Field, HostCounts]:
        stepped, filtered = self._buffer("stepped", self.shape), aligned(w.shape)
        met = np.empty(len(w), np.int64)
        self._threads.deal(smoothness.limited_step, w, dw, np.float32(limit), stepped, met)
        self._threads.deal(median_filter, stepped, filtered)
        return filtered, counts._replace(clipped=int(met.sum()) / w.size)

    def report(self, before: Field, after: Field, counts: HostCounts) -> StepReport:
        step_mean, step_max = smoothness.change(before, after)
        rmse = None if self.truth is None else smoothness.rmse(after, self.truth, self.unit)
        return StepReport(counts.inner_iterations, counts.clipped, step_mean, step_max, rmse)

    def change(self, before: Field, after: Field) -> float:
        mean: float = smoothness.change(before, after)[0]
        return mean

    def deviation(self, w: Field, stage: Stage) -> Field:
        sums, noise_model = self._sums(w, self.warp(w, stage), stage, Weighting(), True)
        rough = model.data_deviation(sums.precision, np.float32(model.prior_deviation(w.min(), w.max())))
        smooth = (
            blur(rough, model.gaussian(model.UNCERTAINTY_SIGMA)),
            blur(noise_model.variance, model.gaussian(model.sigma(0))),
        )
        deviation: Field = model.deviation(*smooth)
        return deviation

    def warped_images(self, w: Field, stage: Stage) -> Field:
        return self.warp(w, stage) + self.reference

    def _sums(
        self,
        w: Field,
        differences: Field,
        stage: Stage,
        weighting: Weighting,
        reweight: bool,
        kept: Field | None = None,
        step: int = 0,
    ) -> tuple[Sums, Model]:
        """Return the sums of the data term, and the noise model; weights go to `kept`."""
        views = Views(
            np.array(stage.views), self.kinds, self.M, self.m, self.coupled, differences.reshape(-1, self.shape[1])
        )
        noise_model, scales = self._model(w, views, stage, weighting), self._scales_of(stage)
        directions, T = noise_model.order.memberships.shape
        at = layout_of(self.shape[1], scales, T, directions, weighting.model, noise_model.lowest)
        tables = self._buffer("tables", table_shape(at, self._threads.count))
        sums = Sums(*(self._buffer(name, self.shape) for name in Sums._fields))
        sample = Sample(NOTHING_KEPT, 0) if kept is None else Sample(kept, step)
        self._threads.deal(data_term, w, views, scales, noise_model, reweight, at, tables, sums, sample)
        return sums, noise_model

    def _model(self, w: Field, views: Views, stage: Stage, weighting: Weighting) -> Model:
        """Return what the noise powers are computed from."""
        variance = self._buffer("variance", self.shape)
        if weighting.model:
            self._threads.deal(local_variances, w, model.gaussian(model.SIGMA_C), variance)
        noises = np.array([model.acquisition_noise(self.epsilon, model.sigma(q)) for q in stage.scales], np.float32)
        lowest = 1 + max(stage.scales)
        if weighting.model and weighting.scale:
            lowest = 0 if self.choices.scale_term == "every" else 1
        order = order_of(self.baselines[views.chosen], self.choices.sectors == "closed")
        return Model(weighting.model, variance, noises, self.epsilon, weighting.gradient, lowest, order)

    def _scales_of(self, stage: Stage) -> Scales:
        """Return the stage's scales; the reference's derivatives are kept as long as the stage lasts."""
        if stage.scales not in self._scales:
            fields = sorted({0, *stage.scales})
            levels = 1 + max(stage.scales)
            along = [derivatives(self.reference, self.filters, q) for q in fields]
            scales = Scales(
                used=np.array(stage.scales),
                smoothing=bank_of(self.filters, levels),
                blurring=bank_of(self.filters._replace(composed=False), levels),
                derivatives=aligned_copy(np.concatenate(along)),
                place=np.array([fields.index(q) if q in fields else -1 for q in range(levels)]),
            )
            self._scales = {stage.scales: scales}
        return self._scales[stage.scales]

    def _buffer(self, name: str, shape: tuple[int, ...]) -> Field:
        """Return memory that is kept from solve to solve."""
        if name not in self._buffers or self._buffers[name].shape != shape:
            self._buffers[name] = aligned(shape)
        return self._buffers[name]
