"""What is wrong with the views of a scene, in sentences for the user.

The checks stand in the order of how much they explain: identical views agree in any layout, and in a wrong layout all
views are odd and out of place.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gradcon.engines.sweep import Views
from gradcon.methods.look.agreement import Agreement, Motion, identical, unrelated
from gradcon.result.findings import Findings
from gradcon.scene import Scene
from gradcon.scene.layout import Layout

# Views are out of place if they lie so many pixels of the small copy beside their place, and agree better in it.
OUT_OF_PLACE, BETTER = 0.07, 0.975
MOST_LEFT_OUT = 1 / 3  # of the targets, if they are odd
REMEDY = "Use --align (align=True), or rectify the images."
REMEDY_ALIGNED = "The alignment did not cure that; rectify the images."
MOST_NAMES = 6  # that a sentence lists


def judged(
    findings: Findings,
    scene: Scene,
    agreement: Agreement,
    k: int,
    better: Layout | None,
    aligned: bool,
    check_places: bool = True,
    leave_out: bool = True,
) -> Findings:
    """Add what is wrong to the findings; `better` is a layout that explains the views better, if there is one."""
    small = agreement.views
    assert small.order is not None
    if identical(small):
        text = "the views do not differ, so they show no disparity. Check that the files are not copies."
        return replace(_doubted(findings, scene, text), differ=False)
    if better is not None:
        text = (
            f"the cameras seem to be laid out differently: the views agree much better {_with(scene, better)}. "
            "Check how rows and columns are counted."
        )
        return replace(_doubted(findings, scene, text), layout=scene.layout.then(better).text)
    if unrelated(agreement.compared):
        text = "the views agree at no disparity, as if they showed different scenes. Check the files and their order."
        return _doubted(findings, scene, text)
    odd, names = agreement.odd, [scene.target_names[t] for t in small.order]
    for first, second in odd.exchanged:
        text = f"{names[first]} and {names[second]} seem to be exchanged: each fits in the place of the other."
        findings = _doubted(findings, scene, text)
    if odd.views:
        few = len(odd.views) <= MOST_LEFT_OUT * len(names)
        findings = replace(findings, odd_views=sorted(names[t] for t in odd.views), left_out=few and leave_out)
        text = f"{_listed(findings.odd_views)} disagree{'s' * (len(odd.views) == 1)} with the other views"
        then = "not left out" if not leave_out else "left out" if few else "too many to be left out"
        findings = _doubted(findings, scene, f"{text} ({then}). Look at the pictures.")
    if not check_places:
        return findings
    unusual = [*odd.views, *(t for pair in odd.exchanged for t in pair)]
    out_of_place, remaining = _out_of_place(small, agreement.motion, unusual)
    findings = replace(findings, out_of_place=k * out_of_place)
    if out_of_place > OUT_OF_PLACE and remaining < BETTER:
        text = (
            f"the views are out of place by about {k * out_of_place:.1f} pixels: they are shifted or turned against "
            f"each other. {REMEDY_ALIGNED if aligned else REMEDY}"
        )
        findings = _doubted(findings, scene, text)
    return findings


def reversed_sentence(scene: Scene) -> str:
    """Say that near and far are exchanged."""
    return (
        f"{scene.name}: the cameras seem to be reversed: where surfaces hide each other, the far one is in front. "
        f"Near and far are the right way round {_with(scene, Layout(x=True, y=True))}."
    )


def _doubted(findings: Findings, scene: Scene, text: str) -> Findings:
    return replace(findings, doubts=[*findings.doubts, f"{scene.name}: {text}"])


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return ", ".join(names[:MOST_NAMES]) + more


def _with(scene: Scene, better: Layout) -> str:
    """Name the options for a layout, whatever options led to the present one."""
    flip = scene.layout.then(better).text
    return f"with --flip {flip}" if flip else f"without --flip {scene.layout.text}"


def _out_of_place(small: Views, motion: Motion, unusual: list[int]) -> tuple[float, float]:
    """Return how far targets lie beside their place, in pixels, and the share of the difference that would remain."""
    usual = np.setdiff1d(np.arange(len(motion.turn)), unusual)
    if not usual.size:
        return 0.0, 1.0
    beside = distances(small, motion)[usual]
    return float(np.sqrt(np.mean(beside**2))), float(np.median(motion.remaining[usual]))


def distances(small: Views, motion: Motion) -> NDArray[np.float64]:
    """Return how far each target lies beside its place, in pixels of the small copy.

    Only what the disparity cannot explain counts: movement across the baselines, and rotation.
    """
    e_x, e_y, e_z = small.epipoles.T
    height, width = small.shape
    B = np.stack([e_x - (width - 1) / 2 * e_z, e_y - (height - 1) / 2 * e_z], axis=1)
    B /= np.maximum(np.hypot(*B.T), 1e-12)[:, None]
    across = motion.shift[:, 0] * B[:, 1] - motion.shift[:, 1] * B[:, 0]
    return np.hypot(across, motion.turn * np.hypot(height, width) / np.sqrt(12))
