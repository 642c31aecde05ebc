"""Compare the maps of all views, and put what they say about each other into the results."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np

from gradcon.arrays import module_of, to_host
from gradcon.engines.failures import in_words
from gradcon.methods.every_view.consistency import settled, surer, unknown
from gradcon.methods.every_view.evidence import evidence_of_map
from gradcon.methods.every_view.relations import Map
from gradcon.methods.every_view.rig import Rig
from gradcon.result import Result
from gradcon.result.agreement import Agreement
from gradcon.result.metrics import evaluate


@in_words
def compared(rig: Rig, results: dict[str, Result]) -> tuple[dict[str, Result], dict[str, Agreement]]:
    """Return the results with consistent maps, and what the other views say about each of them.

    The views that were swept first correct all others, because their maps are the least dependent on each other.  Then
    all views judge the corrected maps.
    """
    first = [name for name in (rig.scene.reference_name, *rig.keys) if name in rig.maps]
    asked = first if len(first) > 1 else list(rig.maps)

    def correct(view: str) -> Any:
        return settled(*rig.maps[view], rig.claims(view, asked), rig.witnesses(view, asked), rig.pixel)

    corrected = _for_each(correct, rig, results)
    for view, decided in corrected.items():
        rig.maps[view] = decided.w, rig.maps[view][1]

    def judge(view: str) -> tuple[Result, Agreement]:
        return _judged(rig, view, results[view], to_host(corrected[view].changed))

    done = _for_each(judge, rig, results)
    return {view: result for view, (result, _) in done.items()}, {view: said for view, (_, said) in done.items()}


def _for_each(work: Callable[[str], Any], rig: Rig, views: Iterable[str]) -> dict[str, Any]:
    """Return what `work` makes of each view; on the host, several at a time."""
    on_host = module_of(next(iter(rig.maps.values()))[0]) is np
    with ThreadPoolExecutor(_threads() if on_host else 1) as pool:
        names = list(views)
        return dict(zip(names, pool.map(work, names), strict=True))


def _threads() -> int:
    from numba import get_num_threads  # the engine on the host has imported it already

    return int(get_num_threads())


def _judged(rig: Rig, view: str, result: Result, changed: Any) -> tuple[Result, Agreement]:
    """Return a view's result with its map as it is now and its uncertainty after the other views have been heard."""
    w, deviation = rig.maps[view]
    witnesses = rig.all_witnesses(view)
    seen = evidence_of_map(w, deviation, witnesses, rig.pixel)
    nobody = unknown(seen)
    disparity, uncertainty = to_host(w), to_host(_with_unknown(surer(deviation, seen), nobody, rig.limits))
    truth = result.scene.known_truth
    counts = {
        name: to_host(getattr(seen, name)).astype(np.uint16) for name in ("confirming", "contradicting", "hidden")
    }
    said = Agreement(**counts, views=len(witnesses), corrected=changed, unknown=to_host(nobody))
    metrics = evaluate(disparity, truth) if truth is not None else None
    return replace(result, disparity=disparity, uncertainty=uncertainty, metrics=metrics), said


def _with_unknown(deviation: Map, nobody: Any, limits: tuple[float, float]) -> Map:
    """Return the deviation with the whole range of the disparities where a pixel is unknown."""
    whole = np.float32(limits[1] - limits[0])
    return module_of(deviation).where(nobody, np.float32(whole), module_of(deviation).minimum(deviation, whole))
