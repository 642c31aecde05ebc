"""The one reader of NumPy's .npy and .npz files, whatever they hold: light fields, maps, weights or finished jobs.

It trusts nothing in a file.  It never unpickles, because a pickle can run any program.  It checks a header against the
bytes that follow it, and the values against the memory there is, before it allocates anything; and it never unpacks
more than a member says it holds.
"""

from __future__ import annotations

import ast
import io
import math
import re
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from gradcon.damage import claims_too_much, refuse_damage, refuse_large
from gradcon.errors import InputError
from gradcon.files import file_size

MAGIC = b"\x93NUMPY"
VERSIONS = ((1, 0), (2, 0), (3, 0))
MAX_HEADER = 10_000  # bytes, as in NumPy
MAX_DIRECTORY = 2**23  # bytes of an archive's list of members, which is about 100,000 names and takes 110 MB
_END = 2**17  # bytes; the end of an archive, its comment included, is shorter
_LAST_CHARACTER = 0x10FFFF
_PYTHON_2 = re.compile(rb"(\d)\s*L\b")
_PIECE = 2**20  # bytes that are read at a time
_LOCAL_HEADER = 30  # bytes of a zip member's local header before its name


@dataclass(frozen=True)
class Header:
    """What the header of an .npy file says about its array; the values begin `start` bytes into the file."""

    shape: tuple[int, ...]
    fortran: bool
    dtype: np.dtype[Any]
    start: int

    @property
    def nbytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize  # exact: NumPy's own product would overflow


def read_header(handle: IO[bytes], size: int, where: Path | str) -> Header:
    """Read the header of an .npy file of `size` bytes, and refuse one that does not fit the rest of the file."""
    with refuse_damage(where):
        version = np.lib.format.read_magic(handle)
        if version not in VERSIONS:
            problem = f"uses version {version[0]}.{version[1]} of NumPy's format, which is unknown"
            raise InputError(where, problem, "save it again with numpy.save")
        # Version 3 differs from 2 only in how it encodes the names of fields, and records are refused below.
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, fortran, dtype = read(_header_text(handle, 2 if version == (1, 0) else 4))
        header = Header(shape, fortran, dtype, handle.tell())
    if dtype.hasobject:
        raise InputError(where, "holds Python objects, which are never loaded", "store plain numbers")
    if dtype.fields is not None or dtype.subdtype is not None or dtype.itemsize == 0:
        raise InputError(where, f"holds values of the type {dtype}", "store plain numbers")
    if min(shape, default=0) < 0:
        raise InputError(where, f"claims the shape {shape}", "check the program that wrote it")
    if size != header.start + header.nbytes:
        problem = f"holds {size - header.start:,} bytes of values, but its header announces {header.nbytes:,}"
        raise InputError(where, problem, "copy or export it again")
    return header


def _header_text(handle: IO[bytes], size: int) -> IO[bytes]:
    """Return the text of a header after its length, without the L that Python 2 put behind numbers.

    NumPy removes it too, but warns.  It refuses a text that is shorter than its length, as one that is too long is.
    A text that is not a literal raises an error.
    """
    length = handle.read(size)
    count = int.from_bytes(length, "little")
    text = handle.read(min(count, MAX_HEADER))
    if len(text) == count:
        text = _PYTHON_2.sub(rb"\1", text)
        length = len(text).to_bytes(size, "little")
        if b"\\" in text:  # Python would warn of a false escape, and no header needs one
            raise ValueError("a header with a backslash")
        ast.literal_eval(text.decode("latin-1"))  # NumPy would mend what is not a literal, and warn
    return io.BytesIO(length + text)


class StoredArray:
    """An array in an .npy file or in a member of an .npz.

    The header is read when it is first needed, and the values when they are asked for.  An array that is not compressed
    is read in place, so that a part of it costs no more memory than the part.

    Parameters
    ----------
    path : Path
        The file.
    name : str
        The array's name in an .npz, for messages.
    member : zipfile.ZipInfo, optional
        The array's entry in an .npz.
    content : bytes, optional
        All bytes of the file, if they have been read already.
    """

    def __init__(
        self, path: Path, name: str = "", member: zipfile.ZipInfo | None = None, content: bytes | None = None
    ) -> None:
        self.where = f"{path}, {name}" if name else str(path)
        self._path, self._member, self._content = path, member, content
        self._unpacked: NDArray[Any] | None = None
        self._lock = threading.Lock()

    @cached_property
    def header(self) -> Header:
        size = self._member.file_size if self._member is not None else _size(self._path, self._content)
        with refuse_damage(self.where), self._opened() as handle:
            return read_header(handle, size, self.where)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.header.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.header.dtype

    @property
    def in_place(self) -> bool:
        """Whether the values lie in the file as they lie in memory."""
        return self._content is None and (self._member is None or self._member.compress_type == zipfile.ZIP_STORED)

    def __getitem__(self, index: Any) -> NDArray[Any]:
        """Read a part of the array; a compressed one is unpacked once, as a whole, and kept."""
        if not self.in_place:
            with self._lock:  # several threads read views, and one of them unpacks
                if self._unpacked is None:
                    self._unpacked = self.read()
            return self._unpacked[index]
        header = self.header
        with refuse_damage(self.where):
            start = header.start + (_data_offset(self._path, self._member) if self._member is not None else 0)
            order: Any = "F" if header.fortran else "C"
            # The file is mapped only while the part is copied, so that none of its pages stay in memory.
            part = np.memmap(self._path, header.dtype, "r", start, header.shape, order)[index]
            refuse_large(self.where, part.nbytes)
            return np.array(part)

    def read(self, limit: int | None = None) -> NDArray[Any]:
        """Read all values, which may take at most `limit` bytes, and verify the checksum of a zip member."""
        header = self.header
        if limit is not None and header.nbytes > limit:
            problem = f"holds {header.nbytes:,} bytes of values, but at most {limit:,} are expected"
            raise InputError(self.where, problem, "check the program that wrote it")
        packed = header.nbytes if self._member is None else self._member.compress_size
        refuse_large(self.where, header.nbytes, min(packed, _size(self._path, self._content)))
        with refuse_damage(self.where), self._opened() as handle:
            handle.read(header.start)
            values = np.empty(header.nbytes, np.uint8)
            filled = 0
            while filled < values.size:  # in pieces, so that the values are in memory only once
                piece = handle.read(min(_PIECE, values.size - filled))
                if not piece:
                    raise EOFError("it ends early")
                values[filled : filled + len(piece)] = np.frombuffer(piece, np.uint8)
                filled += len(piece)
            if header.dtype.kind == "U":
                _refuse_no_text(values, header.dtype, self.where)
            return np.ndarray(header.shape, header.dtype, values, order="F" if header.fortran else "C")

    @contextmanager
    def _opened(self) -> Iterator[IO[bytes]]:
        if self._member is not None:
            with open_zip(self._path, self._content) as archive, archive.open(self._member) as member:
                yield member
        elif self._content is not None:
            yield io.BytesIO(self._content)
        else:
            with open(self._path, "rb") as handle:
                yield handle


def open_npz(path: Path, content: bytes | None = None) -> dict[str, StoredArray]:
    """List the arrays of an .npz by name, without reading them; refuse members that NumPy would not have written.

    `content` is all bytes of the file, if they have been read already.
    """
    size = _size(path, content)
    with refuse_damage(path), open_zip(path, content) as archive:
        members = archive.infolist()
    arrays: dict[str, StoredArray] = {}
    for member in members:
        name = member.filename.removesuffix(".npy")
        if name in arrays:
            raise InputError(path, f"holds two arrays that are called {name}", "write it again")
        array = StoredArray(path, name, member, content)
        _refuse_packing(member, size, array.where)
        arrays[name] = array
    return arrays


def _refuse_packing(member: zipfile.ZipInfo, archive_size: int, where: str) -> None:
    """Refuse a member that NumPy would not write, or that claims to unpack to more than its bytes can hold."""
    if member.flag_bits & 1 or member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        problem = "is encrypted, or compressed by a method that NumPy does not use"
        raise InputError(where, problem, "write it with numpy.savez")
    packed = member.compress_type == zipfile.ZIP_DEFLATED
    claimed, stored = member.file_size, min(member.compress_size, archive_size - member.header_offset)
    if claims_too_much(claimed, stored) if packed else claimed > stored:
        problem = f"claims {claimed:,} bytes out of {stored:,}, which is more than can be unpacked"
        raise InputError(where, problem, "write it again with numpy.savez")


def _refuse_no_text(values: NDArray[np.uint8], dtype: np.dtype[Any], where: str) -> None:
    """Refuse numbers beyond those of Unicode, of which Python cannot make a text."""
    if values.view(np.dtype(np.uint32).newbyteorder(dtype.byteorder)).max(initial=0) > _LAST_CHARACTER:
        raise InputError(where, "holds a text with characters that do not exist", "write it again with numpy.savez")


@contextmanager
def open_zip(path: Path, content: bytes | None = None) -> Iterator[zipfile.ZipFile]:
    """Open a zip archive, unless its list of members, which is read as a whole, is absurdly long.

    `content` is all bytes of the file, if they have been read already.
    """
    with open(path, "rb") if content is None else io.BytesIO(content) as file:
        within: Any = _ReadInPieces(file, path)
        with zipfile.ZipFile(within) as archive:
            yield archive


class _ReadInPieces:
    """A file that refuses to read much at once; members are read in smaller pieces, and only the list is not."""

    def __init__(self, file: IO[bytes], path: Path) -> None:
        self._file, self._path = file, path
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable

    def read(self, size: int = -1) -> bytes:
        if size > MAX_DIRECTORY:
            problem = f"its list of members takes more than the {MAX_DIRECTORY:,} bytes that are allowed"
            raise InputError(self._path, problem, "store fewer arrays or chunks in one archive")
        return self._file.read(size if size >= 0 else _END)


def _size(path: Path, content: bytes | None) -> int:
    return file_size(path) if content is None else len(content)


def _data_offset(path: Path, member: zipfile.ZipInfo) -> int:
    """Find where a member's bytes begin in the archive: after its local header, which alone tells its own length."""
    with open(path, "rb") as handle:
        handle.seek(member.header_offset)
        head = handle.read(_LOCAL_HEADER)
    name, extra = int.from_bytes(head[26:28], "little"), int.from_bytes(head[28:30], "little")
    return member.header_offset + _LOCAL_HEADER + name + extra
