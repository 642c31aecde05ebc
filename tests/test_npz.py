"""The reader of NumPy's files: every version of the format, and files that are damaged, hostile or claim too much."""

from __future__ import annotations

import hashlib
import io
import struct
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from conftest import value_or_refusal
from gradcon import open_scene
from gradcon.errors import InputError
from gradcon.io.maps import read_map
from gradcon.jobs import Store
from gradcon.npz import StoredArray, open_npz, read_header
from gradcon.report.weights import NAMES, read_weights

VERSIONS = [(1, 0), (2, 0), (3, 0)]
ARRAY = np.arange(24, dtype=np.float32).reshape(4, 6)


def npy(array: Any, version: tuple[int, int] | None = None) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.asarray(array), version, allow_pickle=True)
    return buffer.getvalue()


def lying_npy(shape: tuple[int, ...], descr: Any = "<f4", values: bytes = bytes(16), version: bytes = b"\1\0") -> bytes:
    """A header that claims anything, before a few bytes of values."""
    text = repr({"descr": descr, "fortran_order": False, "shape": shape}).encode() + b"\n"
    return b"\x93NUMPY" + version + struct.pack("<H", len(text)) + text + values


def archive(path: Path, how: int = zipfile.ZIP_STORED, **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w", how) as file:
        for name, content in members.items():
            file.writestr(f"{name}.npy", content)
    return path


def claiming(path: Path, *, unpacked: int | None = None, packed: int | None = None) -> Path:
    """Change the sizes that the directory of an archive with one member states."""
    content = bytearray(path.read_bytes())
    entry = content.index(b"PK\x01\x02")
    for at, size in ((20, packed), (24, unpacked)):
        if size is not None:
            content[entry + at : entry + at + 4] = size.to_bytes(4, "little")
    path.write_bytes(content)
    return path


def only(path: Path) -> np.ndarray[Any, Any]:
    (array,) = open_npz(path).values()
    return array.read()


# ------------------------------------------------------------------------------ what is read


@given(hnp.arrays(hnp.scalar_dtypes() | st.just(np.dtype("U5")), hnp.array_shapes(min_dims=0, min_side=0, max_side=5)))
@pytest.mark.parametrize("how", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_any_plain_array_comes_back(tmp_path_factory: pytest.TempPathFactory, how: int, array: Any) -> None:
    path = archive(tmp_path_factory.getbasetemp() / "a.npz", how, C=npy(array), F=npy(np.array(array, order="F")))
    content = path.read_bytes()
    for arrays in (open_npz(path), open_npz(path, content)):
        for stored in arrays.values():
            assert (stored.shape, stored.dtype) == (array.shape, array.dtype)
            for values in (stored.read(), stored[()] if array.size else stored.read()):
                np.testing.assert_array_equal(values, array)
            assert stored.read().flags.writeable


@pytest.mark.parametrize("version", VERSIONS)
def test_every_version_is_read(tmp_path: Path, version: tuple[int, int]) -> None:
    content = npy(ARRAY, version)
    assert content[6:8] == bytes(version)
    header = read_header(io.BytesIO(content), len(content), "a.npy")
    assert (header.shape, header.dtype, header.start + header.nbytes) == ((4, 6), np.float32, len(content))
    (tmp_path / "a.npy").write_bytes(content)
    np.testing.assert_array_equal(StoredArray(tmp_path / "a.npy").read(), ARRAY)
    np.testing.assert_array_equal(StoredArray(tmp_path / "a.npy")[1:3, 2], ARRAY[1:3, 2])
    np.testing.assert_array_equal(only(archive(tmp_path / "a.npz", a=content)), ARRAY)


def weights(version: tuple[int, int] | None = None, **more: bytes) -> dict[str, bytes]:
    """The members of a weights.npz for one target and (8, 8) pixels."""
    arrays = {
        "solves": np.array([1], np.int32),
        "codes": np.zeros((1, 4, 4, 1, 1), np.uint8),
        "step": np.int32(2),
        "scales": np.array([0], np.int32),
        "disparities": np.zeros((1, 8, 8), np.uint8),
        "disparity_step": np.int32(1),
        "disparity_range": np.array([0.0, 1.0]),
    }
    assert set(arrays) == set(NAMES)
    return {name: npy(array, version) for name, array in arrays.items()} | more


def read_job(path: Path) -> dict[str, np.ndarray[Any, Any]]:
    """Read the arrays of a finished job."""
    kept = {"file": path.name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
    return Store(path.parent)._arrays(kept)


VIEWS = np.random.default_rng(0).integers(1, 256, (3, 3, 8, 12), dtype=np.uint8)
USERS: dict[str, tuple[Callable[[Path], Any], Callable[[Any], dict[str, bytes]]]] = {
    "light field": (open_scene, lambda version: {"views": npy(VIEWS, version)}),
    "map": (lambda path: read_map(path).values, lambda version: {"disparity": npy(ARRAY, version)}),
    "weights": (lambda path: read_weights(path, targets=1, size=(8, 8), last=1), weights),
    "job": (read_job, lambda version: {"a": npy(ARRAY, version)}),
}


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("version", VERSIONS)
def test_every_user_reads_every_version(tmp_path: Path, user: str, version: tuple[int, int]) -> None:
    read, members = USERS[user]
    read(archive(tmp_path / "a.npz", **members(version)))


class Bomb:
    def __reduce__(self) -> Any:
        return pytest.fail, ("a pickle was loaded",)


@pytest.mark.parametrize("user", USERS)
def test_no_user_loads_a_pickle(tmp_path: Path, user: str) -> None:
    read, members = USERS[user]
    given = members((1, 0))
    name = next(iter(given))
    path = archive(tmp_path / "a.npz", **(given | {name: npy(np.array([Bomb(), 1], object))}))
    with pytest.raises(InputError, match="holds Python objects, which are never loaded") as caught:
        read(path)
    assert caught.value.where == f"{path}, {name}"


# ------------------------------------------------------------------------------ what is refused


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (npy(ARRAY)[:-1], "holds 95 bytes of values, but its header announces 96"),
        (npy(ARRAY) + b"\0", "holds 97 bytes of values, but its header announces 96"),
        (lying_npy((100_000, 100_000)), "holds 16 bytes of values, but its header announces 40,000,000,000"),
        (lying_npy((2**62, 2**62)), "but its header announces"),
        (lying_npy((-2, -2)), r"claims the shape \(-2, -2\)"),
        (lying_npy((4,), version=b"\4\0"), "version 4.0 of NumPy's format"),
        (lying_npy((2**40,), "|S0", b""), "values of the type"),
        (lying_npy((2,), [("a", "<f4"), ("b", "<f4")]), "values of the type"),
        (lying_npy((4,), "|O"), "Python objects"),
        (lying_npy((4,), "nonsense"), "cannot be read"),
        (b"\x93NUMPY\1\0\xff\xff", "cannot be read"),
        (b"\x93NUMPY", "cannot be read"),
        (b"GIF89a", "cannot be read"),
        (b"", "cannot be read|is empty"),
    ],
)
def test_files_that_are_not_what_they_claim(tmp_path: Path, content: bytes, says: str) -> None:
    path = tmp_path / "a.npy"
    path.write_bytes(content)
    with pytest.raises(InputError, match=says) as caught:
        StoredArray(path).read()
    assert str(caught.value).startswith(str(path))
    with pytest.raises(InputError, match=says) as caught:
        only(archive(tmp_path / "a.npz", a=content))
    assert caught.value.where == f"{tmp_path / 'a.npz'}, a"


@pytest.mark.parametrize("how", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@given(at=st.floats(0, 1, exclude_max=True), flip=st.integers(1, 255))
def test_damage_is_refused_and_never_passes(
    tmp_path_factory: pytest.TempPathFactory, how: int, at: float, flip: int
) -> None:
    path = archive(tmp_path_factory.getbasetemp() / "a.npz", how, a=npy(ARRAY))
    content = bytearray(path.read_bytes())
    path.write_bytes(content[: int(at * len(content))])
    assert value_or_refusal(path, only, path) is None
    content[int(at * len(content))] ^= flip
    path.write_bytes(content)
    values = value_or_refusal(path, only, path)
    assert values is None or np.array_equal(values, ARRAY)  # the checksum finds every change of a value


def test_members_that_numpy_would_not_write(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.npz", zipfile.ZIP_LZMA, a=npy(np.zeros(2**20, np.float32)))
    with pytest.raises(InputError, match="compressed by a method that NumPy does not use"):
        open_npz(path)
    content = bytearray(archive(path, a=npy(ARRAY)).read_bytes())
    content[content.index(b"PK\x01\x02") + 8] |= 1  # the flag of encryption
    path.write_bytes(content)
    with pytest.raises(InputError, match="is encrypted"):
        open_npz(path)
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("a.npy", npy(ARRAY))
        file.writestr("a", npy(ARRAY))
    with pytest.raises(InputError, match="holds two arrays that are called a"):
        open_npz(path)


@pytest.mark.parametrize(
    ("how", "sizes"),
    [
        (zipfile.ZIP_STORED, {"unpacked": 2**31}),
        (zipfile.ZIP_STORED, {"unpacked": 2**31, "packed": 2**31}),
        (zipfile.ZIP_DEFLATED, {"unpacked": 2**31}),
        (zipfile.ZIP_DEFLATED, {"unpacked": 2**31, "packed": 2**31}),
    ],
)
def test_members_that_claim_more_than_the_archive_holds(tmp_path: Path, how: int, sizes: dict[str, int]) -> None:
    path = claiming(archive(tmp_path / "a.npz", how, a=npy(ARRAY)), **sizes)
    with pytest.raises(InputError, match=r"claims 2,147,483,648 bytes out of \d+, which is more than can be unpacked"):
        open_npz(path)


def test_no_more_is_unpacked_than_a_member_claims(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.npz", zipfile.ZIP_DEFLATED, a=npy(ARRAY) + bytes(2**26))
    claiming(path, unpacked=len(npy(ARRAY)))
    tracemalloc.start()
    with pytest.raises(InputError, match="cannot be read"):  # the checksum is that of all the zeros
        only(path)
    assert tracemalloc.get_traced_memory()[1] < 2**22
    tracemalloc.stop()


def test_values_are_in_memory_only_once(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.npz", zipfile.ZIP_DEFLATED, a=npy(np.zeros(2**22, np.float32)))
    tracemalloc.start()
    assert only(path).nbytes == 2**24
    assert tracemalloc.get_traced_memory()[1] < 2**24 + 2**23
    tracemalloc.stop()


def test_an_array_over_the_limit_is_not_read(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.npz", a=npy(ARRAY))
    assert open_npz(path)["a"].read(limit=96).shape == (4, 6)
    with pytest.raises(InputError, match="holds 96 bytes of values, but at most 95 are expected"):
        open_npz(path)["a"].read(limit=95)


def test_a_file_that_packs_well_is_read(tmp_path: Path) -> None:
    zeros = npy(np.zeros((1024, 1024), np.float32))
    assert len(zeros) > 900 * len(zlib.compress(zeros, 9))
    path = archive(tmp_path / "a.npz", zipfile.ZIP_DEFLATED, disparity=zeros)
    assert not read_map(path, "disparity").values.any()


def test_weights_that_lack_an_array(tmp_path: Path) -> None:
    members = weights()
    del members["codes"]
    path = archive(tmp_path / "weights.npz", **members)
    with pytest.raises(InputError, match=rf"^{path}: holds no codes; estimate the scene again\.$"):
        read_weights(path, targets=1, size=(8, 8), last=1)
