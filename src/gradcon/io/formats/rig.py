"""rig.toml: a list of images and their cameras' positions, for any rig.

    name = "my rig"              # optional
    reference = "a.png"          # one of the images below
    ground_truth = "truth.pfm"   # optional: disparity of the reference, as a grey PFM
    unit = "m"                   # optional: the unit of t, and so of the depth: m, cm or mm
    K = [[800, 0, 320], [0, 800, 240], [0, 0, 1]]   # optional: for all views without a K of their own

    [[views]]                    # one block per view
    image = "a.png"              # an image, a video or a folder of frames, in this file's folder or below it
    baseline = [0, 0]            # either this ...

    [[views]]
    image = "b.png"
    R = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]           # ... or these: x_image ~ K (R X_world + t)
    t = [-0.1, 0, 0]
    K = [[810, 0, 320], [0, 810, 240], [0, 0, 1]]   # optional if K is given above
    distortion = [-0.2, 0.05, 0.001, -0.001]        # optional: k1, k2, p1, p2, as `rig_lens` explains

Either all views have baselines, or all have cameras.

Baselines: a reference pixel (x, y) of disparity w appears at (x, y) + w B, where B is the view's `baseline` minus the
reference's.  So a camera one step to the right of the reference has the baseline [-1, 0].

Cameras: pixel centres are at integers, x runs to the right and y down.  The baseline of the nearest view is the unit
baseline, and the ground truth is in that unit.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradcon.damage import leaves_folder
from gradcon.errors import InputError
from gradcon.files import read_text, write_files
from gradcon.io import pfm
from gradcon.io.fields import hint, refuse_unknown
from gradcon.io.formats.format import Format, Hints
from gradcon.io.formats.frames import open_views
from gradcon.io.formats.rig_fields import needed, numbers, text_of
from gradcon.io.formats.rig_lens import LENS_FIELDS, lens_of, refuse_unlike
from gradcon.io.images import png
from gradcon.io.listing import Baseline, ImageFile, Listing, View, file_called, find_reference
from gradcon.scene.calibration import check_unit
from gradcon.scene.geometry import Camera

RIG = "rig.toml"
GROUND_TRUTH = "ground_truth.pfm"
FIELDS = ("name", "reference", "ground_truth", "unit", "K", *LENS_FIELDS, "views")
VIEW_FIELDS = ("image", "baseline", "K", "R", "t", *LENS_FIELDS)


def list_rig(path: Path, hints: Hints) -> Listing:
    """List the views of a rig.toml; `hints.reference` may replace its reference, and then there is no ground truth."""
    path = (file_called(path, RIG) or path / RIG) if path.is_dir() else path
    listing = parse_rig(read_text(path), path)
    reads, frames = open_views([path.parent / view.name for view in listing.views])
    views = [replace(view, read=read) for view, read in zip(listing.views, reads, strict=True)]
    chosen = find_reference(views, hints.reference, listing.reference.name, path)
    truth = listing.ground_truth if chosen.name == listing.reference.name else None
    return replace(listing, views=views, reference=chosen, ground_truth=truth, frames=frames)


def _recognise(path: Path, hints: Hints) -> str | None:
    if path.is_dir():
        return f"it holds a {RIG}" if file_called(path, RIG) is not None else None
    return "it is a TOML file" if path.suffix.lower() == ".toml" else None


CALIBRATED_RIG = Format(f"a rig described by a {RIG}", _recognise, list_rig)


def parse_rig(text: str, path: Path) -> Listing:
    """Parse the text of a rig.toml without looking at the images.

    `path` names the rig.toml in errors; image paths are relative to it.
    """
    try:
        table = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        reason = str(error).splitlines()[0] if isinstance(error, tomllib.TOMLDecodeError) else "a value is out of range"
        raise InputError(path, f"is not a TOML file ({reason})", "correct it") from None
    refuse_unknown(path, table, FIELDS)
    blocks = needed(table, "views", str(path))
    if not isinstance(blocks, list) or not all(isinstance(block, dict) for block in blocks):
        raise InputError(path, "the field 'views' is not a list of blocks", "write one [[views]] block per view")
    views: list[View] = []
    for number, block in enumerate(blocks, 1):
        where = f"{path}, view {number}"
        view = _view(block, table, path, where)
        if view.name in [other.name for other in views]:
            raise InputError(where, f"the field 'image' names {view.name!r} again", "list it once")
        if views and type(view.stands) is not type(views[0].stands):
            problem = "some views have a baseline and others a camera"
            raise InputError(where, problem, "give all views a baseline, or all of them R and t")
        views.append(view)
    refuse_unlike(views, path)
    if len(views) < 2:
        raise InputError(path, "lists fewer than two views", "add [[views]] blocks")
    named = text_of(needed(table, "reference", str(path)), "reference", str(path))
    if named not in (names := [view.name for view in views]):
        problem = f"the field 'reference' names {named!r}, which is not one of the images"
        raise InputError(path, problem, hint(named, names))
    truth = _inside(table["ground_truth"], "ground_truth", path, str(path)) if "ground_truth" in table else None
    return Listing(
        source=path,
        views=views,
        reference=find_reference(views, named, named, path),
        ground_truth=(lambda: pfm.read_pfm(truth)) if truth else None,
        truth_file=truth,
        metadata={"format": "rig"},
        unit=check_unit(text_of(table["unit"], "unit", str(path)), str(path)) if "unit" in table else "",
        name=text_of(table["name"], "name", str(path)) if "name" in table else path.resolve().parent.name,
    )


def write_rig(
    folder: str | Path,
    images: Mapping[str, NDArray[Any]],
    stands: Sequence[Camera] | Sequence[Baseline],
    *,
    reference: str,
    ground_truth: ArrayLike | None = None,
    name: str | None = None,
    unit: str = "",
) -> Path:
    """Write images, rig.toml and ground_truth.pfm into a folder: all files, or none if one fails.

    Parameters
    ----------
    folder : str or Path
    images : dict of file name (ending in .png) to uint8 or uint16 array
    stands : sequence of Camera, or of (B_x, B_y)
        Where each camera stands, in the order of `images`.
    reference : str
        The file name of the reference.
    ground_truth : (height, width) array, optional
        Disparity of the reference in pixels per unit baseline; with cameras, the nearest view's baseline is the unit.
    name : str, optional
        The name of the scene; by default that of the folder.
    unit : {"m", "cm", "mm", ""}
        The unit of the cameras' t; empty if it is unknown.
    """
    path = Path(folder) / RIG
    if len(images) != len(stands):
        problem = f"there are {len(images)} images but {len(stands)} baselines or cameras"
        raise InputError(path, problem, "give one for each image")
    lines = [f"name = {_quoted(name)}"] if name is not None else []
    lines.append(f"reference = {_quoted(reference)}")
    if unit:
        lines.append(f"unit = {_quoted(unit)}")
    if ground_truth is not None:
        lines.append(f"ground_truth = {_quoted(GROUND_TRUTH)}")
    for image, place in zip(images, stands, strict=True):
        if PurePosixPath(image).name != image or not image.endswith(".png"):
            raise InputError(path, f"cannot name an image {image!r}", "give a plain file name that ends in .png")
        lines += ["", "[[views]]", f"image = {_quoted(image)}"]
        if isinstance(place, Camera):
            lines += [f"{field} = {np.asarray(getattr(place, field), float).tolist()}" for field in ("K", "R", "t")]
        else:
            lines.append(f"baseline = {np.asarray(place, float).tolist()}")
    text = "\n".join([*lines, ""])
    parse_rig(text, path)  # write nothing that cannot be read back

    def files() -> Iterator[tuple[str, bytes]]:
        yield RIG, text.encode()
        if ground_truth is not None:
            yield GROUND_TRUTH, pfm.encode(ground_truth)
        for image, pixels in images.items():
            yield image, png.encode(pixels)

    return write_files(Path(folder), files())


def _view(block: dict[str, Any], table: dict[str, Any], path: Path, where: str) -> View:
    refuse_unknown(where, block, VIEW_FIELDS)
    image = _inside(needed(block, "image", where), "image", path, where)
    camera_fields = [field for field in ("K", "R", "t") if field in block]
    lens = lens_of(block, table, where)
    stands: Baseline | Camera
    if "baseline" in block:
        if lens is not None:
            camera_fields = [field for field in camera_fields if field != "K"]
        elif "K" in table:
            camera_fields.append("K")
        if camera_fields:
            raise InputError(where, f"has a baseline and a camera's {camera_fields[0]}", "give only one kind")
        x, y = numbers(block["baseline"], (2,), "baseline", where)
        stands = (float(x), float(y))
    elif not camera_fields:
        raise InputError(where, "the field 'baseline' is missing", "add it (or 'R' and 't', for a camera)")
    else:
        K = lens.new_K if lens is not None else numbers(needed({**table, **block}, "K", where), (3, 3), "K", where)
        R = numbers(needed(block, "R", where), (3, 3), "R", where)
        t = numbers(needed(block, "t", where), (3,), "t", where)
        stands = Camera.of(K, R, t, where)
    return View(block["image"], stands, ImageFile(image), lens)


def _inside(value: Any, field: str, path: Path, where: str) -> Path:
    """Return the path of a file, which must not leave the rig's folder."""
    name = text_of(value, field, where)
    if leaves_folder(name):
        problem = f"the field {field!r} leaves the rig's folder ({name!r:.60})"
        raise InputError(where, problem, "move the file into it")
    return path.parent / name


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
