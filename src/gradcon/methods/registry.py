"""The methods by name.

To add one of the paper's kind, add a recipe to `schedules`.  To add another kind, write a module with a function
`minimise`, which takes what `gradcon.methods.loop.minimise` takes and returns a `MethodRun`, and add one line to
`METHODS`.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from numpy.typing import ArrayLike

from gradcon import engines
from gradcon.arrays import as_array
from gradcon.engines import Clock, Engine, Stage, Worker
from gradcon.errors import InputError
from gradcon.methods.schedules import RECIPES, stages_of
from gradcon.methods.sweep.settings import TERMS as SWEEP_TERMS
from gradcon.result import Solve
from gradcon.result.stopped import Stopped
from gradcon.result.weights import Weights
from gradcon.scene import Scene
from gradcon.scene.numbers import finite_number, shortly

if TYPE_CHECKING:
    from gradcon.methods.look import Look
    from gradcon.methods.loop import Callback
    from gradcon.methods.options import Options

DEFAULT = "sweep"
PARAMETERS = ("disparity_range", "noise", "gains", "align")  # of every method
PAPER_PARAMETERS = ("alpha", "epsilon", "scales", "solves", *PARAMETERS, "choices", "use_inspection")
MODEL_TERMS = {  # of the Gradient Consistency Model
    "gradient": "ignores that gradients differ between views",
    "scale": "ignores that gradients differ between scales",
}


class MethodRun(Protocol):
    """A run that has ended: what an estimate needs of it, whatever the method does."""

    engine: Worker
    clock: Clock
    history: list[Solve]  # empty if the method has no solves
    stopped: Stopped | None

    def maps(self) -> tuple[Any, Any]:
        """Return the disparity and its uncertainty, in pixels per unit baseline, in the engine's memory."""

    def weights(self) -> Weights | None:
        """Return which views and scales were trusted, if that was recorded."""

    def choices(self) -> dict[str, Any]:
        """Return the parameters that the method chose by itself."""


class MethodModule(Protocol):
    """What a method's module offers; it is imported when the method is used."""

    def minimise(
        self,
        scene: Scene,
        options: Options,
        *,
        initial: ArrayLike | None = None,
        engine: Any = "auto",
        progress: bool = False,
        callback: Callback | None = None,
        keep_weights: bool = False,
        look: Look | None = None,
    ) -> MethodRun:
        """Estimate the disparity of a scene; `look` is what is known about it already."""


@dataclass(frozen=True)
class Method:
    """A method, known without importing it."""

    name: str
    module: str
    terms: Mapping[str, str] = field(default_factory=dict)  # what an ablation may leave out, and what that changes
    parameters: tuple[str, ...] = ()  # the fields of `Options` that it has besides `method` and `without`
    start: float | None = None  # the disparity to start from by default; None if it searches all disparities
    sweeps: bool = False  # it needs the operations of `gradcon.engines.sweep`, not those of a step

    def load(self) -> MethodModule:
        return importlib.import_module(self.module)

    def create(self, engine: str, scene: Scene, options: Options, after: Worker | None = None) -> Worker:
        """Make the engine that the method runs on; `after` is one whose work is done."""
        if self.sweeps:
            from gradcon.engines.sweep_views import views_of  # `gradcon --help` need not wait for it

            return engines.create_sweep(engine, views_of(scene, colour=options.without != "colour"))
        before = after if isinstance(after, Engine) else None
        stages = self.stages(scene, options)
        return engines.create(engine, scene, options.noise_parameter, stages, before, options.choices)

    def stages(self, scene: Scene, options: Options) -> list[Stage]:
        """Return the stages that an engine needs room for; none for a method that is not a recipe of stages."""
        return stages_of(scene, options) if self.name in RECIPES else []


_PAPER = (
    Method(name, "gradcon.methods.loop", MODEL_TERMS if recipe.weighted else {}, PAPER_PARAMETERS, start=0.0)
    for name, recipe in RECIPES.items()
)
_SWEEP = Method("sweep", "gradcon.methods.sweep.run", SWEEP_TERMS, PARAMETERS, sweeps=True)
METHODS = {method.name: method for method in (_SWEEP, *_PAPER)}


def check(method: str, without: str | None) -> None:
    """Reject a method that does not exist, or one that lacks the term to be left out."""
    if not isinstance(method, str) or method not in METHODS:
        raise InputError("method", f"{method!r} is not one of {', '.join(METHODS)}")
    if without is not None and not (isinstance(without, str) and without in METHODS[method].terms):
        having = [name for name, other in METHODS.items() if without in other.terms]
        problem = f"{method} has no term {without!r} to leave out"
        known = ", ".join(METHODS[method].terms)
        remedies = [f"use one of {known}"] * bool(known) + [f"use the method {name}" for name in having]
        raise InputError("without", problem, ", or ".join(remedies))


def check_recipe(method: str) -> None:
    """Reject a method that the paper does not have."""
    check(method, None)
    if method not in RECIPES:
        raise InputError("method", f"the paper has no method {method}", f"use one of {', '.join(RECIPES)}")


def check_parameter(method: str, name: str) -> None:
    """Reject a parameter that the method does not have."""
    if name not in METHODS[method].parameters:
        other = next(other.name for other in METHODS.values() if name in other.parameters)
        raise InputError(name, f"the method {method} has no such parameter", f"leave it out, or use the method {other}")


def check_start(method: str, initial: ArrayLike | None) -> None:
    """Reject a number to start from if the method searches all disparities, or if it is not finite."""
    given = None if initial is None else as_array(initial, "initial")
    if given is None or given.ndim:
        return
    if METHODS[method].start is None:
        other = next(other.name for other in METHODS.values() if other.start is not None)
        problem = f"is a number, but the method {method} searches all disparities and needs none to start from"
        raise InputError("initial", problem, f"leave it out, give a map, or use the method {other}")
    if finite_number(given.item()) is None:
        raise InputError("initial", f"{shortly(given.item())} is not a finite disparity", "give a number of pixels")
