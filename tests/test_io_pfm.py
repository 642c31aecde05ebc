"""PFM: lossless in both directions, and an InputError for anything else."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from conftest import value_or_refusal
from gradcon.errors import InputError
from gradcon.io import pfm
from gradcon.io.pfm import read_pfm, write_pfm

MAPS = hnp.arrays(np.float32, hnp.array_shapes(min_dims=2, max_dims=2, max_side=9))


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("pfm") / "a.pfm"


@given(MAPS)
def test_round_trip_to_the_bit(path, array):
    write_pfm(path, array)
    assert read_pfm(path).view(np.uint32).tolist() == array.view(np.uint32).tolist()
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


@given(MAPS, st.sampled_from(["1", "+0.5", "1.0e3"]), st.sampled_from([" ", "\n", "\r\n", "  \t"]))
def test_big_endian_and_any_white_space(path, array, scale, gap):
    height, width = array.shape
    header = f"Pf{gap}{width}{gap}{height}{gap}{scale}\n".encode()
    path.write_bytes(header + array[::-1].astype(">f4").tobytes())
    np.testing.assert_array_equal(read_pfm(path), array)


def test_rows_are_stored_bottom_up(path):
    path.write_bytes(b"Pf\n2 2\n-1\n" + struct.pack("<4f", 3, 4, 1, 2))
    assert read_pfm(path).tolist() == [[1, 2], [3, 4]]


@given(st.binary(max_size=200) | st.binary(max_size=60).map(lambda rest: b"Pf\n" + rest))
def test_arbitrary_bytes_are_refused(path, data):
    path.write_bytes(data)
    array = value_or_refusal(path, read_pfm, path)
    assert array is None or 4 * array.size < len(data)


@given(MAPS, st.data())
def test_missing_and_trailing_bytes_are_refused(path, array, data):
    content = pfm.encode(array)
    cut = data.draw(st.integers(0, len(content) - 1))
    for wrong in (content[:cut], content + b"\0" * (1 + cut)):
        path.write_bytes(wrong)
        with pytest.raises(InputError):
            read_pfm(path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "empty"),
        (b"P5 1 1 255\n\0", "header"),
        (b"Pf4\n1 1\n-1\n\0\0\0\0", "header"),
        (b"Pf\n-1 1\n-1\n\0\0\0\0", "header"),
        (b"Pf\n1.5 1\n-1\n\0\0\0\0", "header"),
        (b"Pf\n1 1\nnan\n\0\0\0\0", "header"),
        (b"Pf\n1 1\n0\n\0\0\0\0", "makes no sense"),
        (b"Pf\n1 1\n1.2.3\n\0\0\0\0", "makes no sense"),
        (b"Pf\n1 1\n1e999\n\0\0\0\0", "makes no sense"),
        (b"Pf\n0 1\n-1\n", "makes no sense"),
        (b"PF\n1 1\n-1\n" + bytes(12), "colour"),
        (b"Pf\n999999999 999999999\n-1\n" + bytes(8), "truncated"),
        (b"Pf\n99999999999 1\n-1\n" + bytes(8), "header"),
        (b"Pf\n1 1\n-1\n" + bytes(3), "truncated"),
        (b"Pf\n1 1\n-1\n" + bytes(5), "do not belong"),
    ],
)
def test_what_is_said(path, content, said):
    path.write_bytes(content)
    with pytest.raises(InputError, match=said) as caught:
        read_pfm(path)
    assert "a.pfm" in str(caught.value)


def test_missing_file_and_folder(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        read_pfm(tmp_path / "gone.pfm")
    with pytest.raises(InputError, match="folder"):
        read_pfm(tmp_path)


@pytest.mark.parametrize("array", [np.zeros(3), np.zeros((2, 2, 3)), np.zeros((0, 4))])
def test_only_maps_are_written(tmp_path, array):
    with pytest.raises(InputError):
        write_pfm(tmp_path / "a.pfm", array)
    assert not list(tmp_path.iterdir())
