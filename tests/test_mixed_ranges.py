"""Views of floats in different ranges are refused, and views that merely look different are not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from gradcon import InputError, Scene, synth

Floats = NDArray[np.float32]


def views(count: int = 5) -> list[Floats]:
    scene = synth.render("planes", (48, 64), views=count)
    return [np.moveaxis(view, 0, -1).astype(np.float32) / 255 for view in scene.colours]


def scene_of(images: list[Any]) -> Scene:
    names = [f"view {k}" for k in range(1, len(images))]
    return Scene(images[0], images[1:], [(-k, 0) for k in range(1, len(images))], target_names=names)


@pytest.mark.parametrize(("low", "high"), [(1, 255), (1, 65535), (255, 65535)])
@pytest.mark.parametrize("grey", [False, True])
def test_mixed_ranges_are_refused_and_the_odd_view_is_named(low: int, high: int, grey: bool) -> None:
    for odd in range(5):
        for own, other in ((low, high), (high, low)):
            images = [view * np.float32(own if k == odd else other) for k, view in enumerate(views())]
            images = [image.mean(axis=2) for image in images] if grey else images
            name = f"view {odd}" if odd else "reference"
            said = rf"^{name}: .* 0 \.\. {own:g} but those of .* in 0 \.\. {other:g}; bring all views to one range"
            with pytest.raises(InputError, match=said):
                scene_of(images)


def test_a_pair_of_mixed_ranges_and_gains_is_refused() -> None:
    left, right = views(2)
    with pytest.raises(InputError, match="range"):
        scene_of([left, right * np.float32(255 * 0.75)])
    with pytest.raises(InputError, match="range"):
        scene_of([left.astype(np.float64) * 255, lambda: right])


def highlight(view: Floats) -> Floats:
    view = view.copy()
    view[:3, :3] = 300.0
    return view


@pytest.mark.parametrize("full", [1.0, 255.0, 65535.0])
@pytest.mark.parametrize(
    "change",
    [np.zeros_like, np.ones_like, highlight, lambda view: view * 0.7, lambda view: view * 1.3, lambda view: view / 100,
     lambda view: np.random.default_rng(0).normal(0.002, 0.0005, view.shape), lambda view: np.full_like(view, 1 / 255),
     lambda view: view - 0.5, lambda view: np.random.default_rng(0).integers(0, 3, view.shape) / 255],
)  # fmt: skip
def test_odd_views_of_the_same_range_are_not_refused(full: float, change: Callable[[Floats], Floats]) -> None:
    for odd in (0, 2):
        images = [(change(view) if k == odd else view) * full for k, view in enumerate(views())]
        scene_of([image.astype(np.float32) for image in images])
