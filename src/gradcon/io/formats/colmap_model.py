"""A sparse COLMAP model: the cameras, the pose of each image, and the reconstructed points.

This module reads the text form (cameras.txt, images.txt, points3D.txt); `colmap_binary` reads the binary form with
pycolmap.  COLMAP's conventions: x_camera = R X_world + t, with R from the quaternion (w, x, y, z); x points
to the right, y down and z ahead.  The centre of the top left pixel is (0.5, 0.5), where ours is (0, 0).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gradcon.damage import leaves_folder
from gradcon.errors import InputError
from gradcon.files import read_text
from gradcon.io.formats.colmap_lens import EXPORT, Lens, is_sane, lens_of, refuse_unknown_model
from gradcon.scene.geometry import Camera, Floats

Ids = NDArray[np.int64]

MAX_TEXT_BYTES = 2**31
_INTEGER = re.compile(r"-?[0-9]{1,18}", re.ASCII)
_NO_POINT = -1


@dataclass(frozen=True)
class Shot:
    """What COLMAP calls an image: its file, its camera, and the sorted ids of the points seen in it."""

    name: str
    camera: Camera
    lens: Lens
    points: Ids

    @property
    def size(self) -> tuple[int, int]:
        """The (width, height) of the image."""
        return self.lens.size


@dataclass(frozen=True)
class Model:
    """A sparse model; `points` are in the order of the sorted `point_ids`."""

    shots: list[Shot]
    point_ids: Ids
    points: Floats


def form_of(folder: Path) -> str | None:
    """Return which form of a model a folder holds: "txt" (also if both are present), "bin" or None."""
    for form in ("txt", "bin"):
        if all((folder / f"{part}.{form}").is_file() for part in ("cameras", "images")):
            return form
    return None


def read_model(folder: Path) -> Model:
    """Read the model in a folder, which `form_of` has found to hold one."""
    if form_of(folder) == "bin":
        from gradcon.io.formats.colmap_binary import read_binary

        return read_binary(folder)
    points = folder / "points3D.txt"
    empty = not points.exists() or (points.is_file() and points.stat().st_size == 0)  # as in models with known poses
    return parse_model(
        read_text(folder / "cameras.txt", MAX_TEXT_BYTES),
        read_text(folder / "images.txt", MAX_TEXT_BYTES),
        "" if empty else read_text(points, MAX_TEXT_BYTES),
        folder,
    )


def parse_model(cameras: str, images: str, points: str, folder: Path) -> Model:
    """Parse a model from the texts of its three files; `folder` names it in errors."""
    lenses = _parse_cameras(cameras, folder / "cameras.txt")
    shots = _parse_images(images, lenses, folder / "images.txt")
    return model_of(shots, *_parse_points(points, folder / "points3D.txt"))


def model_of(shots: list[Shot], ids: Ids, points: Floats) -> Model:
    """Build a model whose parts are in an order that does not depend on that of the files."""
    order = np.argsort(ids, kind="stable")
    return Model(sorted(shots, key=lambda shot: shot.name), ids[order], points[order])


def shot_of(name: str, lens: Lens, quaternion: Sequence[float], t: Sequence[float], points: Ids, where: str) -> Shot:
    """Check what a model says about an image; `where` names the image in errors."""
    if leaves_folder(name):
        raise InputError(where, f"the name {name!r:.60} leaves the folder of images", "name a file in it")
    if not is_sane([*quaternion, *t]):
        raise InputError(where, "its pose holds a number that is not finite", EXPORT)
    camera = Camera.of(lens.K, _rotation(quaternion, where), t, where)
    return Shot(name, camera, lens, np.unique(points[points != _NO_POINT]))


def _rotation(quaternion: Sequence[float], where: str) -> Floats:
    q = np.asarray(quaternion, dtype=np.float64)
    length = float(np.linalg.norm(q))
    if not abs(length - 1) < 0.01:  # a unit quaternion, up to rounding
        raise InputError(where, f"the quaternion has the length {length:.3g}, not 1", EXPORT)
    w, x, y, z = q / length
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Number and strip the lines.  Only a line feed ends one: a name may hold other separators."""
    return ((number, line.strip()) for number, line in enumerate(text.split("\n"), 1))


def _parse_cameras(text: str, path: Path) -> dict[int, Lens]:
    lenses: dict[int, Lens] = {}
    for number, line in _lines(text):
        if not line or line.startswith("#"):
            continue
        where = f"{path}, line {number}"
        parts = line.split()
        if len(parts) < 5:
            raise InputError(where, "must be CAMERA_ID MODEL WIDTH HEIGHT PARAMS", EXPORT)
        camera_id = _integer(parts[0], where)
        if camera_id in lenses:
            raise InputError(where, f"there is already a camera {camera_id}", EXPORT)
        refuse_unknown_model(parts[1], f"{where}, camera {camera_id}")
        size = [_integer(part, where) for part in parts[2:4]]
        numbers = [_number(part, where) for part in parts[4:]]
        lenses[camera_id] = lens_of(parts[1], size, numbers, f"{where}, camera {camera_id}")
    return lenses


def _parse_images(text: str, lenses: dict[int, Lens], path: Path) -> list[Shot]:
    shots: dict[str, Shot] = {}
    ids: set[int] = set()
    lines = _lines(text)
    for number, line in lines:
        if not line or line.startswith("#"):
            continue
        where = f"{path}, line {number}"
        parts = line.split(None, 9)  # the name comes last and may hold spaces
        if len(parts) < 10:
            raise InputError(
                where,
                "must be IMAGE_ID QW QX QY QZ TX TY TZ CAMERA_ID NAME, followed by a line with the image's points "
                "(which may be empty)",
                EXPORT,
            )
        image_id, camera_id = _integer(parts[0], where), _integer(parts[8], where)
        pose = [_number(part, where) for part in parts[1:8]]
        if camera_id not in lenses:
            raise InputError(where, f"there is no camera {camera_id} in cameras.txt", EXPORT)
        if image_id in ids or parts[9] in shots:
            raise InputError(where, f"the image {parts[9]!r:.60} or its number is listed twice", "list it once")
        ids.add(image_id)
        second, seen = next(lines, (number + 1, ""))
        points = _observations(seen.split(), f"{path}, line {second}")
        shots[parts[9]] = shot_of(parts[9], lenses[camera_id], pose[:4], pose[4:], points, where)
    return list(shots.values())


def _observations(parts: list[str], where: str) -> Ids:
    """Parse the point ids of an image's second line, which may hold very many (X, Y, POINT3D_ID)."""
    try:
        if len(parts) % 3:
            raise ValueError
        np.array([*parts[0::3], *parts[1::3]], dtype=np.float64)
        return np.array(parts[2::3], dtype=np.int64)
    except (ValueError, OverflowError):
        problem = "must be empty, or list the points X Y POINT3D_ID of the image in the line before"
        raise InputError(where, problem, EXPORT) from None


def _parse_points(text: str, path: Path) -> tuple[Ids, Floats]:
    points: dict[int, list[float]] = {}
    for number, line in _lines(text):
        if not line or line.startswith("#"):
            continue
        where = f"{path}, line {number}"
        parts = line.split()
        if len(parts) < 8 or len(parts) % 2:
            raise InputError(where, "must be POINT3D_ID X Y Z R G B ERROR TRACK", EXPORT)
        point_id = _integer(parts[0], where)
        if point_id in points:
            raise InputError(where, f"there is already a point {point_id}", EXPORT)
        points[point_id] = [_number(part, where) for part in parts[1:4]]
    return np.array(list(points), dtype=np.int64), np.array(list(points.values()), dtype=np.float64).reshape(-1, 3)


def _integer(text: str, where: str) -> int:
    if not _INTEGER.fullmatch(text):
        raise InputError(where, f"{text!r:.40} is not a whole number", EXPORT)
    return int(text)


def _number(text: str, where: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not is_sane([number]):
        raise InputError(where, f"{text!r:.40} is not a finite number", EXPORT)
    return number
