"""Estimate one scene: look at it, run a method, then compute the uncertainty and compare with the truth."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gradcon import engines
from gradcon.arrays import as_array, module_of, to_host
from gradcon.engines import Device, Worker
from gradcon.engines.failures import in_words
from gradcon.errors import InputError
from gradcon.methods.loop import Callback
from gradcon.methods.options import Options
from gradcon.methods.registry import METHODS, MethodRun
from gradcon.progress import Display, waiting
from gradcon.result import Result
from gradcon.result.findings import Findings
from gradcon.result.finite import refuse_unknown
from gradcon.result.metrics import evaluate
from gradcon.scene import Scene

if TYPE_CHECKING:
    from gradcon.methods.preparation import Prepared

LOOKING = "still looking at the views"


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
        Check whether the cameras stand where the baselines say, and warn if they do not.
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
    # `gradcon --help` need not wait for these.
    from gradcon.methods.compilation import announced
    from gradcon.methods.preparation import prepare_where_it_fits

    options = options or Options()
    check_scene(scene)
    say = Display(scene.name, 0).print if progress else None
    compile_for(scene, options, engine, say)
    start = time.perf_counter()  # not before: compilation is no part of an estimate
    there = brought(scene, engines.device_for(engine), engine)
    with announced(say):
        with waiting(scene.name, LOOKING) if progress else nullcontext():
            ready, engine = prepare_where_it_fits(there, options, engine, check_directions)
        worker = engine_for(engine, ready, on_device)
        run = (
            METHODS[options.method]
            .load()
            .minimise(
                ready.scene,
                ready.options,
                initial=ready.start if initial is None else initial,
                engine=worker,
                progress=progress,
                callback=callback,
                keep_weights=keep_weights,
                look=ready.look,
            )
        )
        finished = finish(run, ready, initial, start, check_directions)._replace(scene=ready.used(scene))
    for text in finished.warnings:
        warnings.warn(text, stacklevel=2)
    return as_result(finished, on_device)


def compile_for(scene: Scene, options: Options, engine: str, say: Callable[[str], None] | None = None) -> None:
    """Compile what an estimate of this scene needs, if that has not been done on this computer yet."""
    from gradcon.methods.compilation import compile_missing

    whole = scene.is_planar and scene.seen is None  # others are turned, or have gaps
    pixels = str(scene.colours.dtype) if whole else "float32"
    compile_missing(engines.kind_for(engine).name, options.method, pixels=[pixels], say=say)


class Finished(NamedTuple):
    """A run that has ended, and what the engine computed after it."""

    run: MethodRun
    scene: Scene
    options: Options
    findings: Findings
    initial: float | str | None
    start: float
    maps: tuple[Any, Any]  # disparity and uncertainty, in the memory that the engine works in
    warnings: list[str]


def brought(scene: Scene, device: Device, engine: str) -> Scene:
    """Return the scene with its views where the engine called `engine` wants them."""
    try:
        return device.transfer(scene)
    except InputError:  # it does not fit
        if engine != engines.AUTO:
            raise
        return scene


def engine_for(name: str, ready: Prepared, on_device: bool, after: Worker | None = None) -> Worker:
    """Make the engine for an estimate; reject one that cannot leave its maps on a device if it is asked to."""
    engine = METHODS[ready.options.method].create(name, ready.scene, ready.options, after)
    if on_device and not engines.ENGINES[engine.name].keeps_maps:
        why = f" ({engine.note})" if engine.note else ""
        raise InputError("on_device", f"the engine is {engine.name}, whose maps are not on a GPU{why}", "use cuda")
    return engine


@in_words
def finish(
    run: MethodRun, ready: Prepared, initial: ArrayLike | None, start: float, check_directions: bool
) -> Finished:
    """Compute the uncertainty and tell near from far, while the engine still holds the run."""
    from gradcon.methods.look.hidden import behind_surfaces
    from gradcon.methods.look.judgement import reversed_sentence

    run.clock.seconds["look"] = ready.seconds
    maps = run.clock("uncertainty", run.maps)
    run.engine.device.wait()
    scene, findings, options = ready.scene, ready.look.findings, ready.options
    warned = findings.doubts
    # A model without one of its terms is too far off to judge by, and so is a map that an earlier doubt concerns.
    if check_directions and options.without is None and not warned and scene.is_planar:
        behind = run.clock("direction_check", behind_surfaces, scene, maps[0])
        if behind is not None and behind.reversed:
            warned = [reversed_sentence(scene)]
        run.engine.device.wait()
    low, high = findings.disparity_range
    if not findings.differ:  # nothing is known
        maps = maps[0], module_of(maps[1]).full_like(maps[1], high - low)
    if scene.seen is not None:  # neighbours alone tell the disparity of what the reference's camera did not see
        xp = module_of(maps[1])
        seen, unsure = xp.asarray(scene.seen[0]), xp.maximum(maps[1], np.float32(high - low))
        maps = xp.where(seen, maps[0], maps[0].clip(low, high)), xp.where(seen, maps[1], unsure)
    refuse_unknown(scene.name, *maps)
    return Finished(run, scene, options, findings, _describe(initial, ready), start, maps, warned)


@in_words
def as_result(finished: Finished, on_device: bool) -> Result:
    """Bring the maps to the host, unless they stay on the device, and compare them with the truth."""
    run, scene = finished.run, finished.scene
    run.clock.settle()
    assert run.stopped is not None
    (disparity, uncertainty), truth = finished.maps, scene.known_truth
    with run.engine.device.aside():
        began = time.perf_counter()
        metrics = evaluate(disparity, truth) if truth is not None else None
        run.clock.seconds["evaluation"] = time.perf_counter() - began
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
        seconds=_complete(time.perf_counter() - finished.start, run.clock.seconds),
        metrics=metrics,
        warnings=finished.warnings,
        findings=finished.findings,
        weights=run.weights(),
        scene=scene,
    )


def _complete(total: float, parts: dict[str, float]) -> dict[str, float]:
    """Return the seconds in total, by part, and what no part has; a GPU's parts may overlap with the host's."""
    return {"total": total, **parts, "other": max(0.0, total - sum(parts.values()))}


def check_scene(scene: object) -> None:
    """Reject anything but a Scene, and say how to get one."""
    if isinstance(scene, (str, os.PathLike)):
        raise InputError("scene", f"{str(scene)!r} is a path, not a Scene", "open it with open_scene")
    if not isinstance(scene, Scene):
        kind = type(scene).__name__
        raise InputError("scene", f"is a {kind}, not a Scene", "use open_scene, or Scene.from_lightfield")


def _describe(initial: ArrayLike | None, ready: Prepared) -> float | str | None:
    if initial is None:
        return ready.start
    given = as_array(initial, "initial")
    return float(given) if given.ndim == 0 else "a map"
