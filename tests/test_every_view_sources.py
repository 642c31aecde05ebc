"""A map for every view works for lines, turned rigs, COLMAP models and frames of a video alike."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gradcon import Camera, Scene, estimate_views, open_frames, open_scene, synth
from gradcon.io.images import png
from gradcon.synth.raycast import depth
from gradcon.synth.rendering import Shot, shoot

pytestmark = pytest.mark.slow

SIZE = (64, 88)
GRID, AROUND = 3, "all"

Found = tuple[Scene, dict[str, Camera]]  # a scene, and the cameras of its views


def line(shot: Shot, folder: Path) -> Found:
    """The middle row of the grid, as images named by row and column."""
    cameras = {}
    for ((row, column), image), camera in zip(shot.images.items(), shot.cameras, strict=True):
        if row == GRID // 2:
            cameras[f"cam_0_{column}.png"] = camera
            (folder / f"cam_0_{column}.png").write_bytes(png.encode(image))
    return open_scene(folder), cameras


def video(shot: Shot, folder: Path) -> Found:
    """The second of two frames; the first one shows something else."""
    cameras = {}
    for ((row, column), image), camera in zip(shot.images.items(), shot.cameras, strict=True):
        name = f"cam_{row}_{column}"
        cameras[name] = camera
        (folder / name).mkdir()
        for k, frame in enumerate((image[::-1, ::-1], image)):
            (folder / name / f"frame_{k}.png").write_bytes(png.encode(np.ascontiguousarray(frame)))
    return open_frames(folder)[1], cameras


def rig(shot: Shot, folder: Path) -> Found:
    """Images with a rig.toml."""
    synth.write(shot.scene.name, folder / "rig", SIZE, grid=GRID, views=AROUND)
    return open_scene(folder / "rig"), dict(zip(shot.scene.metadata["cameras"], shot.cameras, strict=True))


def colmap(shot: Shot, folder: Path) -> Found:
    """Images with a sparse model in text form, whose pixels begin half a pixel earlier."""
    cameras, lenses, shots = dict(zip(shot.scene.metadata["cameras"], shot.cameras, strict=True)), [], []
    (folder / "sparse").mkdir()
    (folder / "images").mkdir()
    for k, ((name, camera), image) in enumerate(zip(cameras.items(), shot.images.values(), strict=True), start=1):
        (folder / "images" / name).write_bytes(png.encode(image))
        K = camera.K
        lenses.append(f"{k} PINHOLE {SIZE[1]} {SIZE[0]} {K[0, 0]} {K[1, 1]} {K[0, 2] + 0.5} {K[1, 2] + 0.5}")
        x, y, z, w = Rotation.from_matrix(camera.R).as_quat()
        shots.append(f"{k} {' '.join(map(str, (w, x, y, z, *camera.t)))} {k} {name}\n0 0 -1")
    for name, lines in (("cameras", lenses), ("images", shots), ("points3D", [])):
        (folder / f"sparse/{name}.txt").write_text("\n".join(lines))
    return open_scene(folder, reference=shot.scene.reference_name), cameras


SOURCES: dict[str, tuple[str, Callable[[Shot, Path], Found]]] = {
    "line": ("planes", line), "video": ("planes", video), "rig": ("rotated", rig), "colmap": ("rotated", colmap),
}  # fmt: skip


@pytest.mark.parametrize("name", SOURCES)
def test_all_views_get_true_maps(name: str, tmp_path: Path) -> None:
    world, make = SOURCES[name]
    shot = shoot(world, SIZE, GRID, AROUND, 0)
    scene, cameras = make(shot, tmp_path)
    every = estimate_views(scene, engine="cpu", check_directions=False)
    assert list(every.results) == [scene.reference_name, *scene.target_names]
    for view, result in every.results.items():
        Z = depth(shot.world.surfaces, cameras[view], SIZE)
        calibration = result.scene.calibration
        if calibration is not None:
            truth = calibration.disparity(Z)
        else:  # images alone do not tell what stands beside them
            truth = shot.world.baseline * cameras[view].K[0, 0] * (1 / Z - 1 / shot.world.focus)
        assert np.median(np.abs(result.disparity - truth)) < 0.05, view
