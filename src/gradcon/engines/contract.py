"""What an engine is: the arithmetic of one step from a disparity map to a better one.

An engine holds a scene whose baselines are normalised so that the shortest is 1.  For a disparity w it computes

    step(w, stage)      1  warp         the stage's targets as the reference would see them
                        2  data_term    linearise and weigh them: diagonal and right-hand side
                        3  solve        the regularised linear system for dw
                        4  update       limit dw, add it to w, filter by the median
                        5  report       what the step did

`gradcon.methods` owns the loop over steps.  The loop and the benchmark both call `step`; only
the recorder of weights and the tests call its parts.  A part takes what it needs as arguments and returns what it
found.  The arrays that it returns belong to the engine, which reuses their memory in its next step.

An engine may still be at work when a call returns: `report`, `change` and its device's `get` and `wait` wait for it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradcon.engines.choices import BY_DEFAULT, Choices
from gradcon.engines.device import Clock, Device
from gradcon.scene import Scene


@dataclass(frozen=True)
class Weighting:
    """Which data-term weights a stage uses: unit weights, or the model's with or without its terms."""

    model: bool = True
    gradient: bool = True
    scale: bool = True


@dataclass(frozen=True)
class Stage:
    """One stage of a run, in baselines normalised so that the shortest is 1."""

    views: tuple[int, ...]  # indices of targets
    scales: tuple[int, ...]  # q, coarsest first
    alpha: float
    limit: float  # of |dw|
    weighting: Weighting


Plane = TypeVar("Plane")  # an engine's own array with one value per pixel
Warped = TypeVar("Warped")  # an engine's own form of the warped targets
Counts = TypeVar("Counts")  # an engine's own form of the numbers counted during a step


class DataTerm(NamedTuple, Generic[Plane]):
    """The data term's part of the system: diagonal * dw = rhs, pixel by pixel."""

    diagonal: Plane
    rhs: Plane
    weights: NDArray[Any] | None = None  # (down, across, scale, view) at sampled pixels, if they were asked for


class StepReport(NamedTuple):
    """What a step did; disparities are in pixels of the nearest view."""

    inner_iterations: int  # of the linear system; 0 if it was solved directly
    clipped: float  # share of pixels whose step met the limit
    step_mean: float  # mean and largest |change of disparity|, after limit and median
    step_max: float
    rmse: float | None  # against the ground truth, in pixels per unit baseline


class Step(NamedTuple, Generic[Plane]):
    """A step that was taken."""

    w: Plane
    report: StepReport
    weights: NDArray[Any] | None  # as in DataTerm


class Engine(ABC, Generic[Plane, Warped, Counts]):
    """The arithmetic of one step on one scene."""

    name: ClassVar[str]
    note: str = ""  # which GPU is used, or why none is
    device: Device
    choices: Choices  # about the arithmetic of a step
    seen: Any = None  # a plane, 1 where the reference's camera saw something, 0 elsewhere; None if it saw everything

    def step(
        self, w: Plane, stage: Stage, *, reweight: bool = True, sample: int = 0, clock: Clock | None = None
    ) -> Step[Plane]:
        """Return the disparity after one step from w, and what the step did.

        Parameters
        ----------
        w : Plane
            The disparity, in pixels of the nearest view.
        stage : Stage
        reweight : bool
            Whether to weigh by the residuals at w (R and phi in `model`); False while w is not an estimate yet.
        sample : int
            Also return the model's weights at the middle pixel of every `sample` x `sample` block; 0 for none.
        clock : Clock, optional
            Counts the seconds of each part by its name.
        """
        clock = clock or Clock(self.device)
        warped = clock("warp", self.warp, w, stage)
        term = clock("data_term", self.data_term, w, warped, stage, reweight, sample)
        if self.seen is not None:  # elsewhere the neighbours alone decide
            term = term._replace(diagonal=self.seen * term.diagonal, rhs=self.seen * term.rhs)
        whole = reweight and self.choices.smoothness_weight == "whole"
        dw, counts = clock("solve", self.solve, w, term, stage.alpha * (2.0 if whole else 1.0), reweight)
        after, counts = clock("update", self.update, w, dw, stage.limit, counts)
        return Step(after, self.report(w, after, counts), term.weights)

    @abstractmethod
    def warp(self, w: Plane, stage: Stage) -> Warped:
        """Return the stage's targets as the reference would see them at disparity w."""

    @abstractmethod
    def data_term(self, w: Plane, warped: Warped, stage: Stage, reweight: bool, sample: int = 0) -> DataTerm[Plane]:
        """Return the data term with the stage's weights; `sample` as in `step`."""

    @abstractmethod
    def solve(self, w: Plane, term: DataTerm[Plane], alpha: float, reweight: bool) -> tuple[Plane, Counts]:
        """Return dw of (diagonal + alpha L) dw = rhs - alpha L w, and how many iterations it took."""

    @abstractmethod
    def update(self, w: Plane, dw: Plane, limit: float, counts: Counts) -> tuple[Plane, Counts]:
        """Return median(w + dw) with |dw| limited, and `counts` with the pixels that met the limit."""

    @abstractmethod
    def report(self, before: Plane, after: Plane, counts: Counts) -> StepReport:
        """Return what the step from `before` to `after` did."""

    @abstractmethod
    def change(self, before: Plane, after: Plane) -> float:
        """Return the mean of |after - before|."""

    @abstractmethod
    def deviation(self, w: Plane, stage: Stage) -> Plane:
        """Return the predicted standard deviation of w by the model's weights, whichever weights the stage uses."""

    @abstractmethod
    def warped_images(self, w: Plane, stage: Stage) -> NDArray[np.floating[Any]]:
        """Return what `warp` makes, (views, height, width), in the host's memory."""

    @abstractmethod
    def upload(self, w: ArrayLike) -> Plane:
        """Return a disparity map as the engine's own array."""

    @abstractmethod
    def visible(self, plane: Plane) -> Any:
        """Return a plane as an array of (height, width) in the device's memory, without any padding."""

    def download(self, plane: Plane) -> NDArray[np.floating[Any]]:
        """Return a plane as an array of (height, width) in the host's memory."""
        return self.device.get(self.visible(plane))

    def make_room(self, scene: Scene, choices: Choices = BY_DEFAULT) -> None:
        """Release memory that an engine for `scene` could not take over; an engine that did so is no longer usable.

        Engines without memory of their own have nothing to do.
        """


AnyEngine = Engine[Any, Any, Any]  # for code that hands planes from one call to the next and never looks into them
