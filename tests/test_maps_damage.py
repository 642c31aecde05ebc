"""Files that are damaged or are not maps: each is refused in one sentence that names the file."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tifffile

from gradcon.errors import InputError
from gradcon.io.images import png
from gradcon.io.maps import Map, read_map, write_map

OpenEXR = pytest.importorskip("OpenEXR")


def npz(**arrays: Any) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def npy(array: Any) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def tiff(array: Any, **more: Any) -> bytes:
    buffer = io.BytesIO()
    tifffile.imwrite(buffer, array, **more)
    return buffer.getvalue()


def exr(tmp_path: Path, **channels: Any) -> bytes:
    with OpenEXR.File({"type": OpenEXR.scanlineimage}, channels) as file:
        file.write(str(tmp_path / "made.exr"))
    return (tmp_path / "made.exr").read_bytes()


ONE = np.ones((2, 3), np.float32)


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("a.png", png.encode(np.ones((2, 2), np.uint16)), "does not say what its grey values mean"),
        ("a.png", png.encode(np.ones((2, 2, 3), np.uint8)), "is a picture, not a map"),
        ("a.png", b"GIF89a", "is not a PNG"),
        ("a.png", png.encode(np.ones((2, 2), np.uint16), {"gradcon:scale": "0", "gradcon:offset": "1"}), "no sense"),
        ("a.png", png.encode(np.ones((2, 2), np.uint16), {"gradcon:scale": "x", "gradcon:offset": "1"}), "no sense"),
        (
            "a.png",
            png.encode(np.ones((2, 2), np.uint16), {"gradcon:scale": "1e300", "gradcon:offset": "0"}),
            "infinite",
        ),
        ("a.tif", tiff(ONE.astype(np.float64)), "holds float64 pixels"),
        ("a.tif", tiff(np.ones((2, 2, 3), np.float32), photometric="rgb"), "holds 3 channels"),
        ("a.tif", tiff(np.ones((4, 2, 3), np.float32), photometric="minisblack"), "holds 4 pages"),
        (
            "a.tif",
            tiff(ONE, description='{"format": "gradcon-map-1", "unit": 3}', metadata=None),
            ", unit: must be text",
        ),
        (
            "a.npz",
            npz(disparity=np.array([{}, 1], object)),
            "disparity: holds Python objects, which are never",
        ),
        ("a.npz", npz(disparity=ONE.astype(np.float64)), "a.npz, disparity: holds float64 values"),
        ("a.npz", npz(disparity=np.ones((2, 2, 2), np.float32)), "values: are float32 of the shape (2, 2, 2)"),
        ("a.npz", npz(disparity=ONE, other=ONE), "holds 'other', which is not one of disparity"),
        ("a.npz", npz(disparity=ONE, disparity_about=np.array("{}")), "disparity_about: is not the description"),
        ("a.npz", npz(), "holds none of the maps"),
        ("a.npz", b"PK\3\4", "cannot be read (File is not a zip file)"),
        ("a.exr", b"\x76\x2f\x31\x01", "cannot be read as OpenEXR"),
        ("a.pfm", b"PF\n1 1\n-1\n" + bytes(12), "is a colour PFM"),
        ("a.jpg", b"\xff", "is not that of a map format; use one of .pfm, .tif, .tiff, .png, .npz, .exr"),
    ],
)
def test_files_that_are_not_maps_are_refused(tmp_path: Path, name: str, data: bytes, says: str) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError) as error:
        read_map(tmp_path / name)
    assert error.value.where.split(", ")[0] == str(tmp_path / name)
    assert says in str(error.value)


def test_exr_files_that_are_not_maps_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.exr"
    for channels, says in (
        ({"Z": ONE, "A": ONE}, "holds the channels A, Z"),
        ({"Z": ONE.astype(np.float16)}, "holds float16 pixels"),
        ({"Z": ONE.astype(np.uint32)}, "holds uint32 pixels"),
    ):
        path.write_bytes(exr(tmp_path, **channels))
        with pytest.raises(InputError, match=says):
            read_map(path)


def test_headers_that_lie_are_refused_before_anything_is_allocated(tmp_path: Path) -> None:
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (100000, 100000), }\n"
    lying = b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header + bytes(16)
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as file:
        file.writestr("disparity.npy", lying)
    with pytest.raises(InputError, match="holds 16 bytes of values, but its header announces 40,000,000,000"):
        read_map(tmp_path / "a.npz")
    with zipfile.ZipFile(tmp_path / "b.npz", "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("disparity_about.npy", npy(np.array("x" * 2**19)))
        file.writestr("disparity.npy", npy(ONE))
    with pytest.raises(InputError, match="disparity_about: holds 2,097,152 bytes of values, but at most 1,048,576"):
        read_map(tmp_path / "b.npz")


@pytest.mark.parametrize("suffix", [".pfm", ".png", ".npz", ".exr", ".tif"])
def test_truncation_is_refused_in_one_sentence(tmp_path: Path, suffix: str, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / f"map{suffix}"
    write_map(path, Map(np.arange(3000, dtype=np.float32).reshape(50, 60), "disparity", "px"), lossy=True)
    whole = path.read_bytes()
    for length in (0, 1, 9, 30, len(whole) // 3, len(whole) // 2, len(whole) - 40):
        path.write_bytes(whole[:length])
        with pytest.raises(InputError) as error:
            read_map(path)
        assert str(error.value).startswith((f"{path}: ", f"{path}, "))
    printed = capfd.readouterr()
    assert (printed.out, printed.err) == ("", "")


@pytest.mark.parametrize("suffix", [".png", ".npz", ".exr", ".tif"])
def test_flipped_bytes_raise_only_input_errors(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"map{suffix}"
    write_map(path, Map(np.arange(30, dtype=np.float32).reshape(5, 6), "disparity", "px"))
    whole = path.read_bytes()
    random, refused = np.random.default_rng(1), []
    for _ in range(150):
        data = bytearray(whole)
        for k in random.integers(0, len(data), 3):
            data[k] ^= int(random.integers(1, 256))
        path.write_bytes(bytes(data))
        try:
            read_map(path)
        except InputError as error:
            refused.append(error)
    assert len(refused) > 20
    assert all(error.where.split(", ")[0] == str(path) and "\n" not in str(error) for error in refused)


def test_png_texts_that_cannot_be_read_are_ignored() -> None:
    data = png.encode(np.ones((1, 1), np.uint8), {"a": "plain", "b": "groß"})
    assert png.read_text(data)[1] == {"a": "plain", "b": "groß"}
    squeezed = png._chunk(b"iTXt", b"c\0\1\0\0\0" + zlib.compress(b"x"))
    broken = png._chunk(b"iTXt", b"d\0\0\0") + png._chunk(b"tEXt", b"a\0again")
    assert png.read_text(data[:33] + squeezed + broken + data[33:])[1] == {"a": "again", "b": "groß"}
