"""Arrays with axes in an unexpected order are refused, and the remedies in the message work."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest

from gradcon import Options, Scene, cli, estimate, open_scene
from gradcon.errors import InputError
from gradcon.io.formats.lightfield_array import save_lightfield


def some_views(shape: tuple[int, ...]) -> np.ndarray:
    return np.random.default_rng(0).integers(1, 256, shape, dtype=np.uint8)


def saved(path: Path, array: np.ndarray) -> Path:
    np.save(path, array)
    return path


@pytest.mark.parametrize("shape", [(5, 3, 16, 20), (9, 4, 16, 20), (1, 3, 16, 20)])
def test_colours_first_are_refused(tmp_path: Path, shape: tuple[int, ...]) -> None:
    path = saved(tmp_path / "lf.npy", some_views(shape))
    with pytest.raises(
        InputError, match=r"colours first; move the colours to the end.*a last axis of length 1"
    ) as caught:
        open_scene(path)
    views = "one view with its" if shape[0] == 1 else f"{shape[0]} views with their"
    assert str(caught.value).startswith(f"{path}: an array of the shape {shape} may be {views} colours first;")


def test_both_remedies_work(tmp_path: Path) -> None:
    first = some_views((5, 3, 16, 20))
    row = open_scene(saved(tmp_path / "row.npy", np.moveaxis(first, 1, -1)))
    assert len(row.targets) == 4
    np.testing.assert_array_equal(row.colour, np.moveaxis(first[2], 0, -1))
    grid = open_scene(saved(tmp_path / "grid.npy", first[..., None]))
    assert grid.fingerprint() == Scene.from_lightfield(first).fingerprint()
    out = tmp_path / "out"
    estimate(grid, Options("gcm", solves=1, scales=1), check_directions=False).save(out)
    assert (out / "views.jpg").exists()
    assert cli.main(["info", str(tmp_path / "grid.npy"), "--picture", str(tmp_path / "sheet.png")]) == 0


def test_a_grid_of_three_by_three_grey_views_is_one(tmp_path: Path) -> None:
    views = some_views((3, 3, 16, 20))
    assert open_scene(saved(tmp_path / "lf.npy", views)).fingerprint() == Scene.from_lightfield(views).fingerprint()


@pytest.mark.parametrize("suffix", ["npz", "zarr", "h5"])
def test_what_is_saved_can_be_opened_whatever_its_shape(tmp_path: Path, suffix: str) -> None:
    views = some_views((5, 3, 40, 44))
    scene = open_scene(save_lightfield(tmp_path / f"lf.{suffix}", views))
    assert scene.fingerprint() == Scene.from_lightfield(views).fingerprint()


def test_an_hdf5_light_field_is_always_a_grid(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "lf.h5", "w") as root:
        root["LF"] = some_views((5, 3, 16, 20))
    assert len(open_scene(tmp_path / "lf.h5").targets) == 14


@pytest.mark.parametrize("shape", [(64, 80, 5, 5), (64, 80, 9, 9), (64, 80, 5), (40, 48, 5, 5, 3), (512, 512, 9, 9)])
def test_axes_in_another_order_are_refused(tmp_path: Path, shape: tuple[int, ...]) -> None:
    path = saved(tmp_path / "lf.npy", np.ones(shape, np.uint8))
    with pytest.raises(InputError, match=r"axes .*\[v, u, y, x\], \[v, u, y, x, channel\]") as caught:
        open_scene(path)
    assert str(caught.value).startswith(f"{path}: ")
