"""Light fields in NumPy's own files: .npy, one array; .npz, a zip archive of arrays with more to say.

Views are cut out of the file where they lie, but for a compressed .npz, which has to be unpacked as a whole.  Nothing
is ever unpickled: such a file could run any program.
"""

from __future__ import annotations

import io
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from gradcon.errors import InputError
from gradcon.files import MAX_FILE_BYTES, file_size, write_file
from gradcon.io.archives import refuse_escape, zip_names
from gradcon.io.array_axes import count_axes, image_bytes
from gradcon.io.claims import claims_too_much
from gradcon.io.fields import refuse_unknown
from gradcon.io.format import Format, Hints
from gradcon.io.lightfield_array import (
    CALIBRATION,
    Index,
    converged,
    grid_places,
    listed_places,
    make_listing,
    own_reference,
    refuse_other_unit,
    sentences,
    stated_calibration,
    stated_name,
)
from gradcon.io.listing import Listing

MAGIC = b"\x93NUMPY"
MEMBERS = ("views", "ground_truth", "baselines", "reference", "name", *CALIBRATION)
_SMALL = 2**20  # bytes of what is not an image


class Stored:
    """An array in a file, told by its header: all of it or a part of it is read when it is asked for."""

    def __init__(self, path: Path, name: str, info: zipfile.ZipInfo | None = None) -> None:
        self.path, self.info = path, info
        self.where = f"{path}, {name}" if info is not None else str(path)
        with sentences(self.where), _opened(path, info) as handle:
            self.shape, self.fortran, self.dtype = _header(handle, self.where)
            self.start = handle.tell()
        size = info.file_size if info is not None else file_size(path, 2**63)
        if size != self.start + self.nbytes:
            raise InputError(
                f"{self.where}: holds {size - self.start:,} bytes of values where its header announces "
                f"{self.nbytes:,}; it is cut off or damaged, so save it again."
            )
        self.packed = info is not None and info.compress_type != zipfile.ZIP_STORED
        self._all: NDArray[Any] | None = None
        self._lock = threading.Lock()

    @property
    def nbytes(self) -> int:
        return image_bytes(self.shape, self.dtype)

    def __getitem__(self, index: Index) -> NDArray[Any]:
        """A part of the array; the file is mapped only while it is copied out, so that no page of it stays."""
        if self.packed:
            with self._lock:  # views are read by several threads, and one of them unpacks
                if self._all is None:
                    self._all = self._unpacked()
            return self._all[index]
        start = self.start + (_data_offset(self.path, self.info) if self.info is not None else 0)
        order: Any = "F" if self.fortran else "C"
        return np.array(np.memmap(self.path, self.dtype, "r", start, self.shape, order)[index])

    def _unpacked(self) -> NDArray[Any]:
        with sentences(self.where), _opened(self.path, self.info) as handle:
            handle.read(self.start)
            content = handle.read()  # to the end, where the checksum is compared
            return np.frombuffer(content, self.dtype).reshape(self.shape, order="F" if self.fortran else "C")

    def small(self) -> NDArray[Any]:
        """All of an array that is not of pixels."""
        if self.nbytes > _SMALL:
            raise InputError(f"{self.where}: holds {self.nbytes:,} bytes, which is too much for what it is.")
        return self._unpacked()


def list_npy(path: Path, hints: Hints) -> Listing:
    """A grid or a row of views; the reference is the middle one."""
    array = Stored(path, path.name)
    axes = count_axes(array.shape, array.dtype, path)
    places = grid_places(array.shape[:axes])
    own = own_reference(None, places, False, path)
    more: dict[str, Any] = {"own": own, "middle": places[own], "metadata": {"format": "npy"}}
    return make_listing(path, places, array.__getitem__, hints, **more)


def list_npz(path: Path, hints: Hints) -> Listing:
    """`views`, and what else is told of them by the archive's other arrays."""
    members = _members(path)
    views = members["views"]
    given = {name: array.small() for name, array in members.items() if name not in ("views", "ground_truth")}
    listed = "baselines" in given
    axes = count_axes(views.shape, views.dtype, views.where, listed)
    places = listed_places(given["baselines"], views.shape[0], path) if listed else grid_places(views.shape[:axes])
    own = own_reference(given.get("reference"), places, listed, path)
    middle = (0.0, 0.0) if listed else places[own_reference(None, places, False, path)]
    values = stated_calibration(given, path)
    if listed:
        refuse_other_unit(places, values, path)
    truth = members.get("ground_truth")
    if truth is not None and (truth.shape != views.shape[axes : axes + 2] or truth.dtype.kind not in "buif"):
        raise InputError(
            f"{truth.where}: must be numbers, {views.shape[axes : axes + 2]} as the views are, not {truth.shape}."
        )
    return make_listing(
        path,
        places,
        views.__getitem__,
        hints,
        own=own,
        middle=middle,
        metadata={"format": "npz", **values},
        truth=(lambda _: truth[()]) if truth is not None else None,
        truth_of=[own],
        calibration=converged(values),
        name=stated_name(given.get("name"), path),
    )


def write(path: Path, views: NDArray[Any], truth: NDArray[np.float32] | None, fields: dict[str, Any]) -> None:
    """An .npz that is not compressed, so that views can be read one by one."""
    content = io.BytesIO()
    arrays: dict[str, Any] = {"views": views, **fields}
    if truth is not None:
        arrays["ground_truth"] = truth
    np.savez(content, **arrays)
    write_file(path, content.getvalue())


def _header(handle: IO[bytes], where: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = np.lib.format.read_magic(handle)
    if version not in ((1, 0), (2, 0), (3, 0)):
        raise InputError(f"{where}: is of NumPy's format {version}, which is not known; save it again with numpy.save.")
    # 3 is 2 with other letters allowed in the names of fields, of which plain numbers have none.
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, fortran, dtype = read(handle)
    if dtype.hasobject:
        raise InputError(f"{where}: holds Python objects, which are never loaded; store plain numbers.")
    if min(shape, default=0) < 0:
        raise InputError(f"{where}: claims the shape {shape}; check what wrote it.")
    return shape, fortran, dtype


@contextmanager
def _opened(path: Path, info: zipfile.ZipInfo | None) -> Iterator[IO[bytes]]:
    """A file, or a member of a zip archive."""
    if info is None:
        with open(path, "rb") as handle:
            yield handle
    else:
        with zipfile.ZipFile(path) as archive, archive.open(info) as member:
            yield member


def _members(path: Path) -> dict[str, Stored]:
    with sentences(path), zipfile.ZipFile(path) as archive:
        infos = archive.infolist()
    for info in infos:
        refuse_escape(info.filename, path)
    names = [info.filename.removesuffix(".npy") for info in infos]
    if len(names) == 1:
        names = ["views"]  # whatever its name, as numpy.savez(file, array) gives it one
    if "views" not in names:
        raise InputError(f"{path}: holds no array `views`, only {', '.join(names[:8])}; name the light field so.")
    refuse_unknown(str(path), names, MEMBERS)
    if len(set(names)) < len(names):
        raise InputError(f"{path}: holds two arrays of one name; write it again.")
    for name, info in zip(names, infos, strict=True):
        _refuse_packing(info, f"{path}, {name}")
    return {name: Stored(path, name, info) for name, info in zip(names, infos, strict=True)}


def _refuse_packing(info: zipfile.ZipInfo, where: str) -> None:
    """Refuse a member that NumPy would not write, or that claims to unpack to more than its bytes can hold."""
    if info.flag_bits & 1 or info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise InputError(f"{where}: is encrypted or packed as NumPy does not; write it with numpy.savez.")
    packed = info.compress_type == zipfile.ZIP_DEFLATED
    too_much = claims_too_much(info.file_size, info.compress_size) if packed else info.file_size > info.compress_size
    if too_much or (packed and info.file_size > MAX_FILE_BYTES):
        raise InputError(
            f"{where}: claims {info.file_size:,} bytes out of {info.compress_size:,}, which is more than can be "
            "unpacked; write it again with numpy.savez."
        )


def _data_offset(path: Path, info: zipfile.ZipInfo) -> int:
    """Where in the archive the bytes of a member begin: after its local header, whose length only it tells."""
    with open(path, "rb") as handle:
        handle.seek(info.header_offset)
        head = handle.read(30)
    return info.header_offset + 30 + int.from_bytes(head[26:28], "little") + int.from_bytes(head[28:30], "little")


def _recognise(path: Path, hints: Hints) -> str | None:
    if not path.is_file():
        return None
    try:
        with open(path, "rb") as handle:
            if handle.read(len(MAGIC)) == MAGIC:
                return "the file begins as NumPy's .npy files do"
    except OSError:
        return None
    arrays = [name for name in zip_names(path) if name.endswith(".npy")]
    return f"it is a zip archive that holds {arrays[0]}" if arrays else None


NUMPY = Format("a NumPy file", _recognise, lambda path, hints: (list_npz if zip_names(path) else list_npy)(path, hints))
