"""Images are read back exactly, and any damage is reported in one sentence."""

from __future__ import annotations

import io
import struct
import zlib

import numpy as np
import pytest
import tifffile
from PIL import Image

from conftest import value_or_refusal
from gradcon.errors import InputError
from gradcon.io.images import png, read_grey_values, read_image

pytestmark = pytest.mark.filterwarnings("error")
ADAM7 = ((0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1))


def noise(shape, dtype=np.uint8, seed=0):
    return np.random.default_rng(seed).integers(0, np.iinfo(dtype).max + 1, shape, dtype=dtype)


def saved(tmp_path, image, name, **options):
    path = tmp_path / name
    Image.fromarray(image).save(path, **options)
    return path


def paeth(a, b, c):
    p = a + b - c
    return min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]


def filtered(rows, step):
    """A PNG's filtered bytes, the five filters in turn."""
    out, above = bytearray(), [0] * len(rows[0])
    for y, row in enumerate(rows):
        kind = y % 5
        out.append(kind)
        for k, value in enumerate(row):
            left = row[k - step] if k >= step else 0
            corner = above[k - step] if k >= step else 0
            predicted = (0, left, above[k], (left + above[k]) // 2, paeth(left, above[k], corner))[kind]
            out.append((value - predicted) % 256)
        above = row
    return bytes(out)


def png_bytes(array, colour, interlaced=False):
    """An independent PNG encoder: all filters, and interlacing."""
    big = array.astype(array.dtype.newbyteorder(">"))
    step = array.itemsize * (array.shape[2] if array.ndim == 3 else 1)
    passes = [big[y::dy, x::dx] for y, x, dy, dx in ADAM7] if interlaced else [big]
    data = b"".join(filtered([list(row.tobytes()) for row in part], step) for part in passes if part.size)

    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    head = struct.pack(">IIBBBBB", array.shape[1], array.shape[0], 8 * array.itemsize, colour, 0, 0, interlaced)
    half = len(packed := zlib.compress(data)) // 2  # two IDAT chunks, and one that the reader ignores
    return b"".join(
        [
            png.SIGNATURE,
            chunk(b"IHDR", head),
            chunk(b"tEXt", b"Comment\0x"),
            chunk(b"IDAT", packed[:half]),
            chunk(b"IDAT", packed[half:]),
            chunk(b"IEND", b""),
        ]
    )


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize("interlaced", [False, True])
@pytest.mark.parametrize(("colour", "channels"), [(0, 0), (2, 3), (4, 2), (6, 4)])
def test_png_of_every_kind(tmp_path, dtype, interlaced, colour, channels):
    array = noise((13, 11, channels) if channels else (13, 11), dtype)
    path = tmp_path / "a.png"
    path.write_bytes(png_bytes(array, colour, interlaced))
    expected = {0: array, 2: array[..., 0] if channels == 2 else None}.get(channels, array[..., :3])
    image = read_image(path)
    assert image.dtype == dtype
    np.testing.assert_array_equal(image, expected)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (9, 1), (7, 5, 3), (1, 1, 3), (64, 33, 3)])
def test_png_round_trip(tmp_path, dtype, shape):
    array = noise(shape, dtype)
    (tmp_path / "a.png").write_bytes(png.encode(array))
    image = read_image(tmp_path / "a.png")
    assert image.dtype == dtype
    np.testing.assert_array_equal(image, array)
    if dtype == np.uint8:  # and others can read what we write
        np.testing.assert_array_equal(np.asarray(Image.open(tmp_path / "a.png")), array)


def test_palette_and_bilevel_png(tmp_path):
    colours = noise((6, 5, 3)) // 128 * 255
    paletted = Image.fromarray(colours).convert("P", palette=Image.Palette.ADAPTIVE)
    paletted.save(tmp_path / "p.png", transparency=0)
    np.testing.assert_array_equal(read_image(tmp_path / "p.png"), colours)
    bits = noise((6, 5)) > 128
    Image.fromarray(bits).save(tmp_path / "b.png")
    np.testing.assert_array_equal(read_image(tmp_path / "b.png"), bits * np.uint8(255))


@pytest.mark.parametrize("shape", [(4, 6), (4, 6, 3)])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_pnm(tmp_path, shape, dtype):
    array = noise(shape, dtype)
    kind = "P5" if len(shape) == 2 else "P6"
    white = np.iinfo(dtype).max
    header = f"{kind}\n# a comment\n6 # another\n 4\n# and one\n{white}\n".encode()
    (tmp_path / "a.ppm").write_bytes(header + array.astype(array.dtype.newbyteorder(">")).tobytes())
    image = read_image(tmp_path / "a.ppm")
    assert image.dtype == dtype
    np.testing.assert_array_equal(image, array)


def test_pnm_with_another_white(tmp_path):
    array = noise((4, 6)) % 64
    (tmp_path / "a.pgm").write_bytes(b"P5 6 4 63\n" + array.tobytes())
    np.testing.assert_allclose(read_image(tmp_path / "a.pgm"), array / 63, rtol=1e-6)
    np.testing.assert_array_equal(read_grey_values(tmp_path / "a.pgm"), array)


@pytest.mark.parametrize("dtype", ["u1", "u2", "u4", "i2", "f2", "f4", "f8"])
@pytest.mark.parametrize("shape", [(12, 10), (12, 10, 3)])
@pytest.mark.parametrize("compression", [None, "zlib"])
@pytest.mark.parametrize("byteorder", ["<", ">"])
def test_tiff(tmp_path, dtype, shape, compression, byteorder):
    array = (noise(shape, np.uint16) / 7).astype(dtype)
    options = {"photometric": "rgb" if len(shape) == 3 else "minisblack", "compression": compression}
    tifffile.imwrite(tmp_path / "a.tif", array, byteorder=byteorder, rowsperstrip=5, **options)
    image = read_image(tmp_path / "a.tif")
    assert image.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(image, array)


def test_tiff_planes_alpha_palette_tiles(tmp_path):
    path, array = tmp_path / "a.tif", noise((32, 48, 4))
    tifffile.imwrite(path, np.moveaxis(array[..., :3], 2, 0), photometric="rgb", planarconfig="separate")
    np.testing.assert_array_equal(read_image(path), array[..., :3])
    tifffile.imwrite(path, array, photometric="rgb", extrasamples=["unassalpha"], tile=(16, 16))
    np.testing.assert_array_equal(read_image(path), array[..., :3])
    Image.fromarray(array[..., :3]).quantize(17).save(path)
    np.testing.assert_array_equal(read_image(path) >> 8, np.asarray(Image.open(path).convert("RGB")))


@pytest.mark.parametrize("size", [(40, 60, 3), (300, 200, 3), (33, 20)])
@pytest.mark.parametrize("smooth", [True, False])
def test_tiff_by_lzw(tmp_path, size, smooth):
    array = noise(size) if not smooth else np.broadcast_to(np.arange(size[1])[:, None], (*size[:2], 3)).astype("u1")
    path = saved(tmp_path, array, "a.tif", compression="tiff_lzw")
    np.testing.assert_array_equal(read_image(path), array)


def test_jpeg(tmp_path):
    smooth = np.add.outer(np.arange(40), np.arange(50)).astype(np.uint8)
    for image in (smooth, np.stack([smooth, smooth // 2, 200 - smooth], axis=2)):
        path = saved(tmp_path, image, "a.jpg", quality=98, comment=b"x" * 50)
        assert np.abs(read_image(path).astype(int) - image).max() < 8
        np.testing.assert_array_equal(read_image(path), np.asarray(Image.open(path)))


def good_images():
    array = noise((24, 20, 3))

    def by_pillow(kind, **options):
        Image.fromarray(array).save(buffer := io.BytesIO(), kind, **options)
        return buffer.getvalue()

    tifffile.imwrite(buffer := io.BytesIO(), array.astype(np.float32), photometric="rgb")
    return {
        "a.png": png.encode(array),
        "b.png": png.encode(array.astype(np.uint16)),
        "a.jpg": by_pillow("JPEG"),
        "p.jpg": by_pillow("JPEG", progressive=True),
        "a.tif": buffer.getvalue(),
        "z.tif": by_pillow("TIFF", compression="tiff_lzw"),
        "a.ppm": b"P6 20 24 255\n" + array.tobytes(),
    }


GOOD = good_images()


@pytest.mark.parametrize("name", GOOD)
def test_truncated(tmp_path, name, capfd):
    data, path = GOOD[name], tmp_path / name
    for length in {*range(1, 40), *range(40, len(data) - 1, 97), len(data) - 2}:
        path.write_bytes(data[:length])
        with pytest.raises(InputError, match=name) as caught:
            read_image(path)
        assert "\n" not in str(caught.value)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("name", GOOD)
def test_damaged_bytes_give_an_image_or_an_error(tmp_path, name, capfd):
    rng, path, refused = np.random.default_rng(1), tmp_path / name, 0
    for _ in range(150):
        data = bytearray(GOOD[name])
        where = rng.integers(0, min(len(data), rng.choice([60, len(data)])), rng.integers(1, 4))
        for k in where:
            data[k] ^= int(rng.integers(1, 256))
        path.write_bytes(data)
        image = value_or_refusal(path, read_image, path)
        assert image is None or image.size > 0
        refused += image is None
    assert refused == 150 if name.endswith(".png") else refused > 0  # a PNG's checksums reveal every change
    assert capfd.readouterr() == ("", "")


def test_missing_empty_folder_and_no_image(tmp_path):
    (tmp_path / "empty.png").touch()
    (tmp_path / "text.png").write_text("this is not an image")
    (tmp_path / "P").write_text("P")
    (tmp_path / "plain.pgm").write_text("P2 1 1 255 3")
    for name, said in {
        "gone.png": "no such file",
        "empty.png": "is empty",
        "text.png": "not an image",
        "P": "not an image",
        "plain.pgm": "binary",
        ".": "is a folder",
        "a\0b": "no such file",
    }.items():
        with pytest.raises(InputError, match=said):
            read_image(tmp_path / name)


def test_absurd_sizes_are_refused_before_they_are_allocated(tmp_path):
    huge = GOOD["a.png"].replace(struct.pack(">II", 20, 24), struct.pack(">II", 10**6, 10**6))
    head = huge[12:29]
    (tmp_path / "a.png").write_bytes(huge[:29] + struct.pack(">I", zlib.crc32(head)) + huge[33:])
    big = GOOD["a.png"].replace(struct.pack(">II", 20, 24), struct.pack(">II", 16000, 16000))
    (tmp_path / "b.png").write_bytes(big[:29] + struct.pack(">I", zlib.crc32(big[12:29])) + big[33:])
    (tmp_path / "a.ppm").write_bytes(b"P6 99999999 99999999 65535\n" + bytes(100))
    at = GOOD["a.jpg"].index(b"\xff\xc0") + 5
    (tmp_path / "a.jpg").write_bytes(GOOD["a.jpg"][:at] + b"\xff\xff\xff\xff" + GOOD["a.jpg"][at + 4 :])
    tifffile.imwrite(tmp_path / "a.tif", np.zeros((3, 5), np.uint8))
    with tifffile.TiffFile(tmp_path / "a.tif", mode="r+b") as file:
        file.pages[0].tags["ImageWidth"].overwrite(2**31)
        file.pages[0].tags["ImageLength"].overwrite(2**20)
    for name in ("a.png", "b.png", "a.ppm", "a.jpg", "a.tif"):
        with pytest.raises(InputError, match=name):
            read_image(tmp_path / name)


def test_encode_refuses_what_png_cannot_hold():
    for array in (
        np.zeros((3, 3)),
        np.zeros((3, 3, 2), np.uint8),
        np.zeros((0, 3), np.uint8),
        np.zeros(3, np.uint8),
    ):
        with pytest.raises(InputError):
            png.encode(array)
