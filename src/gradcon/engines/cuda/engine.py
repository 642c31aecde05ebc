"""The engine for a GPU: float32, CUDA C++ kernels (`kernels*.cu`), compiled at first use and cached.

The same operations as `cpu`.  Everything stays on the device: what the loop asks for after a solve is one small
read.  Images are planes whose rows are filled up to a multiple of 32 pixels.  Every pixel is computed by one thread
and sums are added in one order, so that two runs give the same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.engines import DataTerm, Report, known_truth, model, sampled
from gradcon.engines.cuda.device import Device, current_device
from gradcon.engines.cuda.plan import (
    SCALE,
    TILE_ROWS,
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
from gradcon.errors import InputError
from gradcon.methods.schedules import Stage, Weighting
from gradcon.scene import Scene

PITCH = 32  # pixels; rows are filled up to a multiple of it
FILTER_THREADS = 256
BLOCK = (32, 8)  # of the kernels that work pixel by pixel
MEASURE_THREADS = 256
VARIANCE_MARGIN = len(model.gaussian(model.SIGMA_C)) - 1  # of w around a block, both sides together


class CudaEngine:
    """The operations of one solve on a scene whose baselines are normalised to a shortest one of 1.

    `after` is an engine whose work is done, and whose memory this one takes over if it fits: all frames of a video go
    through one set of buffers.
    """

    name = "cuda"

    def __init__(
        self, scene: Scene, epsilon: float, device: Device | None = None, after: CudaEngine | None = None
    ) -> None:
        self.device = device or current_device()
        self.buffers: dict[str, Any] = after.buffers if after is not None and after.fits(scene) else {}
        self.epsilon = np.float32(epsilon)
        self.shape = scene.shape
        self.plane = scene.shape[0], -(-scene.shape[1] // PITCH) * PITCH
        self.unit, self.note = scene.unit, self.device.name
        self.M, self.m, self.baselines = scene.M, scene.m / scene.unit, scene.baselines / scene.unit
        self.reference, self.targets = self._planes(scene.reference), self._planes(scene.targets)
        truth = known_truth(scene)
        self.truth = None if truth is None else self._planes(truth * np.float32(scene.unit))
        self.known = 0 if truth is None else int(np.isfinite(truth).sum())
        self.variance_taps = self.device.put(model.gaussian(model.SIGMA_C).astype(np.float32))
        self.counts = self.device.zeros((2,), np.uint32)  # inner iterations, pixels that met the limit
        self._views: dict[tuple[int, ...], Any] = {}
        self._filters: dict[float, Filter] = {}
        self._references: dict[int, Any] = {}
        self._plans: dict[tuple[Stage, Weighting], Plan] = {}
        self.solver = Solver(self.device, self.shape, self._buffer)

    def fits(self, scene: Scene) -> bool:
        """Whether another scene's engine may take this one's memory.

        Only for the same size: what the solver left in the middle of one image would be in another one's margins.
        """
        return self.shape == scene.shape and len(self.targets) == len(scene.targets)

    def release(self) -> None:
        """Give up all memory but that of the scene; nothing can be computed afterwards."""
        self.buffers, self._references, self._plans = {}, {}, {}
        del self.solver

    def upload(self, w: Any) -> Any:
        return self._planes(w)

    def download(self, w: Any) -> NDArray[np.float32]:
        return self.device.get(self.visible(w))

    def visible(self, w: Any) -> Any:
        """A plane without what fills up its rows, still on the device."""
        return w[:, : self.shape[1]]

    def warp(self, w: Any, stage: Stage) -> Any:
        """The stage's targets as the reference would see them, (views, height, pitch)."""
        return self._warp(w, stage, self._buffer("warped", (len(stage.views), *self.plane)))

    def warped_images(self, w: Any, stage: Stage) -> NDArray[np.float32]:
        warped = self._warp(w, stage, self.device.empty((len(stage.views), *self.plane)))
        return self.device.get(warped[..., : self.shape[1]])

    def another(self, scene: Scene, epsilon: float) -> CudaEngine:
        return CudaEngine(scene, epsilon, self.device)

    def data_term(self, w: Any, warped: Any, stage: Stage, reweight: bool) -> DataTerm:
        """Diagonal and right-hand side of the data term, with the stage's weights; they last until the next call."""
        diagonal, rhs, _ = self._data_term(w, warped, stage, stage.weighting, reweight)
        return DataTerm(diagonal, rhs)

    def weights(self, w: Any, warped: Any, stage: Stage, step: int) -> NDArray[np.float32]:
        """The model's weights of every scale and view, at one pixel of every `step` x `step`."""
        kept = self.device.empty((*sampled(self.shape, step), len(stage.scales), len(stage.views)))
        self._data_term(w, warped, stage, stage.weighting, True, (kept, step))
        return self.device.get(kept)

    def solve(self, w: Any, term: DataTerm, alpha: float, reweight: bool) -> Any:
        """dw of (diagonal + alpha L) dw = rhs - alpha L w."""
        dw = self._buffer("dw", self.plane)
        self.solver.launch(w, term, alpha, reweight, dw, self.counts, self._sizes())
        return dw

    def update(self, w: Any, dw: Any, limit: float) -> Any:
        """w + dw with the step limited, then the median filter."""
        filtered = self.device.empty(self.plane)
        shared = 4 * ((BLOCK[0] + 4) * (BLOCK[1] + 4) + 1)
        self._pixels("update", [w, dw, np.float32(limit), filtered, self.counts], shared=shared)
        return filtered

    def report(self, before: Any, after: Any) -> Report:
        """What the last solve did: the one place where the host waits for the device."""
        found = self._measure(before, after)
        return Report(
            inner_iterations=int(found["iterations"]),
            clipped=found["clipped"] / (self.shape[0] * self.shape[1]),
            step_mean=found["mean"],
            step_max=found["most"],
            rmse=float(np.sqrt(found["squares"] / self.known)) / self.unit if self.known else None,
        )

    def change(self, before: Any, after: Any) -> float:
        """Mean |after - before|."""
        return self._measure(before, after)["mean"]

    def deviation(self, w: Any, stage: Stage) -> Any:
        """Predicted standard deviation of w, by the model's weights whatever the method's were, smoothed."""
        _, _, precision = self._data_term(w, self.warp(w, stage), stage, Weighting(), True)
        found = self._measure(w, w)
        prior = np.float32(model.prior_deviation(found["low"], found["high"]))
        rough = [self._buffer(name, self.plane) for name in ("data_deviation", "variance")]
        patch = 4 * (BLOCK[0] + VARIANCE_MARGIN) * (BLOCK[1] + VARIANCE_MARGIN)
        self._pixels("uncertainties", [precision, prior, w, self.variance_taps, *rough], shared=patch)
        smooth = [self._blurred(rough[0], model.UNCERTAINTY_SIGMA), self._blurred(rough[1], model.sigma(0))]
        self._pixels("deviations", [*smooth, smooth[0]])
        return smooth[0]

    def wait(self) -> None:
        """Until the device has done all that it was told."""
        self.device.wait()

    def aside(self) -> AbstractContextManager[Any]:
        return self.device.aside()

    def mark(self) -> Any:
        """A moment on the device's clock."""
        return self.device.mark()

    def elapsed(self, start: Any, end: Any) -> float:
        """Seconds between two moments that have passed."""
        return self.device.elapsed(start, end)

    def _warp(self, w: Any, stage: Stage, out: Any) -> Any:
        arguments = [self.targets, self.reference, w, self._view_table(stage.views), out]
        self._pixels("warp_views", arguments, planes=len(stage.views))
        return out

    def _data_term(
        self,
        w: Any,
        warped: Any,
        stage: Stage,
        weighting: Weighting,
        reweight: bool,
        keep: tuple[Any, int] | None = None,
    ) -> tuple[Any, Any, Any]:
        """Diagonal, right-hand side and information; with `keep`, its array gets the weights, and they nothing."""
        plan = self._plan(stage, weighting)
        diagonal, rhs, precision = (self._buffer(name, self.plane) for name in ("diagonal", "rhs", "precision"))
        linearise = "linearise_general" if plan.general else "linearise"
        if plan.finest is not None:
            self._tiles(linearise, [warped, w, plan.views, plan.finest], plan.finest_tiling, plan.T, 1)
        g2 = self._buffer("g2", (plan.T + 1, *self.plane)) if plan.scale_term else None
        if plan.scale_term:
            self._pixels("residual", [np.int32(plan.T), plan.finest, self.epsilon, g2])
        for band in plan.bands:
            rows = band.first_row, band.end_row
            if plan.coarser:
                arguments = [warped, w, plan.views, band.scales]
                self._tiles(linearise, arguments, plan.coarser_tiling, plan.T, plan.coarser, rows)
            if plan.scale_term:
                self._tiles("blur", [g2, band.scales], plan.blur_tiling, plan.T + 1, plan.coarser, rows)
            fields = [np.int32(plan.T), band.scales, np.int32(plan.Q)]
            bounds = [np.int32(rows[0]), np.int32(rows[1])]
            results = [np.int32(reweight), *bounds, diagonal, rhs]
            weights = [np.int32(weighting.gradient), self.epsilon, self.variance_taps]
            if keep is not None:
                kept, step = keep
                sampling = [*fields, *weights, np.int32(step), *bounds, kept]
                self._weigh("keep_weights", [w, plan.trusts, *sampling], plan.group, rows)
            elif weighting.model:
                self._weigh("weigh", [w, plan.trusts, *fields, *weights, *results, precision], plan.group, rows)
            else:
                self._pixels("sum_unweighted", [*fields, *results], rows)
        return diagonal, rhs, precision

    def _measure(self, before: Any, after: Any) -> dict[str, float]:
        """How two disparity maps differ, the range of the second, and the counts of the last solve."""
        blocks = 2 * self.device.processors
        found = self._buffer("found", (2 + 5 * blocks,), np.float64)
        truth = self.truth if self.truth is not None else np.uint64(0)
        arguments = [before, after, truth, self.counts, found, *self._sizes()]
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
            filters = {q: self._filter(model.sigma(q)) for q in scales}
            references = {q: self._reference(q) for q in scales}
            self._plans = {}  # a stage that has ended does not come back
            self._plans[key] = make_plan(
                self.device, stage, weighting, self.M, self.m, self.baselines, self.plane, filters, references,
                float(self.epsilon), self._buffer,
            )  # fmt: skip
        return self._plans[key]

    def _view_table(self, views: tuple[int, ...]) -> Any:
        if views not in self._views:
            self._views[views] = self.device.put(view_table(self.M, self.m, views))
        return self._views[views]

    def _filter(self, s: float) -> Filter:
        if s not in self._filters:
            self._filters[s] = make_filter(self.device, s)
        return self._filters[s]

    def _reference(self, q: int) -> Any:
        """The reference smoothed at scale q, and its derivatives in x and y."""
        if q not in self._references:
            gaussian = self._filter(model.sigma(q))
            self._references[q] = self.device.zeros((3, *self.plane))
            table = np.zeros(1, SCALE)
            fill_scale(table[0], gaussian, self.device, reference=self._references[q])
            self._tiles("reference_fields", [self.reference, self.device.put(table)], self._tiling(gaussian), 1, 1)
        return self._references[q]

    def _blurred(self, image: Any, s: float) -> Any:
        """A plane smoothed with standard deviation `s`."""
        gaussian, table, smooth = self._filter(s), np.zeros(1, SCALE), self.device.empty(self.plane)
        fill_scale(table[0], gaussian, self.device, blurred_g2=smooth, has_scale_term=1)
        self._tiles("blur", [image, self.device.put(table)], self._tiling(gaussian), 1, 1)
        return smooth

    def _tiling(self, gaussian: Filter) -> Tiling:
        return tiling(gaussian.steps, 3, self.device.shared_limit)

    def _tiles(
        self,
        kernel: str,
        arguments: Sequence[Any],
        tiles: Tiling,
        planes: int,
        scales: int,
        rows: tuple[int, int] | None = None,
    ) -> None:
        """Launch a filter on some rows of every plane and scale."""
        first, end = rows or (0, self.shape[0])
        across, down = -(-self.shape[1] // tiles.width), -(-(end - first) // TILE_ROWS)
        bounds = [np.int32(tiles.width), np.int32(first), np.int32(end)]
        grid = across * down, planes, scales
        self.device.launch(kernel, grid, (FILTER_THREADS, 1, 1), [*arguments, *bounds, *self._sizes()], tiles.shared)

    def _weigh(self, kernel: str, arguments: Sequence[Any], group: int, rows: tuple[int, int]) -> None:
        """Launch a kernel that weighs, in blocks whose N^2, one a pixel and view of a group, fit into shared memory."""
        height, margin = BLOCK[1], VARIANCE_MARGIN

        def shared() -> int:
            return 4 * ((BLOCK[0] + margin) * (height + margin) + group * BLOCK[0] * height)

        while height > 1 and shared() > self.device.shared_limit // 2:
            height //= 2
        if shared() > self.device.shared_limit:
            raise InputError(f"engine: {group} views at one distance are too many for this GPU; use the engine cpu.")
        self._pixels(kernel, arguments, rows, shared=shared(), block=(BLOCK[0], height))

    def _pixels(
        self,
        kernel: str,
        arguments: Sequence[Any],
        rows: tuple[int, int] | None = None,
        planes: int = 1,
        shared: int = 0,
        block: tuple[int, int] = BLOCK,
    ) -> None:
        """Launch a kernel with a thread for every pixel of some rows."""
        first, end = rows or (0, self.shape[0])
        grid = -(-self.shape[1] // block[0]), -(-(end - first) // block[1]), planes
        self.device.launch(kernel, grid, (*block, 1), [*arguments, *self._sizes()], shared)

    def _sizes(self) -> tuple[Any, ...]:
        return np.int32(self.shape[0]), np.int32(self.shape[1]), np.int32(self.plane[1])

    def _planes(self, images: Any) -> Any:
        """Images on the device, with their rows filled up."""
        return self.device.planes(images, self.plane[1])

    def _buffer(self, name: str, shape: tuple[int, ...], dtype: Any = np.float32) -> Any:
        """Memory that is kept from solve to solve; zero at first."""
        if name not in self.buffers or self.buffers[name].shape != shape:
            self.buffers.pop(name, None)
            self.buffers[name] = self.device.zeros(shape, dtype)
        return self.buffers[name]
