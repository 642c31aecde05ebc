"""Prepare a scene for its estimate: look at it, and use what the look has found."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from gradcon import engines
from gradcon.engines.failures import in_words
from gradcon.engines.registry import PREFERRED
from gradcon.errors import InputError
from gradcon.methods.found_settings import found
from gradcon.methods.look import Look, look_at
from gradcon.methods.look.alignment import alignment
from gradcon.methods.look.noise import noise_of_luma
from gradcon.methods.options import Options
from gradcon.methods.registry import METHODS
from gradcon.methods.sweep.settings import smoothing
from gradcon.scene import Scene
from gradcon.scene.compensation import compensated_colours
from gradcon.scene.geometry import Floats
from gradcon.scene.variants import moved, smoothed, with_colours, without_views


class Prepared(NamedTuple):
    """A scene that is ready to be estimated."""

    scene: Scene  # compensated for what the look has found
    options: Options  # with what the look has found in place of what was not given
    start: float | None  # the disparity to start from, if none is given
    look: Look
    alignment: Floats | None  # of the targets, if it was asked for
    seconds: float

    def used(self, scene: Scene) -> Scene:
        """Return the scene as it was given, without the views that were left out."""
        findings = self.look.findings
        return without_views(scene, findings.odd_views) if findings.left_out else scene


def prepare_where_it_fits(
    scene: Scene, options: Options, engine: str, check_places: bool = True, known: Floats | None = None
) -> tuple[Prepared, str]:
    """Prepare a scene, and return the engine that has room for it: `auto` takes the CPU if the GPU has too little."""
    try:
        return prepare(scene, options, engine, check_places, known), engine
    except InputError:
        if engine != engines.AUTO or engines.kind_for(engine).name == PREFERRED[-1]:
            raise
        return prepare(scene.to_host(), options, PREFERRED[-1], check_places, known), PREFERRED[-1]


@in_words
def prepare(
    scene: Scene, options: Options, engine: str, check_places: bool = True, known: Floats | None = None
) -> Prepared:
    """Look at a scene and prepare it; `known` is its alignment, if an earlier frame of a video has shown it."""
    began = time.perf_counter()
    if options.align:
        known = alignment(scene, engine) if known is None else known
        scene = moved(scene, known)
    look = look_at(scene, options, engine, check_places)
    if known is not None:
        look = look._replace(findings=replace(look.findings, aligned=True, out_of_place=_mean_shift(known, scene)))
    if look.findings.left_out:
        scene = without_views(scene, look.findings.odd_views)
    if look.findings.compensated:
        bright = [view for view in look.findings.brightness if view.view in scene.target_names]
        gain, offset = (np.array([getattr(view, name) for view in bright]) for name in ("gain", "offset"))
        scene = with_colours(scene, *compensated_colours(scene.colours, scene.colour_scale, gain, offset))
    start = None
    if METHODS[options.method].sweeps:
        blur, _ = smoothing(look.findings.noise, look.findings.texture)
        scene = smoothed(scene, blur) if blur else scene
    else:
        luma_noise = noise_of_luma(look.findings.noise, scene)
        options, start = found(options, *look.findings.disparity_range, luma_noise, scene.unit)
    return Prepared(scene, options, start, look, known, time.perf_counter() - began)


def _mean_shift(A: Floats, scene: Scene) -> float:
    """Return by how many pixels an alignment moves the views: the root mean square over views and corners."""
    height, width = scene.shape
    corners = np.array([[0, 0, 1], [width - 1, 0, 1], [0, height - 1, 1], [width - 1, height - 1, 1]], np.float64)
    return float(np.sqrt(np.mean(np.sum(((corners @ np.swapaxes(A, 1, 2)) - corners)[..., :2] ** 2, axis=-1))))
