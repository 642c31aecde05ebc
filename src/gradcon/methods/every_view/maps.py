"""Make the maps of the views, one after the other, each from those that are done."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gradcon.engines import Clock
from gradcon.engines.failures import in_words
from gradcon.engines.sweep import SweepEngine
from gradcon.errors import InputError
from gradcon.methods.estimation import as_result, engine_for, finish
from gradcon.methods.every_view.relations import Map
from gradcon.methods.every_view.rig import Rig
from gradcon.methods.look import look_at
from gradcon.methods.preparation import Prepared
from gradcon.methods.registry import METHODS, MethodRun
from gradcon.methods.sweep.run import SweepRun
from gradcon.progress import Display
from gradcon.result import Result
from gradcon.scene import Scene
from gradcon.scene.variants import seen_from


@dataclass
class Work:
    """What all views share."""

    given: Scene  # without the views that were left out
    ready: Prepared
    rig: Rig
    engine: str
    check_directions: bool

    @property
    def carries(self) -> bool:
        """Whether maps start from other views' maps: only a complete sweep knows how."""
        return METHODS[self.ready.options.method].sweeps and self.ready.options.without is None

    def ready_from(self, view: str) -> Prepared:
        """Return the scene as seen from a view, prepared; views that are turned see other ranges of disparities."""
        scene = self.rig.scene_from(view)
        if scene.is_planar or view == self.rig.scene.reference_name:
            return self.ready._replace(scene=scene)
        look = look_at(scene, self.ready.options, self.engine, check_places=False)
        findings = replace(self.ready.look.findings, disparity_range=look.findings.disparity_range)
        return self.ready._replace(scene=scene, look=look._replace(findings=findings))


@dataclass
class Made:
    """The maps of the views, not compared yet, and sentences about views that could get none."""

    results: dict[str, Result] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)


def make_maps(work: Work, wanted: Sequence[str], progress: bool) -> Made:
    """Make the maps of the views that are wanted, and of those that they start from."""
    rig, made = work.rig, Made()
    names = [rig.scene.reference_name, *rig.scene.target_names]
    made.lost += [f"{name}: disagrees with the other views, so it gets no map." for name in wanted if name not in names]
    keys = rig.keys if work.carries else []
    first = [rig.scene.reference_name, *keys] if work.carries else []
    order = [*first, *(name for name in names if name in wanted and name not in first)]
    with Display(work.given.name, len(order) if progress else 0, opening=f"{len(order)} views to estimate") as display:
        for number, view in enumerate(order, start=1):
            try:
                result, maps = _estimated(work, view, first[: min(number - 1, len(first))])
            except InputError as error:
                if view == rig.scene.reference_name or error.where != view:
                    raise
                made.lost.append(str(error))
                continue
            made.results[view], rig.maps[view] = result, maps
            text = f"view {number} of {len(order)}, {view}: {result.effort} in {result.seconds['total']:.2f} s"
            display.show(number, text, text)
    return made


@in_words
def _estimated(work: Work, view: str, sources: Sequence[str]) -> tuple[Result, tuple[Map, Map]]:
    """Estimate one view from the maps of others, or anew; return its result, and its maps on the engine's device."""
    began, is_reference = time.perf_counter(), view == work.rig.scene.reference_name
    known = [name for name in sources if name in work.rig.maps]
    ready = work.ready if is_reference else work.ready_from(view)
    start = work.rig.start(view, known) if known else None
    run = _run(work, ready, start, last_only=len(known) > 1 and view not in work.rig.keys)
    finished = finish(run, ready, start, began, work.check_directions and is_reference)
    if not is_reference:  # what is said about the scene is said once
        finished = finished._replace(warnings=[])
    return as_result(finished._replace(scene=seen_from(work.given, view)), on_device=False), finished.maps


def _run(work: Work, ready: Prepared, start: Map | None, last_only: bool) -> MethodRun:
    engine: Any = engine_for(work.engine, ready, on_device=False)
    if start is None:
        minimise = METHODS[ready.options.method].load().minimise
        return minimise(ready.scene, ready.options, initial=ready.start, engine=engine, look=ready.look)
    assert isinstance(engine, SweepEngine)
    run: Any = SweepRun(ready.scene, engine, ready.look, ready.options.without, Clock(engine.device))
    list(run.passes_near(start, last_only))
    swept: MethodRun = run
    return swept
