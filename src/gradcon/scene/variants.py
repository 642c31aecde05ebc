"""The same scene with something changed: the layout or the places of its cameras, or the colours of its views."""

from __future__ import annotations

import copy
from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np

from gradcon.arrays import filters_of, module_of
from gradcon.errors import InputError
from gradcon.scene import geometry
from gradcon.scene.compensation import WIDE
from gradcon.scene.layout import Layout
from gradcon.scene.luma import Image, Planes, full_scale, luma_of_views
from gradcon.scene.selection import canonical_order

if TYPE_CHECKING:
    from gradcon.scene.scene import Scene

MOST_NAMES = 6  # that an error lists
LEAST_PARALLAX = 1e-9  # of the longest baseline; a view with less stands in the same place


def laid_out(scene: Scene, layout: Layout) -> Scene:
    """Return the scene with its baselines transposed or reversed.  Works for planar arrays only."""
    if not scene.is_planar:
        problem = "its views have camera matrices, and only the baselines of a planar array can be flipped"
        raise InputError(scene.name, problem, "correct the matrices")
    B = layout.of(scene.baselines)
    M, m = geometry.planar(B)
    order = canonical_order(M, m, B)
    views = np.concatenate([[0], 1 + order])
    new = copy.copy(scene)
    new.layout = scene.layout.then(layout)
    new.M, new.m, new.baselines = M[order], m[order], B[order]
    new.target_names = [scene.target_names[k] for k in order]
    new.colours, new._grey, new._targets = scene.colours[views], scene._grey[views], None
    new.seen = scene.seen[views] if scene.seen is not None else None
    new.calibration = scene.calibration.laid_out(layout) if scene.calibration is not None else None
    new.metadata = dict(scene.metadata)
    return new


def without_views(scene: Scene, names: Collection[str]) -> Scene:
    """Return the scene without some of its targets."""
    kept = [t for t, name in enumerate(scene.target_names) if name not in names]
    views = [0, *(1 + t for t in kept)]
    new = copy.copy(scene)
    new.M, new.m, new.baselines = scene.M[kept], scene.m[kept], scene.baselines[kept]
    new.target_names = [scene.target_names[t] for t in kept]
    new.colours, new._grey, new._targets = scene.colours[views], scene._grey[views], None
    new.seen = scene.seen[views] if scene.seen is not None else None
    return new


def seen_from(scene: Scene, view: str) -> Scene:
    """Return the scene with another of its views as the reference; the pixels are shared, not copied.

    The unit of disparity stays: a surface at the depth Z of a view has the same disparity in the maps of all views.  So
    do the product and the offset of the calibration, whose K becomes that view's.  The ground truth belongs to the
    reference and is not kept.  Views that show no parallax to the new reference, or nothing of what it sees, are left
    out.
    """
    if view == scene.reference_name:
        return scene
    if view not in scene.target_names:
        known = ", ".join([scene.reference_name, *scene.target_names][:MOST_NAMES])
        raise InputError(scene.name, f"has no view {view!r}", f"give one of its views, such as {known}")
    t = scene.target_names.index(view)
    offset = scene.calibration.offset if scene.calibration is not None else 0.0
    M, m = geometry.seen_from(scene.M, scene.m, t, offset)
    B = np.array([geometry.baseline(Mt, mt, scene.shape) for Mt, mt in zip(M, m, strict=True)])
    lengths = np.hypot(*B.T)
    kept = np.flatnonzero(lengths > LEAST_PARALLAX * np.nanmax(lengths, initial=0.0))
    if not kept.size:
        raise InputError(view, "sees nothing of what the other views see", "leave it out, or check its camera")
    order = kept[canonical_order(M[kept], m[kept], B[kept])]
    places = np.concatenate([[0], np.delete(np.arange(1, 1 + len(M)), t)])[order]  # of the new targets
    names = [scene.reference_name, *scene.target_names]
    new = copy.copy(scene)
    new.M, new.m, new.baselines = M[order], m[order], B[order]
    new.reference_name, new.target_names = view, [names[k] for k in places]
    views = np.concatenate([[1 + t], places])
    new.reorder(views)
    new.seen = scene.seen[views] if scene.seen is not None else None
    new._targets, new.reference = None, scene.target(t)
    new.ground_truth = None
    if scene.calibration is not None:
        new.calibration = scene.calibration.of_view(scene.M[t], scene.m[t])
    new.metadata = dict(scene.metadata)
    return new


def with_colours(scene: Scene, colours: Planes, scale: float) -> Scene:
    """Return the scene with other colours; colours * scale is from 0 to 1.  The reference keeps its luma."""
    new = copy.copy(scene)
    new.colours, new.colour_scale, new._targets = colours, scale, None
    new.white = 1.0 / (full_scale(colours.dtype) or 1) / scale
    return new


def moved(scene: Scene, A: geometry.Floats) -> Scene:
    """Return the scene with targets that lie beside their place.

    Let p be where a target without rotation should show a pixel.  It shows it at A_t p; A is (T, 3, 3).
    """
    new = copy.copy(scene)
    epipoles = np.linalg.solve(scene.M, scene.m[..., None])
    new.M = scene.M @ A
    new.m = (new.M @ epipoles)[..., 0]
    return new


def smoothed(scene: Scene, sigma: float) -> Scene:
    """Return the scene with all views convolved with a Gaussian."""
    xp = module_of(scene.colours)
    gaussian_filter = filters_of(scene.colours).gaussian_filter
    integers = scene.colours.dtype.kind == "u"
    colours = xp.empty(scene.colours.shape, WIDE if integers else np.float32)
    factor = np.float32((full_scale(colours.dtype) or 1) / (full_scale(scene.colours.dtype) or 1))
    for view, image in enumerate(scene.colours):  # one by one, because floats are large
        smooth = gaussian_filter(image.astype(np.float32) * factor, (0, sigma, sigma), mode="nearest")
        colours[view] = xp.rint(smooth) if integers else smooth
    new = with_colours(scene, colours, scene.colour_scale / float(factor))
    new.reference = _luma_of_reference(new)
    return new


def with_white(scene: Scene, white: float) -> Scene:
    """Return the scene with another value of white, which all views are divided by."""
    if white == scene.white:
        return scene
    new = copy.copy(scene)
    new.white, new._targets = white, None
    new.colour_scale = 1.0 / (full_scale(scene.colours.dtype) or 1) / white
    new.reference = _luma_of_reference(new)
    return new


def _luma_of_reference(scene: Scene) -> Image:
    luma: Image = luma_of_views(scene.colours[:1], scene._grey[:1], scene.white)[0]
    return luma
