"""The formats, the makers of their samples, and the share of the cases that each gets."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import NamedTuple

from fuzz.sample import Sample


class Format(NamedTuple):
    """A format: where its samples are made, and its weight when cases are shared out."""

    module: str
    function: str
    weight: float

    def samples(self) -> list[Sample]:
        make: Callable[[], list[Sample]] = getattr(import_module(f"fuzz.samples.{self.module}"), self.function)
        return make()


# Formats that take longer to read get fewer cases.
FORMATS = {
    "PNG": Format("images", "png", 10),
    "JPEG": Format("images", "jpeg", 8),
    "PNM": Format("images", "pnm", 6),
    "TIFF": Format("images", "tiff", 8),
    "NPY": Format("arrays", "npy", 8),
    "NPZ": Format("arrays", "npz", 5),
    "Zarr": Format("arrays", "zarr", 2),
    "HDF5": Format("arrays", "hdf5", 2),
    "video": Format("videos", "video", 1),
    "rig.toml": Format("rigs", "rig", 5),
    "COLMAP": Format("rigs", "colmap", 6),
    "HCI": Format("rigs", "hci", 4),
    "Middlebury": Format("rigs", "middlebury", 5),
    "PFM": Format("maps", "pfm", 10),
    "PNG map": Format("maps", "png_map", 8),
    "TIFF map": Format("maps", "tiff_map", 6),
    "NPZ map": Format("maps", "npz_map", 5),
    "EXR map": Format("maps", "exr_map", 3),
    "result": Format("results", "result", 4),
    "views": Format("results", "every_view", 4),
    "judged": Format("results", "judged", 2),
    "weights": Format("results", "weights", 3),
    "video list": Format("results", "video_list", 5),
    "batch list": Format("results", "batch_list", 5),
    "job": Format("results", "job", 5),
    "corpus": Format("corpus", "corpus", 0.2),
    "bombs": Format("corpus", "bombs", 0.02),
}
