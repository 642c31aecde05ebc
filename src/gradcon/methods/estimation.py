"""Estimate one scene: run a method, then compute the uncertainty, check the directions and compare with the truth."""

from __future__ import annotations

import os
import time
import warnings
from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from gradcon import engines
from gradcon.arrays import as_array, to_host
from gradcon.engines import Worker
from gradcon.engines.failures import in_words
from gradcon.errors import InputError
from gradcon.methods.loop import Callback
from gradcon.methods.options import Options
from gradcon.methods.registry import METHODS, MethodRun
from gradcon.result import Result
from gradcon.result.metrics import evaluate
from gradcon.scene import Scene


def estimate(
    scene: Scene,
    options: Options | None = None,
    *,
    initial: ArrayLike | None = None,
    engine: str = "auto",
    on_device: bool = False,
    check_directions: bool = True,
    progress: bool = False,
    callback: Callback | None = None,
    keep_weights: bool = False,
) -> Result:
    """Estimate the disparity of a scene's reference view.

    Parameters
    ----------
    scene : Scene
        From `open_scene`, or made of arrays: I_r, I_t and the baselines B_t of [1]_.
    options : Options, optional
        The method and its parameters.
    initial : array or float, optional
        Disparity w to start from, in pixels per unit baseline.  A map of the scene's size continues from that map.  The
        paper's methods also take a number, which they start from everywhere, 0 by default; `sweep` searches all
        disparities by default.
    engine : {"auto", "cuda", "cpu", "reference"}
        What does the arithmetic; `auto` takes the GPU if there is one that can be used, else the CPU.
    on_device : bool
        Leave the maps on the GPU: the result holds CuPy arrays.  Only for the engine `cuda`.
    check_directions : bool
        Check whether the cameras stand where the baselines say, and warn if they do not.  On a GPU the check takes
        about as long as everything else.
    progress : bool
        Show progress on stderr: a bar on a terminal, lines elsewhere.
    callback : callable, optional
        Called after every solve, or pass of the sweep, with its row of the history and the disparity.  The run ends if
        it returns True.
    keep_weights : bool
        Record how far views and scales were trusted in `Result.weights`, for the page that `gradcon report` makes.

    Returns
    -------
    Result

    References
    ----------
    .. [1] J. L. Gray, A. T. Naman and D. S. Taubman, "Multi-view Disparity Estimation Using a Novel Gradient
       Consistency Model", arXiv:2405.17029.

    Examples
    --------
    >>> from gradcon import estimate, synth
    >>> result = estimate(synth.render("planes", size=(48, 48)))
    >>> result.disparity.shape
    (48, 48)
    """
    options = options or Options()
    check_scene(scene)
    start = time.perf_counter()
    worker = engine_for(engine, scene, options, on_device)
    run = (
        METHODS[options.method]
        .load()
        .minimise(
            scene,
            options,
            initial=initial,
            engine=worker,
            progress=progress,
            callback=callback,
            keep_weights=keep_weights,
        )
    )
    finished = finish(run, scene, options, initial, start, check_directions)
    for text in finished.warnings:
        warnings.warn(text, stacklevel=2)
    return as_result(finished, on_device)


class Finished(NamedTuple):
    """A run that has ended, and what the engine computed after it."""

    run: MethodRun
    scene: Scene
    options: Options
    initial: float | str | None
    start: float
    maps: tuple[Any, Any]  # disparity and uncertainty, in the memory that the engine works in
    warnings: list[str]


def engine_for(name: str, scene: Scene, options: Options, on_device: bool, after: Worker | None = None) -> Worker:
    """Make the engine for an estimate; reject one that cannot leave its maps on a device if it is asked to."""
    engine = METHODS[options.method].create(name, scene, options, after)
    if on_device and not engines.ENGINES[engine.name].keeps_maps:
        why = f" ({engine.note})" if engine.note else ""
        raise InputError("on_device", f"the engine is {engine.name}, whose maps are not on a GPU{why}", "use cuda")
    return engine


@in_words
def finish(
    run: MethodRun, scene: Scene, options: Options, initial: ArrayLike | None, start: float, check_directions: bool
) -> Finished:
    """Compute the uncertainty and check the directions, while the engine still holds the run."""
    from gradcon.methods import directions

    maps = run.clock("uncertainty", run.maps)
    run.engine.device.wait()
    warned = [f"{scene.name}: {doubt}." for doubt in scene.doubts]
    if check_directions and options.without is None:  # a model without one of its terms is too far off to judge by
        warned += run.clock("direction_check", directions.check_directions, scene, run.engine.name, to_host(maps[0]))
        run.engine.device.wait()
    return Finished(run, scene, options, _describe(initial, options), start, maps, warned)


@in_words
def as_result(finished: Finished, on_device: bool) -> Result:
    """Bring the maps to the host, unless they stay on the device, and compare them with the truth."""
    run, scene = finished.run, finished.scene
    run.clock.settle()
    assert run.stopped is not None
    (disparity, uncertainty), truth = finished.maps, scene.known_truth
    with run.engine.device.aside():
        metrics = evaluate(to_host(disparity), truth) if truth is not None else None
        if not on_device:
            disparity, uncertainty = to_host(disparity), to_host(uncertainty)
    return Result(
        disparity=disparity,
        uncertainty=uncertainty,
        history=run.history,
        stopped=run.stopped,
        parameters={**finished.options.parameters(), **run.choices(), "initial": finished.initial},
        source={
            "name": scene.name,
            "reference": scene.reference_name,
            "views": len(scene.colours),
            "targets": scene.target_names,
            "baselines": scene.baselines.tolist(),
            "metadata": scene.metadata,
            "width": scene.shape[1],
            "height": scene.shape[0],
        },
        engine=run.engine.name,
        engine_note=run.engine.note,
        seconds={"total": time.perf_counter() - finished.start, **run.clock.seconds},
        metrics=metrics,
        warnings=finished.warnings,
        weights=run.weights(),
        scene=scene,
    )


def check_scene(scene: object) -> None:
    """Reject anything but a Scene, and say how to get one."""
    if isinstance(scene, (str, os.PathLike)):
        raise InputError("scene", f"{str(scene)!r} is a path, not a Scene", "open it with open_scene")
    if not isinstance(scene, Scene):
        kind = type(scene).__name__
        raise InputError("scene", f"is a {kind}, not a Scene", "use open_scene, or Scene.from_lightfield")


def _describe(initial: ArrayLike | None, options: Options) -> float | str | None:
    if initial is None:
        return METHODS[options.method].start
    given = as_array(initial)
    return float(given) if given.ndim == 0 else "a map"
