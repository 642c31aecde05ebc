"""Everything that can be said about the views of a scene, with the evidence: what `gradcon doctor` shows."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.arrays import to_host
from gradcon.engines.sweep_views import views_of
from gradcon.methods.look import Look, layouts
from gradcon.methods.look.hidden import Behind, behind_surfaces
from gradcon.methods.look.judgement import OUT_OF_PLACE, distances, reversed_sentence
from gradcon.methods.look.look import LARGE
from gradcon.methods.look.small_copy import matched
from gradcon.methods.options import Options
from gradcon.methods.preparation import prepare
from gradcon.methods.sweep.run import minimise
from gradcon.result.findings import LEVELS, Findings
from gradcon.scene import Scene
from gradcon.scene.layout import Layout
from gradcon.scene.shrink import shrunk

FITS, ODD, BESIDE, SAME, UNKNOWN = "fits", "odd", "out of place", "the same image", "cannot tell"  # verdicts on a view
REVERSED = Layout(x=True, y=True)


@dataclass(frozen=True)
class ViewEvidence:
    """What speaks for and against a target."""

    view: str
    baseline: tuple[float, float]
    gain: list[float]  # of each channel: the view shows gain * I + offset of what the reference shows as I
    offset: list[float]  # in levels of 255
    residual: float | None  # mean difference to the reference in levels of 255; None if they hardly overlap
    ratio: float | None  # of the residual to the median of all views
    beside: float  # pixels between the view and its place, across the baseline
    verdict: str


@dataclass(frozen=True)
class PairOfLayouts:
    """Two layouts with opposite baselines, which explain the views equally well."""

    flips: tuple[str, str]  # arguments of --flip; empty for none
    given: bool  # whether the scene has one of them
    difference: float  # that remains between the views, in levels of 255


@dataclass(frozen=True)
class Examination:
    """What was found out about a scene, and the maps that show it."""

    findings: Findings
    views: list[ViewEvidence]
    layouts: list[PairOfLayouts]
    behind: Behind | None  # how different hidden pixels look; None if it was not, or cannot be, found out
    doubts: list[str]
    maps: NDArray[np.float32]  # (T, height, width): how each target differs from the reference, NaN outside its frame

    def fields(self) -> dict[str, Any]:
        """Return everything but the maps, in plain types."""
        behind = self.behind
        return {
            "findings": self.findings.fields(),
            "views": [asdict(view) for view in self.views],
            "layouts": [asdict(pair) for pair in self.layouts],
            "hidden": {name: LEVELS * value for name, value in behind._asdict().items()} if behind else None,
            "doubts": self.doubts,
        }


def examine(scene: Scene, engine: str = "auto") -> Examination:
    """Look at a scene, and also tell near from far, which takes an estimate."""
    options = Options("sweep")
    ready = prepare(scene, options, engine)
    look, doubts = ready.look, list(ready.look.findings.doubts)
    behind = None
    if not doubts and scene.is_planar:  # what is doubted already would make a bad map to judge by
        seen = shrunk(ready.scene, LARGE)
        known = look if seen is ready.scene else None  # a smaller scene is looked at by itself
        behind = behind_surfaces(seen, minimise(seen, options, engine=engine, look=known).w)
        if behind is not None and behind.reversed:
            doubts.append(reversed_sentence(scene))
    views, pairs = _views(scene, look), _pairs(scene, look, engine)
    return Examination(look.findings, views, pairs, behind, doubts, _maps(scene, look))


def _views(scene: Scene, look: Look) -> list[ViewEvidence]:
    """Return the evidence by view, in the order of the scene's targets."""
    findings, compared, small = look.findings, look.compared, look.copy.views
    assert small.order is not None
    back = np.argsort(small.order)
    residuals = LEVELS * compared.residuals[back]
    known = residuals[np.isfinite(residuals)]
    median = max(float(np.median(known)), 1e-6) if known.size else 1.0
    beside = look.k * distances(small, look.agreement.motion)[back]
    return [
        ViewEvidence(
            view.view,
            (float(bx), float(by)),
            view.gain,
            [LEVELS * offset for offset in view.offset],
            float(residual) if np.isfinite(residual) else None,
            float(residual) / median if np.isfinite(residual) else None,
            float(away),
            verdict,
        )
        for view, (bx, by), residual, away, verdict in zip(
            findings.brightness, scene.baselines, residuals, beside, _verdicts(scene, look, beside), strict=True
        )
    ]


def _verdicts(scene: Scene, look: Look, beside: NDArray[np.float64]) -> list[str]:
    findings, small = look.findings, look.copy.views
    assert small.order is not None
    names = scene.target_names
    if not findings.differ or findings.layout is not None:
        return [UNKNOWN if findings.differ else SAME] * len(names)
    displaced = beside > look.k * OUT_OF_PLACE if findings.doubts else np.zeros(len(names), bool)
    found = {name: BESIDE for name, is_displaced in zip(names, displaced, strict=True) if is_displaced}
    found |= dict.fromkeys(findings.odd_views, ODD)
    for pair in look.agreement.odd.exchanged:
        first, second = (names[small.order[t]] for t in pair)
        found |= {first: f"exchanged with {second}", second: f"exchanged with {first}"}
    return [found.get(name, FITS) for name in names]


def _pairs(scene: Scene, look: Look, engine: str) -> list[PairOfLayouts]:
    if not layouts.can_tell(scene, look.copy.views):
        return []
    return [
        PairOfLayouts(
            (scene.layout.then(layout).text, scene.layout.then(layout).then(REVERSED).text),
            layout == Layout(),
            LEVELS * difference,
        )
        for layout, difference in layouts.differences(look.copy.views, engine).items()
    ]


def _maps(scene: Scene, look: Look) -> NDArray[np.float32]:
    """Return how each target differs from the reference where both should show the same, in levels of 255."""
    views, (gain, offset) = views_of(scene, k=look.k), look.compared.gains
    assert views.order is not None
    pixels = matched(views, look.copy.swept.w, every=1)
    targets = (to_host(pixels.targets) - offset[..., None]) / gain[..., None]
    maps = LEVELS * np.abs(targets - to_host(pixels.reference)).mean(axis=1)
    maps = np.where(to_host(pixels.seen), maps, np.nan).reshape(-1, *views.shape)
    return maps[np.argsort(views.order)].astype(np.float32)
