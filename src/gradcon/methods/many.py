"""Estimate many scenes: while one is computed, the next one comes in and the result of the last one goes out."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from numpy.typing import ArrayLike

from gradcon import engines
from gradcon.errors import InputError
from gradcon.methods.estimation import Finished, as_result, brought, check_scene, compile_for, engine_for, finish
from gradcon.methods.options import Options
from gradcon.methods.registry import METHODS
from gradcon.result import Result
from gradcon.scene import Scene
from gradcon.scene.geometry import Floats

if TYPE_CHECKING:
    from gradcon.methods.preparation import Prepared


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
    """Estimate one scene after the other: the frames of a light-field video, or a dataset.

    While one scene is computed, the next one is taken from `scenes` (which may read it from files), brought to the
    engine's device and looked at, and the maps of the one before are brought back and compared with its truth.

    Parameters
    ----------
    scenes : iterable of Scene
    options : Options, optional
    initial : array, float or "previous", optional
        Disparity to start from, as for `estimate`.  With "previous" every scene but the first starts from the
        disparity of the one before: the sweep then searches only nearby disparities, and `gcm` needs few solves per
        frame (`Options("gcm", solves=...)`).
    first : array or float, optional
        Disparity that the first scene starts from, with `initial="previous"`.
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
    >>> from gradcon import estimate_many, synth
    >>> video = (synth.render("planes", size=(48, 48), seed=seed) for seed in range(2))
    >>> [result.disparity.shape for result in estimate_many(video, initial="previous")]
    [(48, 48), (48, 48)]
    """
    options = options or Options()
    chained = isinstance(initial, str)
    if chained and initial != "previous":
        raise InputError("initial", f"{initial!r} is neither a disparity nor 'previous'", "give one of the two")
    if first is not None and not chained:
        raise InputError("first", "has a meaning only with initial='previous'", "leave it out")
    if isinstance(scenes, Scene):
        raise InputError("scenes", "is one Scene, not several", "use estimate, or put it into a list")
    how = _How(options, first if chained else initial, chained, engine, on_device, check_directions)
    return _results(scenes, how)


class _How(NamedTuple):
    """How the scenes are to be estimated."""

    options: Options
    initial: Any
    chained: bool  # each starts from the one before
    engine: str
    on_device: bool
    check_directions: bool


def _results(scenes: Iterable[Scene], how: _How) -> Iterator[Result]:
    with ThreadPoolExecutor(1, "gradcon-in") as inwards, ThreadPoolExecutor(1, "gradcon-out") as outwards:
        computed = _computed(scenes, how, inwards)
        going_out = None
        while True:
            try:
                finished = next(computed, None)
            except Exception:
                if going_out is not None:
                    yield going_out.result()  # it was finished before the failure
                raise
            before, going_out = going_out, None
            if finished is not None:
                for text in finished.warnings:
                    warnings.warn(text, stacklevel=2)
                going_out = outwards.submit(as_result, finished, how.on_device)  # at once: its clock is running
            if before is not None:
                yield before.result()
            if finished is None:
                return


def _computed(scenes: Iterable[Scene], how: _How, inwards: Executor) -> Iterator[Finished]:
    incoming, initial, engine = _incoming(scenes, how), how.initial, None
    coming_in = inwards.submit(next, incoming, None)
    while (found := coming_in.result()) is not None:
        scene, ready, name = found
        coming_in = inwards.submit(next, incoming, None)
        start, is_first = time.perf_counter() - ready.seconds, engine is None
        engine = engine_for(name, ready, how.on_device, after=engine)
        if how.chained and not is_first and initial.shape != scene.shape:
            initial = None  # a video that changes its size begins anew
        method = METHODS[how.options.method].load()
        begin = ready.start if initial is None else initial
        run = method.minimise(ready.scene, ready.options, initial=begin, engine=engine, look=ready.look)
        finished = finish(run, ready, initial, start, how.check_directions and is_first)
        yield finished._replace(scene=ready.used(scene))  # the result must not hold the device's memory
        if how.chained:
            initial = finished.maps[0]


class _Incoming(NamedTuple):
    """A scene that is ready to be estimated."""

    scene: Scene  # as it is given, which its result keeps
    ready: Prepared  # with its views where the engine wants them
    engine: str


def _incoming(scenes: Iterable[Scene], how: _How) -> Iterator[_Incoming]:
    """Bring one scene after the other to the engine's device, and look at it there."""
    from gradcon.methods.preparation import prepare_where_it_fits  # `gradcon --help` need not wait for it

    device, check_places = engines.device_for(how.engine), how.check_directions
    known: Floats | None = None  # the alignment, which all frames of a video share
    for scene in scenes:
        check_scene(scene)
        there = brought(scene, device, how.engine)
        compile_for(there, how.options, how.engine)
        with device.ahead():
            ready, engine = prepare_where_it_fits(there, how.options, how.engine, check_places, known)
        known, check_places = ready.alignment, False
        yield _Incoming(scene, ready, engine)
