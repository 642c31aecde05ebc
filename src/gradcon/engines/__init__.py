"""The operations of one solve, written once for each kind of machine.

An engine holds a scene, in baselines normalised so that the shortest is 1, and offers

    upload, download   disparities between the host and the engine's own arrays
    warp               the stage's targets as the reference would see them
    data_term          linearise, weigh: the diagonal and right-hand side of the data term
    solve              the regularised linear system for dw
    update             limit the step, add it, filter by the median; and the share of pixels that met the limit
    change             mean and largest difference of two disparity maps
    deviation          the predicted standard deviation of a disparity map

`gradcon.estimate` owns the loop over them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from gradcon.errors import InputError

if TYPE_CHECKING:
    from gradcon.scene import Scene
    from gradcon.schedules import Stage

ENGINES = ("auto", "cpu", "reference")


class DataTerm(NamedTuple):
    """The data term's part of the system: diagonal * dw = rhs, pixel by pixel."""

    diagonal: Any
    rhs: Any


class Engine(Protocol):
    """What the loop needs of an engine."""

    name: str

    def upload(self, w: Any) -> Any: ...
    def download(self, w: Any) -> Any: ...
    def warp(self, w: Any, stage: Stage) -> Any: ...
    def data_term(self, w: Any, warped: Any, stage: Stage, reweight: bool) -> DataTerm: ...
    def solve(self, w: Any, term: DataTerm, alpha: float, reweight: bool) -> tuple[Any, int]: ...
    def update(self, w: Any, dw: Any, limit: float) -> tuple[Any, float]: ...
    def change(self, before: Any, after: Any) -> tuple[float, float]: ...
    def deviation(self, w: Any, stage: Stage, prior: float) -> Any: ...


def create(name: str, scene: Scene, epsilon: float) -> Engine:
    """The engine called `name` on a scene; `auto` takes the fastest that this machine can run."""
    if name == "reference":
        from gradcon.engines.reference import ReferenceEngine

        return ReferenceEngine(scene, epsilon)
    if name in ("auto", "cpu"):
        from gradcon.engines.cpu import CpuEngine

        return CpuEngine(scene, epsilon)
    raise InputError(f"engine: {name!r} is not one of {', '.join(ENGINES)}.")
