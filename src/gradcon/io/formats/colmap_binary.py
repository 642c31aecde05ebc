"""The binary form of a sparse COLMAP model, read with pycolmap after its layout has been checked.

pycolmap does not check for the end of a file: it accepts some truncated files and never returns from others.  So we
first follow the counts in every file to its last byte.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from gradcon.errors import InputError
from gradcon.extras import install_extra
from gradcon.files import read_bytes
from gradcon.io.formats.colmap_lens import EXPORT, MODELS, Lens, is_sane, lens_of, refuse_unknown_model
from gradcon.io.formats.colmap_model import Ids, Model, Shot, model_of, shot_of

COPY = "copy or export the model again"
_POSE = 7 * 8  # bytes of a quaternion and a translation


def read_binary(folder: Path) -> Model:
    """Read cameras.bin, images.bin, points3D.bin and, from COLMAP 3.12 on, rigs.bin and frames.bin."""
    try:
        import pycolmap
    except ImportError:
        raise InputError(
            folder,
            "is a binary COLMAP model, which needs pycolmap",
            f"{install_extra('colmap')}, or convert the model with `colmap model_converter --output_type TXT`",
        ) from None
    for name, walk in _LAYOUTS.items():
        path = folder / name
        if path.exists() or name not in _OPTIONAL:
            _Bytes(path).follow(walk)
    try:
        reconstruction = pycolmap.Reconstruction()
        reconstruction.read_binary(str(folder))
        return _model(reconstruction, folder)
    except InputError:
        raise
    except Exception:  # pycolmap raises many kinds of errors
        raise InputError(
            folder,
            "pycolmap cannot read this binary model: its files are damaged or do not belong together",
            EXPORT,
        ) from None


def _model(reconstruction: Any, folder: Path) -> Model:
    lenses: dict[int, Lens] = {}
    for number, camera in reconstruction.cameras.items():
        where = f"{folder / 'cameras.bin'}, camera {number}"
        parameters = [float(value) for value in camera.params]
        lenses[number] = lens_of(camera.model.name, (camera.width, camera.height), parameters, where)
    shots: dict[str, Shot] = {}
    for number, image in reconstruction.images.items():
        where = f"{folder / 'images.bin'}, image {number}"
        if image.name in shots:
            raise InputError(where, f"the image {image.name!r:.60} is listed twice", "list it once")
        pose = image.cam_from_world
        pose = pose() if callable(pose) else pose  # a property before pycolmap 3.12
        x, y, z, w = pose.rotation.quat
        seen: Ids = np.array([p.point3D_id for p in image.points2D if p.has_point3D()], dtype=np.int64)
        shots[image.name] = shot_of(image.name, lenses[image.camera_id], (w, x, y, z), pose.translation, seen, where)
    ids = np.array(list(reconstruction.points3D), dtype=np.int64)
    points = np.array([reconstruction.points3D[k].xyz for k in ids], dtype=np.float64).reshape(-1, 3)
    if not is_sane(points.flat):
        raise InputError(folder / "points3D.bin", "a point is not finite", EXPORT)
    return model_of(list(shots.values()), ids, points)


class _Bytes:
    """The bytes of a file, and a position in them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.data = read_bytes(path)
        self.at = 0

    def follow(self, walk: Callable[[_Bytes], None]) -> None:
        """Walk through the items, whose count is the file's first number; they must end where the file ends."""
        for _ in range(self.number("<Q")):
            walk(self)
        if self.at != len(self.data):
            raise InputError(self.path, "holds more than it states", COPY)

    def skip(self, count: int) -> None:
        self.at += count
        if self.at > len(self.data):
            raise InputError(self.path, "is truncated", COPY)

    def number(self, kind: str) -> int:
        start = self.at
        self.skip(struct.calcsize(kind))
        return int(struct.unpack_from(kind, self.data, start)[0])

    def skip_name(self) -> None:
        end = self.data.find(b"\0", self.at)
        self.skip((end if end >= 0 else len(self.data)) + 1 - self.at)


def _camera(data: _Bytes) -> None:
    number, kind = data.number("<I"), data.number("<i")
    name = _model_name(kind)
    refuse_unknown_model(name, f"{data.path}, camera {number}")
    data.skip(2 * 8 + 8 * MODELS[name].parameters)  # width, height, parameters


def _model_name(kind: int) -> str:
    if 0 <= kind < len(MODELS):
        return list(MODELS)[kind]
    import pycolmap

    known = {model.value: name for name, model in pycolmap.CameraModelId.__members__.items()}
    return known.get(kind, f"number {kind}")


def _image(data: _Bytes) -> None:
    data.skip(4 + _POSE + 4)  # image id, pose, camera id
    data.skip_name()
    data.skip(data.number("<Q") * 24)  # x, y, point id


def _point(data: _Bytes) -> None:
    data.skip(8 + 3 * 8 + 3 + 8)  # point id, x, y, z, colour, error
    data.skip(data.number("<Q") * 8)  # image id, index of the observation


def _rig(data: _Bytes) -> None:
    data.skip(4)
    sensors = data.number("<I")
    data.skip(8 * min(sensors, 1))  # the reference sensor
    for _ in range(sensors - 1):
        data.skip(8)
        data.skip(_POSE * bool(data.number("<B")))


def _frame(data: _Bytes) -> None:
    data.skip(4 + 4 + _POSE)  # frame id, rig id, pose
    data.skip(data.number("<I") * 16)


_OPTIONAL = ("rigs.bin", "frames.bin")
_LAYOUTS = {
    "cameras.bin": _camera,
    "images.bin": _image,
    "points3D.bin": _point,
    "rigs.bin": _rig,
    "frames.bin": _frame,
}
