"""A judge that needs no truth: predict views that the map was not made from, and compare them with the real ones."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.arrays import to_host
from gradcon.errors import InputError
from gradcon.judging.opinion import second_opinion
from gradcon.judging.similarity import psnr, ssim
from gradcon.rendering.blending import Sources
from gradcon.rendering.inputs import disparity_of
from gradcon.result import Result
from gradcon.scene import Scene


@dataclass(frozen=True)
class LeftOutView:
    """How well one view was predicted from the others.

    Attributes
    ----------
    name : str
    psnr : float
        In dB, over the pixels that other views see.
    ssim : float
        The mean structural similarity of the luma over these pixels; 1 is best.
    seen : float
        The percentage of the pixels that other views see.
    """

    name: str
    psnr: float
    ssim: float
    seen: float


@dataclass(frozen=True, eq=False)
class LeftOut:
    """What `leave_out` returns.

    Attributes
    ----------
    views : list of LeftOutView
        One for each view that was predicted.
    independent : bool
        Whether the map was made without these views.
    psnr, ssim, seen : float
        Means over the views.
    sure : float
        The percentage of the reference's pixels whose disparity these views can tell.
    suspected_rmse : float
        The root mean square of the suspected errors of these pixels, in pixels per unit baseline.  It ranks maps of one
        scene much as their true error does, but it holds the errors of the second map too.
    suspected_badpix_007 : float
        The percentage of these pixels whose suspected error exceeds 0.07.
    failures : (height, width) float32
        The suspected error of each pixel of the reference: how far its disparity is from that of a second map, which
        was made from these views.  It is 0 where they cannot tell.
    """

    views: list[LeftOutView]
    independent: bool
    psnr: float
    ssim: float
    seen: float
    sure: float
    suspected_rmse: float
    suspected_badpix_007: float
    failures: NDArray[np.float32]

    def summary(self) -> dict[str, Any]:
        """Return everything but the map in plain types."""
        names = ("independent", "psnr", "ssim", "seen", "sure", "suspected_rmse", "suspected_badpix_007")
        return {**{name: getattr(self, name) for name in names}, "views": [vars(view) for view in self.views]}


def leave_out(scene: Scene, result: Any, used: Collection[str] | None = None) -> LeftOut:
    """Judge a disparity map by views that it was not made from, without ground truth.

    Each of these views is predicted from the map and the views that were used, and compared with the real one.  Then
    a second map of the reference is made from these views by `sweep`, with nothing set.  The difference of the two maps
    is the suspected error.

    Parameters
    ----------
    scene : Scene
        All views, also those that were not used.
    result : Result, Map or array (height, width)
        The disparity of the scene's reference view.
    used : collection of str, optional
        The names of the views that the map was made from; a Result knows them.  If they are not known, or if no other
        views are left, every view is predicted from all others, and the second map is made from half of the views,
        although the first was made from them too.  If fewer than four are left, others help to make the second map.

    Returns
    -------
    LeftOut

    Examples
    --------
    >>> from gradcon import estimate, leave_out, synth
    >>> few, more = synth.render("planes", (64, 64), views=9), synth.render("planes", (64, 64))
    >>> judged = leave_out(more, estimate(few))
    >>> judged.independent, len(judged.views)
    (True, 8)
    """
    disparity = disparity_of(scene, result)
    if isinstance(used, str):
        raise InputError("used", f"{used!r} is not a list of names", "give the names of some views")
    if used is None and isinstance(result, Result):
        used = result.source["targets"]
    scene = scene.to_host()
    sources = Sources(scene, to_host(disparity))
    every = range(1, 1 + len(scene.target_names))
    left = [k for k in every if used is not None and scene.target_names[k - 1] not in used]
    independent = bool(left)
    if used is not None and len(left) == len(every):
        raise InputError("result", f"was made from none of the views of {scene.name}", "give the result of this scene")
    views = []
    for k in left or every:
        without = left if independent else [k]
        views.append(_compare(scene, sources, k, without))
    second = second_opinion(scene, left)
    suspicion = second.of(sources.disparity)
    return LeftOut(
        views,
        independent,
        float(np.mean([view.psnr for view in views])),
        float(np.mean([view.ssim for view in views])),
        float(np.mean([view.seen for view in views])),
        100 * float(second.sure.mean()),
        suspicion.rmse,
        suspicion.badpix_007,
        suspicion.errors,
    )


def _compare(scene: Scene, sources: Sources, k: int, without: Collection[int]) -> LeftOutView:
    """Predict view k and compare it with the real one."""
    predicted = sources.render(sources.viewpoints[k], sources.seen_by(k), without)
    real = scene.colours[k].astype(np.float32) * np.float32(scene.colour_scale)
    seen = predicted.seen if scene.seen is None else predicted.seen & scene.seen[k]
    share = 100 * float(seen.mean())
    name = scene.target_names[k - 1]
    if not seen.any():
        return LeftOutView(name, 0.0, 0.0, share)
    alike = ssim(predicted.colours.mean(axis=0), real.mean(axis=0))
    error = float(((predicted.colours - real)[:, seen].astype(np.float64) ** 2).mean())
    return LeftOutView(name, psnr(error), float(alike[seen].mean()), share)
