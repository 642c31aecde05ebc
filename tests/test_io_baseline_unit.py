"""The unit of the baselines that are stored with an array; depth depends on it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import zarr

from gradcon import Scene, open_scene
from gradcon.errors import InputError
from gradcon.io.formats.lightfield_array import save_lightfield

VIEWS = np.random.default_rng(0).integers(1, 256, (3, 3, 16, 20), dtype=np.uint8)
STEPS = np.array([(1 - u, 1 - v) for v in range(3) for u in range(3)], float)
CAMERA = {"focal_length_mm": 50.0, "sensor_size_mm": 36.0, "focus_distance_m": 2.15}


def listed(path: Path, baselines: np.ndarray, baseline_mm: float) -> Path:
    views, fields = VIEWS.reshape(9, 16, 20), {**CAMERA, "baseline_mm": baseline_mm}
    if path.suffix == ".npz":
        np.savez(path, views=views, baselines=baselines, **fields)
    else:
        group = zarr.create_group(store=str(path), attributes={**fields, "reference": 4})
        group.create_array("views", data=views)
        group.create_array("baselines", data=baselines)
    return path


def depth_of_half_a_pixel_a_step(scene: Scene, unit: float) -> float:
    return float(scene.calibration.depth(0.5 / unit))


@pytest.mark.parametrize("suffix", ["npz", "zarr"])
@pytest.mark.parametrize(("unit", "baseline_mm"), [(1.0, 18.0), (18.0, 1.0), (0.95, 18.0)])
def test_depth_equals_that_of_the_grid(tmp_path: Path, suffix: str, unit: float, baseline_mm: float) -> None:
    grid = open_scene(save_lightfield(tmp_path / "grid.npz", VIEWS, parameters={**CAMERA, "baseline_mm": 18.0}))
    scene = open_scene(listed(tmp_path / f"lf.{suffix}", STEPS * unit, baseline_mm))
    expected = depth_of_half_a_pixel_a_step(grid, 1)
    if unit == 0.95:  # cameras that stand nearer to each other: the same disparity is of something nearer
        assert depth_of_half_a_pixel_a_step(scene, unit) < expected
    else:
        assert depth_of_half_a_pixel_a_step(scene, unit) == pytest.approx(expected)


@pytest.mark.parametrize("suffix", ["npz", "zarr"])
@pytest.mark.parametrize("unit", [18.0, 0.018, 17.1, 0.0187])
def test_baselines_in_another_unit_are_refused(tmp_path: Path, suffix: str, unit: float) -> None:
    path = listed(tmp_path / f"lf.{suffix}", STEPS * unit, 18.0)
    meant = "millimetres" if unit > 1 else "metres"
    says = rf"^{path}: its nearest views stand {unit:g} apart, as if in {meant}, .*in millimetres with baseline_mm=1"
    with pytest.raises(InputError, match=says):
        open_scene(path)


def test_the_origin_of_baselines_is_arbitrary(tmp_path: Path) -> None:
    np.savez(
        tmp_path / "lf.npz",
        views=VIEWS[0],
        baselines=[(101, 0), (100, 0), (99, 0)],
        reference=1,
        **CAMERA,
        baseline_mm=9,
    )
    assert open_scene(tmp_path / "lf.npz").calibration is not None


PLACED = STEPS + np.random.default_rng(6).normal(0, 0.04, STEPS.shape) * np.any(STEPS, axis=1)[:, None]


@pytest.mark.parametrize(
    ("baselines", "baseline_mm"),
    [
        (PLACED, 18.0),  # measured, and set up by hand
        (STEPS * (1, 0.8), 18.0),
        (STEPS * 2, 18.0),  # every second camera of a grid
        (STEPS * 1.5, 18.0),
        (STEPS, 1.05),
        (STEPS, 1000.0),  # steps of a metre
        (STEPS, 1020.0),
    ],
)
def test_neighbours_need_not_stand_one_step_apart(tmp_path: Path, baselines: np.ndarray, baseline_mm: float) -> None:
    scene = open_scene(listed(tmp_path / "lf.npz", baselines, baseline_mm))
    assert sorted(map(tuple, scene.baselines)) == sorted(map(tuple, np.delete(baselines, 4, axis=0)))
    assert scene.calibration is not None


def test_one_close_pair_of_views_does_not_hide_the_unit(tmp_path: Path) -> None:
    baselines = STEPS * 18.0
    baselines[0] += 0.5, 17.0
    with pytest.raises(InputError, match="as if in millimetres"):
        open_scene(listed(tmp_path / "lf.npz", baselines, 18.0))
