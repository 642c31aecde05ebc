"""Views of a planar array are warped sixteen pixels at a time; the last ones of a row, one by one."""

from __future__ import annotations

import numpy as np
import pytest

from gradcon.engines.contract import Stage, Weighting
from gradcon.engines.cpu.engine import CpuEngine
from gradcon.engines.reference import ReferenceEngine
from gradcon.scene import Scene

VIEWS = [(1.0, 0.0), (-2.0, 0.0), (0.0, 1.0), (0.0, -2.0), (1.0, -1.0), (2.0, 1.0)]


def scene_of(height: int, width: int) -> Scene:
    pixels = np.random.default_rng(3).random((1 + len(VIEWS), height, width), np.float32)
    return Scene(pixels[0], pixels[1:], VIEWS)


@pytest.mark.parametrize("shape", [(5, 7), (9, 16), (21, 37), (3, 64)])
def test_every_pixel_of_a_row_is_warped(shape: tuple[int, int]) -> None:
    scene, stage = scene_of(*shape), Stage(tuple(range(len(VIEWS))), (0,), 1.0, 1.0, Weighting())
    w = np.random.default_rng(4).uniform(-3, 3, shape).astype(np.float32)
    fast, judge = CpuEngine(scene, 1.0), ReferenceEngine(scene, 1.0)
    expected = judge.warped_images(judge.upload(w), stage)
    np.testing.assert_allclose(fast.warped_images(fast.upload(w), stage), expected, atol=2e-6)


def test_a_disparity_far_outside_reads_no_memory_outside() -> None:
    scene, stage = scene_of(6, 40), Stage(tuple(range(len(VIEWS))), (0,), 1.0, 1.0, Weighting())
    for far in (1e9, -1e9, 1e12, -1e12):
        engine = CpuEngine(scene, 1.0)
        assert not engine.warp(engine.upload(np.full((6, 40), far)), stage).any()
