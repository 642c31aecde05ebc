"""The operations of one solve, written once for each kind of machine.

An engine holds a scene, in baselines normalised so that the shortest is 1, and offers

    upload, download   disparities between the host and the engine's own arrays; `visible` leaves them where they are
    warp               the stage's targets as the reference would see them
    data_term          linearise, weigh: the diagonal and right-hand side of the data term
    weights            the weights that the data term has at some pixels; to be asked for before `data_term`
    solve              the regularised linear system for dw
    update             limit the step, add it, filter by the median
    report             what these four have done
    change             mean difference of two disparity maps
    deviation          the predicted standard deviation of a disparity map
    warped_images      what `warp` made, on the host
    another            an engine of the same kind, for another scene
    aside              in this context, what another thread does need not wait for the engine's work, nor the reverse
    mark, elapsed      a clock of its own

`gradcon.minimise` owns the loop over them.  An engine may work on while the loop goes ahead: `report`, `change`,
`download` and `wait` wait for it.
"""

from __future__ import annotations

import time
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from gradcon.errors import DeviceError, InputError

if TYPE_CHECKING:
    from gradcon.engines.cuda.device import CupyDevice
    from gradcon.methods.options import Options
    from gradcon.methods.schedules import Stage
    from gradcon.scene import Scene

ENGINES = ("auto", "cuda", "cpu", "reference")


class DataTerm(NamedTuple):
    """The data term's part of the system: diagonal * dw = rhs, pixel by pixel."""

    diagonal: Any
    rhs: Any


class Report(NamedTuple):
    """What a solve did; disparities in pixels of the nearest view."""

    inner_iterations: int
    clipped: float  # share of pixels whose step met the limit
    step_mean: float  # mean and largest |change of disparity|, after limit and median
    step_max: float
    rmse: float | None  # against the ground truth, in pixels per unit baseline


class OnHost:
    """What engines on the host have in common: their arrays are NumPy's, and a call returns when its work is done."""

    note = ""

    def download(self, w: Any) -> Any:
        return w

    def visible(self, w: Any) -> Any:
        return w

    def wait(self) -> None:
        pass

    def aside(self) -> AbstractContextManager[Any]:
        return nullcontext()

    def mark(self) -> float:
        return time.perf_counter()

    def elapsed(self, start: float, end: float) -> float:
        return end - start


class Engine(Protocol):
    """What the loop needs of an engine."""

    name: str
    note: str  # on which GPU, or why on none

    def upload(self, w: Any) -> Any: ...
    def download(self, w: Any) -> Any: ...
    def warp(self, w: Any, stage: Stage) -> Any: ...
    def data_term(self, w: Any, warped: Any, stage: Stage, reweight: bool) -> DataTerm: ...
    def weights(self, w: Any, warped: Any, stage: Stage, step: int) -> NDArray[Any]: ...
    def solve(self, w: Any, term: DataTerm, alpha: float, reweight: bool) -> Any: ...
    def update(self, w: Any, dw: Any, limit: float) -> Any: ...
    def report(self, before: Any, after: Any) -> Report: ...
    def change(self, before: Any, after: Any) -> float: ...
    def deviation(self, w: Any, stage: Stage) -> Any: ...
    def visible(self, w: Any) -> Any: ...
    def warped_images(self, w: Any, stage: Stage) -> Any: ...
    def another(self, scene: Scene, epsilon: float) -> Engine: ...
    def wait(self) -> None: ...
    def aside(self) -> AbstractContextManager[Any]: ...
    def mark(self) -> Any: ...
    def elapsed(self, start: Any, end: Any) -> float: ...


def sampled(shape: tuple[int, int], step: int) -> tuple[int, int]:
    """How many pixels there are down and across if one in the middle of every `step` x `step` is taken."""
    return len(range(step // 2, shape[0], step)), len(range(step // 2, shape[1], step))


def known_truth(scene: Scene) -> NDArray[np.float32] | None:
    """The scene's ground truth, if it is known anywhere."""
    truth = scene.ground_truth
    return truth if truth is not None and np.isfinite(truth).any() else None


def create(name: str, scene: Scene, options: Options, after: Engine | None = None) -> Engine:
    """The engine called `name` on a scene; `auto` takes the GPU if it can be used for it, else the CPU.

    `after` is an engine whose work is done, and whose memory the new one may take.
    """
    check(name)
    if name == "reference":
        from gradcon.engines.reference import ReferenceEngine

        return ReferenceEngine(scene, options.epsilon)
    reason = None
    if name != "cpu":
        from gradcon.engines.cuda.engine import CudaEngine

        previous = after if isinstance(after, CudaEngine) else None
        takes_over = previous is not None and previous.fits(scene)
        if previous is not None and not takes_over:
            previous.release()  # or there would be no room for both
        reason = _without_gpu(name) if takes_over else _without_gpu(name, scene, options)
        if reason is None:
            return CudaEngine(scene, options.epsilon, after=previous if takes_over else None)
        if name == "cuda":
            raise _refusal(reason)
    from gradcon.engines.cpu.engine import CpuEngine

    machine = CpuEngine(scene, options.epsilon)
    machine.note = f"no GPU: {reason}" if reason else ""
    return machine


def check(name: str) -> None:
    """Refuse an engine that does not exist."""
    if name not in ENGINES:
        raise InputError(f"engine: {name!r} is not one of {', '.join(ENGINES)}.")


def check_usable(name: str) -> None:
    """Refuse an engine that does not exist, or that this machine cannot run."""
    check(name)
    if name == "cuda" and (reason := _without_gpu(name)):
        raise _refusal(reason)


def _refusal(reason: str) -> InputError:
    return InputError(f"engine: cuda cannot be used: {reason}; use the engine cpu, or auto.")


def gpu_for(name: str) -> CupyDevice | None:
    """The GPU on which an engine of this name will run in this thread, if it will."""
    check(name)
    if name in ("cpu", "reference") or _without_gpu(name):
        return None
    from gradcon.engines.cuda.device import current_device

    return current_device()


def _without_gpu(name: str, *what: Any) -> str | None:
    """Why the GPU is not used; None if it can be.  One that fails matters only to who asked for it."""
    from gradcon.engines.cuda import device as cuda_device

    try:
        return cuda_device.why_not(*what)
    except DeviceError as error:
        if name == "cuda":
            raise
        return str(error).rstrip(".")
