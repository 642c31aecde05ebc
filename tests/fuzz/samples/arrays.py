"""Light fields as one array: NumPy, Zarr and HDF5."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.sample import Sample, in_memory, written
from fuzz.samples.images import pixels

GRID = (3, 3, 8, 8)
PARAMETERS = {
    "focal_length_mm": 50.0,
    "sensor_size_mm": 36.0,
    "baseline_mm": 18.0,
    "focus_distance_m": 2.15,
    "scene": "three",
}


def npy() -> list[Sample]:
    arrays = [pixels(GRID), pixels((*GRID, 3)), pixels(GRID, np.uint16), pixels(GRID).astype(">f4") / 256]
    return [Sample({"lf.npy": in_memory(lambda file, a=a: np.save(file, a))}, "scene", "lf.npy") for a in arrays]


def npz() -> list[Sample]:
    from gradcon import save_lightfield

    def rich(folder: Path) -> None:
        save_lightfield(folder / "lf.npz", pixels(GRID), ground_truth=np.ones(GRID[2:]), parameters=PARAMETERS)

    plain = in_memory(
        lambda file: np.savez_compressed(file, views=pixels((3, 8, 8)), baselines=[[1, 0], [0, 0], [-1, 0]])
    )
    files = [written(rich), {"lf.npz": plain}]
    return [Sample(made, "scene", "lf.npz", repair=repair) for made in files for repair in ("zip", "")]


def zarr() -> list[Sample]:
    import numcodecs
    from zarr import codecs
    from zarr.codecs.numcodecs import LZ4

    from gradcon import save_lightfield

    one = (1, 1, *GRID[2:])
    kinds: list[dict[str, Any]] = [
        {"zarr_format": 2, "compressors": numcodecs.Blosc("lz4"), "chunks": one},
        {"zarr_format": 2, "compressors": numcodecs.Zstd(), "chunks": one},
        {"zarr_format": 2, "compressors": numcodecs.GZip(), "chunks": one, "filters": numcodecs.Delta("u1")},
        {"zarr_format": 3, "compressors": codecs.BloscCodec(cname="zstd"), "chunks": one},
        {"zarr_format": 3, "compressors": codecs.ZstdCodec(), "chunks": one},
        {"zarr_format": 3, "compressors": codecs.GzipCodec(), "chunks": one},
        {"zarr_format": 3, "compressors": LZ4(), "chunks": one},
        {"zarr_format": 3, "compressors": codecs.ZstdCodec(), "chunks": one, "shards": GRID},
    ]
    stores = [written(lambda folder, kind=kind: _store(folder / "lf.zarr", kind)) for kind in kinds]
    stores.append(
        written(
            lambda folder: save_lightfield(
                folder / "lf.zarr", pixels(GRID), ground_truth=np.ones(GRID[2:]), parameters=PARAMETERS
            )
        )
    )
    folders = [Sample(files, "scene", "lf.zarr") for files in stores]
    zips = [Sample({"lf.zip": _zipped(stores[k])}, "scene", "lf.zip", repair="zip") for k in (0, 4, 8)]
    return folders + zips


def hdf5() -> list[Sample]:
    import h5py

    def write(path: Path, **how: Any) -> None:
        with h5py.File(path, "w") as root:
            root.create_dataset("LF", data=pixels((*GRID, 3)), **how)
            root.create_dataset("GT_DEPTH", data=np.full(GRID, 10.0, np.float32))
            root.attrs.update({"dH": 0.3, "focalLength": 40.0, "shift": 0.25, "unit": "mm", "name": b"three"})

    chunks = (1, 1, *GRID[2:], 3)
    kinds: list[dict[str, Any]] = [{}, {"chunks": chunks, "compression": "gzip"}, {"chunks": chunks, "shuffle": True}]
    kinds.append({"chunks": chunks, "fletcher32": True})
    return [Sample(written(lambda folder, how=how: write(folder / "lf.h5", **how)), "scene", "lf.h5") for how in kinds]


def _store(path: Path, kind: dict[str, Any]) -> None:
    import zarr

    zarr.create_array(path, shape=GRID, dtype="uint8", **kind)[...] = pixels(GRID)


def _zipped(files: dict[str, bytes]) -> bytes:
    def write(file: Any) -> None:
        with zipfile.ZipFile(file, "w") as archive:
            for name, content in files.items():
                archive.writestr(zipfile.ZipInfo(name.removeprefix("lf.zarr/")), content)

    return in_memory(write)
