"""Frames of a camera that slides past a synthetic scene, for the tests of `--slide`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon import Camera, synth
from gradcon.synth.raycast import depth, expose
from gradcon.synth.textures import Painter


def sliding_frames(
    name: str, size: tuple[int, int], count: int, step: tuple[float, float]
) -> tuple[list[NDArray[Any]], NDArray[np.float64]]:
    """Render the frames of a camera that moves by `step` metres (right, down) per frame.

    Also return the disparity of the middle frame, in pixels per frame.
    """
    focal = 1.4 * max(size)
    world = synth.SCENES[name](Painter(focal / 2.4, 0))
    K = np.array([[focal, 0, (size[1] - 1) / 2], [0, focal, (size[0] - 1) / 2], [0, 0, 1]])
    cameras = [Camera(K, np.eye(3), -np.array([*step, 0.0]) * (k - count // 2)) for k in range(count)]
    frames = [expose(world.surfaces, world.lamp, camera, size) for camera in cameras]
    Z = depth(world.surfaces, cameras[count // 2], size)
    return frames, focal * np.hypot(*step) / Z
