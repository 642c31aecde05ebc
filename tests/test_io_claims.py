"""Files that claim far more than their bytes can hold are refused before anything of that size is read."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import zarr

from gradcon import open_scene, synth
from gradcon.errors import InputError
from gradcon.io.formats import column_order, hdf5
from gradcon.io.formats.lightfield_array import save_lightfield
from gradcon.io.images import read_image


def some_views(shape: tuple[int, ...]) -> np.ndarray:
    return np.random.default_rng(0).integers(1, 256, shape, dtype=np.uint8)


def refuse_reading(*_: Any, **__: Any) -> Any:
    pytest.fail("a view was read")


def test_hdf5_of_next_to_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "lf.h5"
    with h5py.File(path, "w") as root:
        shape, chunks = (9, 9, 30000, 30000, 3), (1, 1, 500, 500, 3)
        root.create_dataset("LF", shape, "uint8", chunks=chunks, compression="gzip")[4, 4, :500, :500] = 7
    assert path.stat().st_size < 20000
    monkeypatch.setattr(hdf5, "_view", refuse_reading)
    with pytest.raises(InputError, match=rf"^{path}: its dataset LF claims 218,700,000,000 bytes, but"):
        open_scene(path, views=2)


def test_hdf5_that_packs_well_is_read(tmp_path: Path) -> None:
    views = np.full((3, 3, 400, 400), 7, np.uint8)
    with h5py.File(tmp_path / "lf.h5", "w") as root:
        root.create_dataset("LF", data=views, chunks=(1, 1, 400, 400), compression="gzip", compression_opts=9)
        assert root["LF"].id.get_storage_size() < views.nbytes / 300
    assert len(open_scene(tmp_path / "lf.h5").targets) == 8


@pytest.mark.parametrize("right", [True, False])
def test_the_order_of_columns_is_told_by_a_part_of_large_views(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, right: bool
) -> None:
    synth.write("occlusion", tmp_path / "hci", size=(64, 80), grid=3, views="all")
    views = np.array([read_image(path) for path in sorted((tmp_path / "hci").glob("*.png"))]).reshape(3, 3, 64, 80, 3)
    truth = open_scene(tmp_path / "hci").ground_truth
    with h5py.File(tmp_path / "lf.h5", "w") as root:
        root["LF"] = views if right else views[:, ::-1]
        root["GT_DEPTH"] = 10 / (truth + 10)
        root.attrs.update(dH=0.1, focalLength=100, shift=10)
    monkeypatch.setattr(hdf5, "WINDOW", 48)
    seen: list[tuple[int, ...]] = []
    to_luma = column_order.to_luma
    monkeypatch.setattr(column_order, "to_luma", lambda image: seen.append(image.shape) or to_luma(image))
    assert open_scene(tmp_path / "lf.h5").metadata["columns"] == hdf5.COLUMNS[right]
    assert set(seen) == {(48, 48, 3)}


def test_zarr_of_next_to_nothing(tmp_path: Path) -> None:
    path = tmp_path / "lf.zarr"
    zarr.create_array(str(path), shape=(9, 9, 30000, 30000), dtype="uint8", chunks=(1, 1, 1000, 1000))
    with pytest.raises(InputError, match=rf"^{path}: its views claim 72,900,000,000 bytes, but"):
        open_scene(path, views=2)


@pytest.mark.parametrize("group", [True, False])
def test_a_chunk_that_would_unpack_to_far_more(tmp_path: Path, group: bool) -> None:
    views, path = some_views((3, 3, 32, 40)), tmp_path / "lf.zarr"
    root: Any = zarr.create_group(str(path)) if group else None
    more: dict[str, Any] = {"shape": views.shape, "dtype": "uint8", "chunks": (1, 1, 32, 40)}
    more["compressors"] = zarr.codecs.GzipCodec()
    array = root.create_array("views", **more) if group else zarr.create_array(str(path), **more)
    array[...] = views
    assert len(open_scene(path).targets) == 8
    part = "views/c/1/1/0/0" if group else "c/1/1/0/0"
    (path / part).write_bytes(gzip.compress(bytes(2**20)) * 200)  # 200 MiB in 200 kB
    with pytest.raises(InputError, match=rf"^{path}: its part {part} has .* but the values of a chunk take 1,280"):
        open_scene(path, views=2)


def test_views_that_pack_well_are_read(tmp_path: Path) -> None:
    views = np.full((3, 3, 1000, 1000), 7, np.uint8)
    assert len(open_scene(save_lightfield(tmp_path / "lf.zarr", views), views=3).targets) == 2
