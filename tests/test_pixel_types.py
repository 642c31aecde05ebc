"""All views have pixels of one type, because they share one white; grey values that are data come as stored."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
import tifffile
from PIL import Image

from gradcon import Scene, open_scene
from gradcon.errors import InputError
from gradcon.io.images import png, read_grey_values, read_image

PICTURES = np.random.default_rng(0).integers(0, 256, (3, 16, 20), dtype=np.uint8)
BASELINES = [(1, 0), (-1, 0)]


def test_views_of_another_bit_depth_are_refused_by_name(tmp_path: Path) -> None:
    for k, picture in enumerate(PICTURES):
        stored = picture if k == 1 else picture.astype(np.uint16) * 16  # 12 of 16 bits, as cameras store them
        (tmp_path / f"s_0_{k}.png").write_bytes(png.encode(stored))
    says = r"s_0_\d\.png: its pixels are uint16 but those of s_0_1\.png are uint8; store all views in one type"
    with pytest.raises(InputError, match=says) as caught:
        open_scene(tmp_path)
    assert str(caught.value).startswith(str(tmp_path))


@pytest.mark.parametrize("other", [np.uint16, np.int16, np.float32])
def test_arrays_of_another_type_are_refused(other: type) -> None:
    with pytest.raises(InputError, match="target 1: its pixels are"):
        Scene(PICTURES[0], [PICTURES[1], PICTURES[2].astype(other)], BASELINES)


def test_byte_order_and_width_of_floats_do_not_matter() -> None:
    wide = PICTURES.astype(np.uint16) * 257
    expected = Scene(wide[0], wide[1:], BASELINES).targets
    np.testing.assert_array_equal(Scene(wide[0], [wide[1].astype(">u2"), wide[2]], BASELINES).targets, expected)
    floats = PICTURES / 255
    Scene(floats[0].astype(np.float32), [floats[1], floats[2].astype(np.float16)], BASELINES)


def test_formats_of_one_depth_mix(tmp_path: Path) -> None:
    Image.fromarray(PICTURES[0]).save(tmp_path / "s_0_0.png")
    tifffile.imwrite(tmp_path / "t.tif", PICTURES[1])
    (tmp_path / "t.tif").rename(tmp_path / "s_0_1.png")
    Image.fromarray(PICTURES[2]).convert("RGB").save(tmp_path / "s_0_2.png")
    assert len(open_scene(tmp_path).targets) == 2


def packed_png(values: np.ndarray, depth: int) -> bytes:
    """A grey PNG of fewer than 8 bits, each row padded to whole bytes."""
    bits = np.unpackbits(values[..., None], axis=-1)[..., 8 - depth :].reshape(len(values), -1)
    rows = b"".join(b"\0" + np.packbits(row).tobytes() for row in bits)
    chunks = [(b"IHDR", struct.pack(">IIBBBBB", values.shape[1], len(values), depth, 0, 0, 0, 0))]
    chunks += [(b"IDAT", zlib.compress(rows)), (b"IEND", b"")]
    coded = (struct.pack(">I", len(c)) + k + c + struct.pack(">I", zlib.crc32(k + c)) for k, c in chunks)
    return png.SIGNATURE + b"".join(coded)


@pytest.mark.parametrize("depth", [1, 2, 4])
def test_grey_values_of_few_bits_are_as_stored_and_images_span_the_range(tmp_path: Path, depth: int) -> None:
    white = 2**depth - 1
    values = np.random.default_rng(1).integers(0, white + 1, (9, 13), dtype=np.uint8)
    path = tmp_path / "grey.png"
    path.write_bytes(packed_png(values, depth))
    assert np.array_equal(np.asarray(Image.open(path).convert("L")), values * (255 // white))  # it is a valid PNG
    np.testing.assert_array_equal(read_grey_values(path), values)
    image = read_image(path)
    assert image.dtype == np.uint8
    np.testing.assert_array_equal(image, values * (255 // white))


def test_a_middlebury_map_of_four_bits_is_that_of_eight(tmp_path: Path) -> None:
    for k in range(3):
        Image.fromarray(np.full((370, 20), 40 + k, np.uint8)).save(tmp_path / f"view{k}.png")
    grey = (np.indices((370, 20)).sum(0) % 16).astype(np.uint8)
    Image.fromarray(grey).save(tmp_path / "disp1.png")
    eight = open_scene(tmp_path).ground_truth
    (tmp_path / "disp1.png").write_bytes(packed_png(grey, 4))
    np.testing.assert_array_equal(open_scene(tmp_path).ground_truth, eight)
