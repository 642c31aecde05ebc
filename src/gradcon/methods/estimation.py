"""The estimate of one scene, and of many: the loop of `minimise`, and what is found out afterwards."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import asdict
from typing import Any, Literal, NamedTuple

from numpy.typing import ArrayLike

from gradcon import engines
from gradcon.arrays import as_array, to_host
from gradcon.engines.cuda.errors import in_words
from gradcon.errors import InputError
from gradcon.methods.loop import Callback, Run, minimise
from gradcon.methods.options import Options
from gradcon.result import Result
from gradcon.result.metrics import evaluate
from gradcon.scene import Scene

__all__ = ["Options", "estimate", "estimate_many"]


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
        From `open_scene`, or made of arrays.
    options : Options, optional
    initial : array or float, optional
        Disparity to start from, in pixels per unit baseline: a map of the scene's size continues from it; a number
        starts everywhere from that number.  0 by default.
    engine : str
        `auto` (the GPU where a usable one is there), `cuda`, `cpu` or `reference`.
    on_device : bool
        Leave the maps on the GPU: the result's are CuPy arrays.  Only for the engine `cuda`.
    check_directions : bool
        Find out whether the cameras stand where the baselines say, and warn if not.  On a GPU it takes about as long as
        all the rest.
    progress : bool
        Show progress on stderr: a bar on a terminal, lines elsewhere.
    callback : callable, optional
        Called after every solve with its row of the history and the disparity; a true answer ends the run.
    keep_weights : bool
        Record which views and scales were trusted, in `Result.weights`: for the page that `gradcon report` makes.

    Returns
    -------
    Result

    Examples
    --------
    >>> from gradcon import estimate, synth
    >>> result = estimate(synth.render("planes", size=(48, 48)))
    >>> result.disparity.shape
    (48, 48)
    """
    options = options or Options()
    _refuse_no_scene(scene)
    start = time.perf_counter()
    machine = engines.create(engine, scene, options)
    _refuse_host_engine(on_device, machine)
    run = minimise(
        scene,
        options,
        initial=initial,
        engine=machine,
        progress=progress,
        callback=callback,
        keep_weights=keep_weights,
    )
    checks = check_directions and options.without is None  # what leaves a term out is too far off to judge by
    maps, warned = _maps(run), _check_directions(run, scene) if checks else []
    done = _Done(run, scene, options, _describe(initial), start, maps, warned)
    for text in done.warnings:
        warnings.warn(text, stacklevel=2)
    return _result(done, on_device)


def estimate_many(
    scenes: Iterable[Scene],
    options: Options | None = None,
    *,
    initial: ArrayLike | Literal["previous"] | None = None,
    first: ArrayLike | None = None,
    engine: str = "auto",
    on_device: bool = False,
    check_directions: bool = True,
) -> Iterator[Result]:
    """Estimate one scene after the other: the frames of a light-field video, a dataset.

    While one scene is computed, the next one is taken from `scenes` (which may read it from files) and brought to the
    GPU, where the engine is `cuda`, and the maps of the one before are brought back and compared with its truth.

    Parameters
    ----------
    scenes : iterable of Scene
    options : Options, optional
    initial : array, float or "previous", optional
        Disparity to start from, as for `estimate`.  With "previous" every scene but the first starts from the
        disparity of the one before: a slow video needs only a few solves a frame (`Options(solves=...)`).
    first : array or float, optional
        Disparity that the first scene starts from, where the others start from the one before.
    engine : str
        As for `estimate`.
    on_device : bool
        As for `estimate`.
    check_directions : bool
        As for `estimate`, for the first scene alone.

    Yields
    ------
    Result
        In the order of `scenes`, each when the next one is done.

    Examples
    --------
    >>> from gradcon import Options, estimate_many, synth
    >>> video = (synth.render("planes", size=(48, 48), seed=seed) for seed in range(2))
    >>> [result.disparity.shape for result in estimate_many(video, Options(solves=2), initial="previous")]
    [(48, 48), (48, 48)]
    """
    options = options or Options()
    chained = isinstance(initial, str)
    if chained and initial != "previous":
        raise InputError(f"initial: {initial!r} is neither a disparity nor 'previous'.")
    if first is not None and not chained:
        raise InputError("first: means something only with initial='previous'; leave it out.")
    if isinstance(scenes, Scene):
        raise InputError("scenes: is one Scene, not several; use estimate, or put it into a list.")
    checks = check_directions and options.without is None
    how = _How(options, first if chained else initial, chained, engine, on_device, checks)
    return _results(scenes, how)


class _Done(NamedTuple):
    """A run that has come to its end, and what was found out afterwards."""

    run: Run
    scene: Scene
    options: Options
    initial: float | str
    start: float
    maps: tuple[Any, ...]  # disparity and uncertainty, where the engine has them
    warnings: list[str]


class _How(NamedTuple):
    """How many scenes are to be estimated."""

    options: Options
    initial: Any
    chained: bool  # each starts from the one before
    engine: str
    on_device: bool
    check_directions: bool


def _results(scenes: Iterable[Scene], how: _How) -> Iterator[Result]:
    """Three at a time: one scene comes in, one is computed, and the result of one goes out."""
    with ThreadPoolExecutor(1, "gradcon-in") as inwards, ThreadPoolExecutor(1, "gradcon-out") as outwards:
        computed = _computed(scenes, how, inwards)
        going_out = None
        while True:
            try:
                done = next(computed, None)
            except Exception:
                if going_out is not None:
                    yield going_out.result()  # what was finished before
                raise
            before, going_out = going_out, None
            if done is not None:
                for text in done.warnings:
                    warnings.warn(text, stacklevel=2)
                going_out = outwards.submit(_result, done, how.on_device)  # now: its clock runs until then
            if before is not None:
                yield before.result()
            if done is None:
                return


def _computed(scenes: Iterable[Scene], how: _How, inwards: Executor) -> Iterator[_Done]:
    source, gpu, machine, initial = iter(scenes), engines.gpu_for(how.engine), None, how.initial
    coming_in = inwards.submit(_next_scene, source, gpu, how.engine)
    while (pair := coming_in.result()) is not None:
        scene, there = pair
        coming_in = inwards.submit(_next_scene, source, gpu, how.engine)
        start = time.perf_counter()
        is_first = machine is None
        machine = engines.create(how.engine, there, how.options, after=machine)
        _refuse_host_engine(how.on_device, machine)
        if how.chained and not is_first and initial.shape != scene.shape:
            initial = None  # a video that changes its size begins anew
        run = minimise(there, how.options, initial=initial, engine=machine)
        maps, warned = _maps(run), _check_directions(run, there) if how.check_directions and is_first else []
        yield _Done(run, scene, how.options, _describe(initial), start, maps, warned)
        if how.chained:
            initial = maps[0]


def _next_scene(source: Iterator[Scene], gpu: Any, engine: str) -> tuple[Scene, Scene] | None:
    """The next scene as it is given, which its result keeps, and where the engine will want it."""
    for scene in source:
        _refuse_no_scene(scene)
        try:
            return scene, gpu.transfer(scene) if gpu is not None else scene
        except InputError:  # it does not fit
            if engine == "cuda":
                raise
            return scene, scene
    return None


def _refuse_no_scene(scene: Any) -> None:
    """Refuse what is not a Scene, and say how one is made of it."""
    if isinstance(scene, (str, os.PathLike)):
        raise InputError(f"scene: {str(scene)!r} is a path, not a Scene; open it by open_scene.")
    if not isinstance(scene, Scene):
        raise InputError(f"scene: is a {type(scene).__name__}, not a Scene; use open_scene, or Scene.from_lightfield.")


@in_words
def _maps(run: Run) -> tuple[Any, ...]:
    """Disparity and uncertainty where the engine has them, finished."""
    maps: tuple[Any, ...] = run.clock("uncertainty", run.maps, True)
    run.machine.wait()
    return maps


@in_words
def _check_directions(run: Run, scene: Scene) -> list[str]:
    from gradcon.methods.directions import check_directions

    warned: list[str] = run.clock("direction_check", check_directions, scene, run.machine, run.w)
    run.machine.wait()
    return warned


@in_words
def _result(done: _Done, on_device: bool) -> Result:
    run, scene = done.run, done.scene
    run.clock.settle()
    (disparity, uncertainty), truth = done.maps, engines.known_truth(scene)
    with run.machine.aside():
        metrics = evaluate(to_host(disparity), truth) if truth is not None else None
        if not on_device:
            disparity, uncertainty = to_host(disparity), to_host(uncertainty)
    return Result(
        disparity=disparity,
        uncertainty=uncertainty,
        history=run.history,
        stopped=run.stopped,
        parameters={**asdict(done.options), "scales": 1 + max(run.stages[0].scales), "initial": done.initial},
        source={
            "name": scene.name,
            "reference": scene.reference_name,
            "views": 1 + len(scene.targets),
            "targets": scene.target_names,
            "baselines": scene.baselines.tolist(),
            "metadata": scene.metadata,
            "width": scene.shape[1],
            "height": scene.shape[0],
        },
        engine=run.machine.name,
        engine_note=run.machine.note,
        seconds={"total": time.perf_counter() - done.start, **run.clock.seconds},
        metrics=metrics,
        warnings=done.warnings,
        weights=run.recorder.weights() if run.recorder is not None else None,
        scene=scene,
    )


def _refuse_host_engine(on_device: bool, machine: engines.Engine) -> None:
    if on_device and machine.name != "cuda":
        why = f" ({machine.note})" if machine.note else ""
        raise InputError(f"on_device: the engine is {machine.name}, whose maps are not on a GPU{why}; use cuda.")


def _describe(initial: Any) -> float | str:
    given = as_array(0.0 if initial is None else initial)
    return float(given) if given.ndim == 0 else "a map"
