"""Write rendered scenes as folders that `gradcon.open_scene` reads back."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gradcon.io import hci_view_name, write_hci, write_rig
from gradcon.scene import Views
from gradcon.synth.rendering import shoot


def write(
    name: str,
    folder: str | Path,
    size: tuple[int, int] = (256, 256),
    *,
    grid: int = 9,
    views: Views = "cross",
    seed: int = 0,
) -> Path:
    """Render a named scene, write it as a folder of the 4D Light Field Benchmark, and return the folder.

    The parameters are those of `render`, and `gradcon.open_scene` reads the same scene back.  A parameters.cfg cannot
    describe the cameras of `rotated`, so that scene has a rig.toml instead.
    """
    shot = shoot(name, size, grid, views, seed)
    truth = shot.scene.ground_truth
    if shot.world.rotated:
        images = {hci_view_name(*cell, grid): image for cell, image in shot.images.items()}
        return write_rig(
            folder, images, shot.cameras, reference=next(iter(images)), ground_truth=truth, name=name, unit="m"
        )
    array = np.zeros((grid, grid, *size, 3), np.uint8)
    for cell, image in shot.images.items():
        array[cell] = image
    return write_hci(folder, array, truth, shot.parameters, cells=shot.images)
