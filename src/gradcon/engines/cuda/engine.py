"""The engine for a GPU: float32, CUDA C++ kernels (`kernels/`), compiled at first use and cached.

It does what `cpu` does.  Everything stays on the device: after a step, the loop reads only a few numbers.
Images are planes whose rows are padded to a multiple of 32 pixels.  One thread computes each pixel, and sums are
added in one order, so that two runs give the same bytes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from gradcon.arrays import sampled
from gradcon.engines import model
from gradcon.engines.choices import BY_DEFAULT, Choices
from gradcon.engines.contract import DataTerm, Engine, Stage, StepReport, Weighting
from gradcon.engines.cuda.device import DeviceArray, Gpu, current_device
from gradcon.engines.cuda.gpus import note_of
from gradcon.engines.cuda.launcher import BLOCK, VARIANCE_MARGIN, Launcher
from gradcon.engines.cuda.plan import (
    SCALE,
    Filter,
    Plan,
    Tiling,
    fill_scale,
    make_filter,
    make_plan,
    tiling,
    view_table,
)
from gradcon.engines.cuda.solver import Solver
from gradcon.engines.filters import Filters, filters_of
from gradcon.engines.views import coupled_frames, frames_of, reference_seen
from gradcon.scene import Scene

PITCH = 32  # pixels; rows are padded to a multiple of it
MEASURE_THREADS = 256


class CudaEngine(Engine[DeviceArray, DeviceArray, DeviceArray]):
    """The equations of `reference` in CUDA kernels.

    `after` is an engine whose work is done.  This one takes over its memory if it fits, so that all frames of a video
    go through one set of buffers.
    """

    name = "cuda"
    device: Gpu

    def __init__(
        self,
        scene: Scene,
        epsilon: float,
        device: Gpu | None = None,
        after: CudaEngine | None = None,
        choices: Choices = BY_DEFAULT,
    ) -> None:
        self.choices, self.filters = choices, filters_of(choices)
        self.device = device or current_device()
        kept = after.buffers if after is not None and after.fits(scene, choices) else {}
        self.buffers: dict[str, DeviceArray] = kept
        self.epsilon = np.float32(epsilon)
        self.shape = scene.shape
        self.plane = scene.shape[0], -(-scene.shape[1] // PITCH) * PITCH
        self.unit, self.note = scene.unit, note_of(self.device.name)
        self.M, self.m, self.baselines = scene.M, scene.m / scene.unit, scene.baselines / scene.unit
        self.frames, seen = frames_of(scene), reference_seen(scene)
        self.coupled = coupled_frames(self.frames, choices)
        self.seen = None if seen is None else self._planes(seen)
        self.reference, self.targets = self._planes(scene.reference), self._planes(scene.targets)
        truth = scene.known_truth
        self.truth = None if truth is None else self._planes(truth * np.float32(scene.unit))
        self.known = 0 if truth is None else int(np.isfinite(truth).sum())
        self.variance_taps = self.device.put(model.gaussian(model.SIGMA_C).astype(np.float32))
        self.nothing_counted = self.device.zeros((2,), np.uint32)
        self.launch = Launcher(self.device, self.shape, self.plane[1])
        self._views: dict[tuple[int, ...], DeviceArray] = {}
        self._filters: dict[tuple[Filters, int], Filter] = {}  # by kind and scale
        self._references: dict[int, DeviceArray] = {}
        self._plans: dict[tuple[Stage, Weighting], Plan] = {}
        self.solver = Solver(self.device, self.shape, self._buffer, choices.smoothness == "isotropic")

    def fits(self, scene: Scene, choices: Choices) -> bool:
        """Return whether an engine for another scene may take over this one's memory.

        Only an image of the same size fits: values that the solver left inside one image would lie in the margins of
        another.  Other choices may need more memory.
        """
        same_size = self.shape == scene.shape and len(self.targets) == len(scene.baselines)
        return same_size and self.choices.of_a_step() == choices.of_a_step()

    def make_room(self, scene: Scene, choices: Choices = BY_DEFAULT) -> None:
        if not self.fits(scene, choices):
            self.buffers, self._references, self._plans = {}, {}, {}
            del self.solver

    def upload(self, w: ArrayLike) -> DeviceArray:
        return self._planes(w)

    def visible(self, plane: DeviceArray) -> DeviceArray:
        return plane[:, : self.shape[1]]

    def warp(self, w: DeviceArray, stage: Stage) -> DeviceArray:
        return self._warp(w, stage, self._buffer("warped", (len(stage.views), *self.plane)))

    def warped_images(self, w: DeviceArray, stage: Stage) -> NDArray[np.float32]:
        warped = self._warp(w, stage, self.device.empty((len(stage.views), *self.plane)))
        return self.device.get(warped[..., : self.shape[1]])

    def data_term(
        self, w: DeviceArray, warped: DeviceArray, stage: Stage, reweight: bool, sample: int = 0
    ) -> DataTerm[DeviceArray]:
        kept = None
        if sample and stage.weighting.model:
            kept = self.device.empty((*sampled(self.shape, sample), len(stage.scales), len(stage.views)))
        diagonal, rhs, _ = self._data_term(w, warped, stage, stage.weighting, reweight, kept, sample)
        return DataTerm(diagonal, rhs, self.device.get(kept) if kept is not None else None)

    def solve(
        self, w: DeviceArray, term: DataTerm[DeviceArray], alpha: float, reweight: bool
    ) -> tuple[DeviceArray, DeviceArray]:
        dw, counts = self._buffer("dw", self.plane), self.device.empty((2,), np.uint32)
        self.solver.launch(w, term, alpha, reweight, dw, counts, self.launch.sizes)
        return dw, counts

    def update(
        self, w: DeviceArray, dw: DeviceArray, limit: float, counts: DeviceArray
    ) -> tuple[DeviceArray, DeviceArray]:
        filtered = self.device.empty(self.plane)
        shared = 4 * ((BLOCK[0] + 4) * (BLOCK[1] + 4) + 1)
        self.launch.pixels("update", [w, dw, np.float32(limit), filtered, counts], shared=shared)
        return filtered, counts

    def report(self, before: DeviceArray, after: DeviceArray, counts: DeviceArray) -> StepReport:
        """Measure the step on the device; this is the only part of a step that waits for it."""
        found = self._measure(before, after, counts)
        return StepReport(
            inner_iterations=int(found["iterations"]),
            clipped=found["clipped"] / (self.shape[0] * self.shape[1]),
            step_mean=found["mean"],
            step_max=found["most"],
            rmse=float(np.sqrt(found["squares"] / self.known)) / self.unit if self.known else None,
        )

    def change(self, before: DeviceArray, after: DeviceArray) -> float:
        return self._measure(before, after, self.nothing_counted)["mean"]

    def deviation(self, w: DeviceArray, stage: Stage) -> DeviceArray:
        _, _, precision = self._data_term(w, self.warp(w, stage), stage, Weighting(), True)
        found = self._measure(w, w, self.nothing_counted)
        prior = np.float32(model.prior_deviation(found["low"], found["high"]))
        rough = [self._buffer(name, self.plane) for name in ("data_deviation", "variance")]
        patch = 4 * (BLOCK[0] + VARIANCE_MARGIN) * (BLOCK[1] + VARIANCE_MARGIN)
        self.launch.pixels("uncertainties", [precision, prior, w, self.variance_taps, *rough], shared=patch)
        smooth = [self._blurred(rough[0], model.UNCERTAINTY_SIGMA), self._blurred(rough[1], model.sigma(0))]
        self.launch.pixels("deviations", [*smooth, smooth[0]])
        return smooth[0]

    def _warp(self, w: DeviceArray, stage: Stage, out: DeviceArray) -> DeviceArray:
        arguments = [self.targets, self.reference, w, self._view_table(stage.views), out]
        self.launch.pixels("warp_views", arguments, planes=len(stage.views))
        return out

    def _data_term(
        self,
        w: DeviceArray,
        warped: DeviceArray,
        stage: Stage,
        weighting: Weighting,
        reweight: bool,
        kept: DeviceArray | None = None,
        step: int = 0,
    ) -> tuple[DeviceArray, DeviceArray, DeviceArray]:
        """Return diagonal, right-hand side and information; the weights of every `step`-th pixel go to `kept`."""
        plan = self._plan(stage, weighting)
        diagonal, rhs, precision = (self._buffer(name, self.plane) for name in ("diagonal", "rhs", "precision"))
        linearise = "linearise_general" if plan.general else "linearise"
        if plan.finest is not None:
            self.launch.tiles(linearise, [warped, w, plan.views, plan.finest], plan.finest_tiling, plan.T, 1)
        g2 = self._buffer("g2", (plan.T + 1, *self.plane)) if plan.blurs else None
        if plan.blurs:
            self.launch.pixels("residual", [np.int32(plan.T), plan.finest, self.epsilon, g2])
        for band in plan.bands:
            rows = band.first_row, band.end_row
            if plan.coarser:
                arguments = [warped, w, plan.views, band.scales]
                self.launch.tiles(linearise, arguments, plan.coarser_tiling, plan.T, plan.coarser, rows)
            if plan.blurs:
                self.launch.tiles("blur", [g2, band.blurs], plan.blur_tiling, plan.T + 1, plan.blurs, rows)
            fields = [np.int32(plan.T), band.scales, np.int32(plan.Q)]
            bounds = [np.int32(rows[0]), np.int32(rows[1])]
            results = [np.int32(reweight), *bounds, diagonal, rhs]
            weights = [np.int32(weighting.gradient), self.epsilon, self.variance_taps]
            if kept is not None:
                sampling = [*fields, *weights, np.int32(step), *bounds, kept]
                self.launch.weigh("keep_weights", [w, plan.trusts, plan.shares, *sampling], plan.group, rows)
            if weighting.model:
                arguments = [w, plan.trusts, plan.shares, *fields, *weights, *results, precision]
                self.launch.weigh("weigh", arguments, plan.group, rows)
            else:
                self.launch.pixels("sum_unweighted", [*fields, *results], rows)
        return diagonal, rhs, precision

    def _measure(self, before: DeviceArray, after: DeviceArray, counts: DeviceArray) -> dict[str, float]:
        """Measure how two disparity maps differ and the range of the second; bring `counts` to the host with it."""
        blocks = 2 * self.device.processors
        found = self._buffer("found", (2 + 5 * blocks,), np.float64)
        truth = self.truth if self.truth is not None else np.uint64(0)
        arguments = [before, after, truth, counts, found, *self.launch.sizes]
        self.device.launch("measure", (blocks, 1, 1), (MEASURE_THREADS, 1, 1), arguments, 8 * MEASURE_THREADS)
        values = self.device.get(found)
        total, most, squares, low, high = values[2:].reshape(5, blocks)
        return {
            "iterations": float(values[0]),
            "clipped": float(values[1]),
            "mean": float(total.sum()) / (self.shape[0] * self.shape[1]),
            "most": float(most.max()),
            "squares": float(squares.sum()),
            "low": float(low.min()),
            "high": float(high.max()),
        }

    def _plan(self, stage: Stage, weighting: Weighting) -> Plan:
        key = stage, weighting
        if key not in self._plans:
            scales = {*stage.scales, 0}
            filters = {q: self._filter(self.filters, q) for q in scales}
            blurring = {q: self._filter(self.filters.equal(), q) for q in scales}
            references = {q: self._reference(q) for q in scales}
            self._plans = {}  # a stage that has ended does not come back
            self._plans[key] = make_plan(
                self.device, stage, weighting, self.M, self.m, self.coupled, self.baselines, self.plane,
                filters, blurring, references, float(self.epsilon), self.choices, self._buffer,
            )  # fmt: skip
        return self._plans[key]

    def _view_table(self, views: tuple[int, ...]) -> DeviceArray:
        if views not in self._views:
            self._views[views] = self.device.put(view_table(self.M, self.m, self.frames, views))
        return self._views[views]

    def _filter(self, kind: Filters, q: int) -> Filter:
        if (kind, q) not in self._filters:
            self._filters[kind, q] = make_filter(self.device, kind.smoothing(q), kind.derivative(q))
        return self._filters[kind, q]

    def _reference(self, q: int) -> DeviceArray:
        """Return the reference smoothed at scale q, and its derivatives in x and y."""
        if q not in self._references:
            smoothing = self._filter(self.filters, q)
            self._references[q] = self.device.zeros((3, *self.plane))
            table = np.zeros(1, SCALE)
            fill_scale(table[0], smoothing, self.device, reference=self._references[q])
            self.launch.tiles(
                "reference_fields", [self.reference, self.device.put(table)], self._tiling(smoothing), 1, 1
            )
        return self._references[q]

    def _blurred(self, image: DeviceArray, s: float) -> DeviceArray:
        """Return a plane smoothed with standard deviation `s`."""
        gaussian = make_filter(self.device, model.gaussian(s), model.gaussian_derivative(s))
        table, smooth = np.zeros(1, SCALE), self.device.empty(self.plane)
        fill_scale(table[0], gaussian, self.device, blurred_g2=smooth)
        self.launch.tiles("blur", [image, self.device.put(table)], self._tiling(gaussian), 1, 1)
        return smooth

    def _tiling(self, smoothing: Filter) -> Tiling:
        return tiling(smoothing.steps, 3, self.device.shared_limit)

    def _planes(self, images: ArrayLike) -> DeviceArray:
        """Return images on the device, with padded rows."""
        return self.device.planes(images, self.plane[1])

    def _buffer(self, name: str, shape: tuple[int, ...], dtype: DTypeLike = np.float32) -> DeviceArray:
        """Return memory that is kept from solve to solve, and is zero at first."""
        if name not in self.buffers or self.buffers[name].shape != shape:
            self.buffers.pop(name, None)
            self.buffers[name] = self.device.zeros(shape, dtype)
        return self.buffers[name]
