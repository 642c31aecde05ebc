"""Light fields in Zarr stores of formats 2 and 3, in a folder or a zip archive.

The store is an array, or a group that holds one called `views`.  If each view is a chunk of its own, only the chunks of
the chosen views are read.
"""

from __future__ import annotations

import os
import secrets
import shutil
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.damage import MAX_ZSTD, claims_too_much, refuse_damage
from gradcon.errors import InputError
from gradcon.files import MAX_FILE_BYTES, make_folder
from gradcon.io.formats.archives import refuse_escape, zip_names
from gradcon.io.formats.format import Format, Hints
from gradcon.io.formats.lightfield_array import (
    Index,
    converged,
    grid_places,
    library,
    listed_places,
    make_listing,
    own_reference,
    refuse_blank,
    refuse_other_unit,
    stated_calibration,
    stated_name,
    view_name,
)
from gradcon.io.listing import Listing
from gradcon.scene.array_axes import count_axes, image_bytes

MARKS = ("zarr.json", ".zarray", ".zgroup")
# Codecs are allowed by name because Zarr also knows pickle, which could run any program.
CODECS = {"bytes", "endian", "transpose", "sharding_indexed", "crc32c", "crc32", "adler32", "fletcher32"}
CODECS |= {"blosc", "zstd", "gzip", "zlib", "bz2", "lzma", "lz4", "shuffle", "delta", "packbits"}
CODECS |= {"bitround", "quantize", "fixedscaleoffset", "astype"}
MAX_METADATA = 2**17  # bytes
CODED_AT_MOST = 8  # a chunk may be this many times as large as its values, because filters may widen them


def list_zarr(path: Path, hints: Hints) -> Listing:
    """List the array `views`, with what the group's other arrays and attributes say about it."""
    sizes = _part_sizes(path)
    with _opened(path) as root:
        views, attributes = _views(root, path), dict(root.attrs)
        if views is None:
            found = ", ".join(sorted(root.keys())[:8]) or "nothing"
            raise InputError(path, f"holds no array `views`, but {found}", "give the light field this name")
        given = _array(root, "baselines", path)
        listed = given is not None
        axes = count_axes(views.shape, views.dtype, path, listed)
        _refuse_false_sizes(views, sizes, path)
        if given is not None:
            if given.shape != (views.shape[0], 2):
                problem = f"its baselines must be ({views.shape[0]}, 2), not {given.shape}"
                raise InputError(path, problem, "store one (B_x, B_y) for each view")
            places = listed_places(given[...], views.shape[0], path)
        else:
            places = grid_places(views.shape[:axes])
        truth = _array(root, "ground_truth", path)
        size = views.shape[axes : axes + 2]
        if truth is not None and (truth.shape != size or truth.dtype.kind not in "buif"):
            problem = f"its ground_truth must be numbers of the views' shape {size}, not {truth.dtype} of {truth.shape}"
            raise InputError(path, problem, "store the ground truth of the reference")
    own = own_reference(attributes.get("reference"), places, listed, path)
    middle = (0.0, 0.0) if listed else places[own_reference(None, places, False, path)]
    values = stated_calibration(attributes, path)
    if listed:
        refuse_other_unit(places, values, path)
    return make_listing(
        path,
        places,
        lambda index: _view(path, index),
        hints,
        own=own,
        middle=middle,
        metadata={"format": "zarr", **values},
        truth=(lambda _: _truth(path)) if truth is not None else None,
        truth_of=[own],
        calibration=converged(values),
        name=stated_name(attributes.get("name"), path),
    )


def write(path: Path, views: NDArray[Any], truth: NDArray[np.float32] | None, fields: dict[str, Any]) -> None:
    """Write a folder of format 3 in which each view is a chunk; the folder gets its name once it is complete."""
    zarr = library("zarr", "zarr", path)
    if path.exists():
        raise InputError(path, "exists already", "choose another name, or remove it first")
    make_folder(path.parent)
    temporary = path.parent / f".{path.name}.{secrets.token_hex(6)}.tmp"
    try:
        group = zarr.create_group(store=str(temporary), attributes=fields)
        array = group.create_array("views", shape=views.shape, dtype=views.dtype, chunks=(1, 1, *views.shape[2:]))
        array[...] = views
        if truth is not None:
            group.create_array("ground_truth", data=truth, chunks=truth.shape)
        os.rename(temporary, path)
    except BaseException as error:
        shutil.rmtree(temporary, ignore_errors=True)
        if isinstance(error, (OSError, ValueError)):
            raise InputError(path, f"cannot be written ({error})", "choose another place") from None
        raise


def _view(path: Path, index: Index) -> NDArray[Any]:
    with _opened(path, view_name(index)) as root:
        array = _views(root, path)
        pixels: NDArray[Any] = np.asarray(array[index])
        refuse_blank(pixels, array.fill_value, f"{path}, {view_name(index)}")
    return pixels


def _truth(path: Path) -> NDArray[Any]:
    with _opened(path, "its ground_truth") as root:
        return np.asarray(_array(root, "ground_truth", path)[...])


@contextmanager
def _opened(path: Path, what: str = "") -> Iterator[Any]:
    """Open the root of a store, an array or a group, to read `what` from it."""
    zarr = library("zarr", "zarr", path)
    with refuse_damage(path, what):
        zipped = path.is_file()
        store = zarr.storage.ZipStore(path, mode="r") if zipped else zarr.storage.LocalStore(path, read_only=True)
        try:
            yield zarr.open(store, mode="r")
        finally:
            store.close()


def _views(root: Any, path: Path) -> Any:
    """Return the light field: the array `views`, or the only array of the store."""
    zarr = library("zarr", "zarr", path)
    names = ["views"] if isinstance(root, zarr.Array) else list(root.keys())
    return _array(root, names[0] if len(names) == 1 else "views", path)


def _array(root: Any, name: str, path: Path) -> Any:
    """Return an array of the store, or None if it is not there; a store that is itself an array holds only `views`."""
    zarr = library("zarr", "zarr", path)
    members = {"views": root} if isinstance(root, zarr.Array) else root
    if (array := members.get(name)) is None:
        return None
    if not isinstance(array, zarr.Array):
        raise InputError(path, f"its {name} is a group", "store it as an array")
    for codec in _codecs(array.metadata.to_dict()):
        if codec.removeprefix("numcodecs.") not in CODECS:
            problem = f"its {name} is encoded by {codec!r}, which is not supported"
            raise InputError(path, problem, "use zstd, gzip or blosc")
    chunk = array.shards or array.chunks
    if image_bytes(chunk, array.dtype) > MAX_FILE_BYTES:
        raise InputError(path, f"its {name} claims chunks of {chunk}", "check the program that wrote it")
    return array


def _codecs(metadata: dict[str, Any]) -> Iterator[str]:
    """Yield the names of all codecs in format 2 (filters, compressor) and format 3 (codecs, and those in shards)."""
    for field in ("codecs", "index_codecs", "filters", "compressor"):
        found = metadata.get(field) or ()
        for codec in found if isinstance(found, (list, tuple)) else [found]:
            settings = codec if isinstance(codec, dict) else codec.get_config()
            yield str(settings.get("name", settings.get("id")))
            yield from _codecs(settings.get("configuration") or {})


def _refuse_false_sizes(array: Any, sizes: Mapping[str, int], path: Path) -> None:
    """Refuse an array whose files are far too small for what it claims, or one with a file far larger than a chunk."""
    inside = f"{array.path}/" if array.path else ""
    sizes = {name: size for name, size in sizes.items() if name.startswith(inside)}
    claimed, stored = image_bytes(array.shape, array.dtype), sum(sizes.values())
    if claims_too_much(claimed, stored, MAX_ZSTD):
        problem = f"its views claim {claimed:,} bytes, but {stored:,} are stored, so most are missing"
        raise InputError(path, problem, "copy or export the store again")
    chunk = image_bytes(array.shards or array.chunks, array.dtype)
    for name, size in sizes.items():
        if size > CODED_AT_MOST * chunk + MAX_METADATA:
            problem = f"its part {name} has {size:,} bytes, but the values of a chunk take {chunk:,}"
            raise InputError(path, problem, "copy or export the store again")


def _part_sizes(path: Path) -> dict[str, int]:
    """Return the size of each part of a store, by name; refuse a store that refers to something outside itself."""
    if path.is_file():
        return _member_sizes(path)
    home, sizes = path.resolve(), dict[str, int]()
    for folder, folders, files in os.walk(home):
        for name in (*folders, *files):
            part = Path(folder, name)
            if part.is_symlink() and not Path(os.path.realpath(part)).is_relative_to(home):
                problem = f"its part {part.relative_to(home)} is a link that leaves the store"
                raise InputError(path, problem, "copy the store with what it links to")
            if not (part.is_file() or part.is_dir()):  # reading a pipe would never end
                problem = f"its part {part.relative_to(home)} is not a regular file"
                raise InputError(path, problem, "copy the store")
            if name in files:
                sizes[part.relative_to(home).as_posix()] = part.stat().st_size
    return sizes


def _member_sizes(path: Path) -> dict[str, int]:
    with refuse_damage(path), zipfile.ZipFile(path) as archive:
        members = archive.infolist()
    for member in members:
        refuse_escape(member.filename, path)
        if member.file_size > MAX_FILE_BYTES:
            problem = f"its member {member.filename} claims {member.file_size:,} bytes"
            raise InputError(path, problem, "check the program that wrote it")
    if not any(member.filename in MARKS for member in members):
        problem = f"has no {' or '.join(MARKS)} at its top"
        raise InputError(path, problem, "zip the contents of the store's folder, not the folder itself")
    return {member.filename: member.file_size for member in members}


def _recognise(path: Path, hints: Hints) -> str | None:
    if path.is_dir():
        found = [name for name in MARKS if (path / name).is_file()]
        return f"the folder holds {found[0]}" if found else None
    found = [name for name in zip_names(path) if name.rsplit("/", 1)[-1] in MARKS]
    return f"it is a zip archive that holds {found[0]}" if found else None


ZARR = Format("a Zarr store", _recognise, list_zarr)
