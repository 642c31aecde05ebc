"""Estimate every view of a scene: share the work, then compare the maps."""

from __future__ import annotations

import time
import warnings
from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext

from gradcon import engines
from gradcon.errors import InputError
from gradcon.io.fields import hint
from gradcon.methods.compilation import announced
from gradcon.methods.estimation import LOOKING, brought, check_scene, compile_for
from gradcon.methods.every_view.comparison import compared
from gradcon.methods.every_view.maps import Work, make_maps
from gradcon.methods.every_view.rig import Rig
from gradcon.methods.options import Options
from gradcon.methods.preparation import prepare_where_it_fits
from gradcon.progress import Display, waiting
from gradcon.result.agreement import Agreement
from gradcon.result.every_view import EveryView, place_of
from gradcon.scene import Scene


def estimate_views(
    scene: Scene,
    options: Options | None = None,
    *,
    references: Sequence[str] | None = None,
    engine: str = "auto",
    consistent: bool = True,
    check_directions: bool = True,
    progress: bool = False,
) -> EveryView:
    """Estimate a disparity map for every view of a scene, and make the maps consistent.

    Parameters
    ----------
    scene : Scene
    options : Options, optional
        As for `estimate`.
    references : sequence of str, optional
        The names of the views that get a map; all by default.  The disparities of a view do not depend on which others
        are asked for; its uncertainty gains by every other map.
    engine : str
        As for `estimate`.
    consistent : bool
        Whether to compare the maps: pixels that other views confirm are averaged with them, edges that they contradict
        are corrected, and the uncertainty uses what they say.
    check_directions : bool
        As for `estimate`.
    progress : bool
        Show progress on stderr.

    Returns
    -------
    EveryView

    Examples
    --------
    >>> from gradcon import estimate_views, synth
    >>> every = estimate_views(synth.render("planes", size=(48, 48), views=5))
    >>> len(every.results)
    5
    """
    options = options or Options()
    check_scene(scene)
    wanted = _wanted(scene, references)
    say = Display(scene.name, 0).print if progress else None
    compile_for(scene, options, engine, say)
    began = time.perf_counter()
    there = brought(scene, engines.device_for(engine), engine)
    with announced(say):
        with waiting(scene.name, LOOKING) if progress else nullcontext():
            ready, engine = prepare_where_it_fits(there, options, engine, check_directions)
        rig = Rig(ready.scene, ready.look.findings.disparity_range)
        work = Work(ready.used(scene), ready, rig, engine, check_directions)
        made = make_maps(work, wanted, progress)
        mapped = time.perf_counter()
        results, agreement = made.results, dict[str, Agreement]()
        if consistent and len(results) > 1:
            results, agreement = compared(rig, results)
    results = {name: results[name] for name in wanted if name in results}
    if not results:
        raise InputError(scene.name, f"none of its views gets a map: {made.lost[0]}", "use other views")
    every = EveryView(
        results=results,
        agreement={name: agreement[name] for name in results if name in agreement},
        places={name: place_of(scene, name) for name in results},
        scene=scene,
        seconds={
            "total": time.perf_counter() - began,
            "look": ready.seconds,
            "maps": mapped - began - ready.seconds,
            "consistency": time.perf_counter() - mapped,
        },
        warnings=list(dict.fromkeys([*(text for each in results.values() for text in each.warnings), *made.lost])),
    )
    for text in every.warnings:
        warnings.warn(text, stacklevel=2)
    return every


def _wanted(scene: Scene, references: Sequence[str] | None) -> list[str]:
    """Return the names of the views that are to get a map; refuse a name that is none, or that is not unique."""
    names = [scene.reference_name, *scene.target_names]
    counts = Counter(names)
    name, count = counts.most_common(1)[0]
    if count > 1:
        raise InputError(name, "is the name of several views", "give each view a name of its own")
    if references is None:
        return names
    if isinstance(references, str) or not references:
        raise InputError("references", f"{references!r} is not a list of names", "give the names of some views")
    for name in references:
        if not isinstance(name, str) or name not in counts:
            raise InputError("references", f"{name!r} is not a view of {scene.name}", hint(str(name), names))
    asked = set(references)
    return [name for name in names if name in asked]
