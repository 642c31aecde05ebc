"""Scenes of two images, in each format of images and its variants."""

from __future__ import annotations

import io
import struct
import zlib
from typing import Any

import numpy as np
import tifffile
from numpy.typing import NDArray
from PIL import Image

from fuzz.sample import Sample, in_memory
from gradcon.io.images import png as own_png

SIZE = 8


def pixels(shape: tuple[int, ...], dtype: Any = np.uint8, seed: int = 0) -> NDArray[Any]:
    """Return pixels that are neither blank nor saturated."""
    return np.random.default_rng(seed).integers(1, np.iinfo(dtype).max, shape, dtype=dtype)


GREY, COLOUR = (SIZE, SIZE), (SIZE, SIZE, 3)


def png() -> list[Sample]:
    palette = Image.fromarray(pixels(COLOUR)).quantize(16)
    bits = Image.fromarray(pixels(GREY) > 128)
    alpha = Image.fromarray(np.concatenate([pixels(COLOUR), np.full((SIZE, SIZE, 1), 255, np.uint8)], axis=2))
    images = [
        own_png.encode(pixels(GREY)),
        own_png.encode(pixels(COLOUR)),
        own_png.encode(pixels(GREY, np.uint16)),
        own_png.encode(pixels(COLOUR, np.uint16)),
        *(_pillow(image, "png") for image in (palette, bits, alpha)),
        _interlaced(pixels(GREY)),
    ]
    return [_pair(image, "png", repair) for image in images for repair in ("png", "")]


def jpeg() -> list[Sample]:
    colour, grey = Image.fromarray(pixels(COLOUR)), Image.fromarray(pixels(GREY))
    upright = Image.Exif()
    upright[0x0112] = 1  # the tag Orientation
    return [
        _pair(_pillow(colour, "jpeg", quality=80), "jpg"),
        _pair(_pillow(colour, "jpeg", quality=80, progressive=True, subsampling=0), "jpg"),
        _pair(_pillow(colour, "jpeg", quality=80, exif=upright), "jpg"),
        _pair(_pillow(grey, "jpeg", quality=80), "jpg"),
        _pair(_pillow(colour.convert("CMYK"), "jpeg", quality=80), "jpg"),
    ]


def pnm() -> list[Sample]:
    grey, colour, deep = pixels(GREY), pixels(COLOUR), pixels(GREY, np.uint16)
    return [
        _pair(b"P5 8 8 255\n" + grey.tobytes(), "pgm"),
        _pair(b"P6\n# a comment\n8 8\n255\n" + colour.tobytes(), "ppm"),
        _pair(b"P5 8 8 65535\n" + deep.astype(">u2").tobytes(), "pgm"),
    ]


def tiff() -> list[Sample]:
    grey, colour, deep = pixels(GREY), pixels(COLOUR), pixels(COLOUR, np.uint16)
    large = pixels((32, 32))
    return [
        _pair(image, "tif")
        for image in (
            *(_pillow(Image.fromarray(colour), "tiff", compression=kind) for kind in _TIFF_COMPRESSIONS),
            _tifffile(grey),
            _tifffile(deep, byteorder=">"),
            _tifffile(grey.astype(np.float32) / 255),
            _tifffile(grey, compression="zlib", predictor=True),
            _tifffile(large, tile=(16, 16), compression="zlib"),
            _tifffile(grey, bigtiff=True),
            _tifffile(np.moveaxis(colour, 2, 0), planarconfig="separate", photometric="rgb"),
        )
    ]


_TIFF_COMPRESSIONS = (None, "tiff_deflate", "tiff_lzw", "packbits")


def _pair(image: bytes, suffix: str, repair: str = "") -> Sample:
    """Return a scene of two views, of which one is mutated."""
    files = {f"v_0_0.{suffix}": image, f"v_0_1.{suffix}": image}
    return Sample(files, "scene", mutated=(f"v_0_0.{suffix}",), repair=repair)


def _pillow(image: Image.Image, kind: str, **options: Any) -> bytes:
    return in_memory(lambda file: image.save(file, kind, **options))


def _tifffile(array: NDArray[Any], **options: Any) -> bytes:
    return in_memory(lambda file: tifffile.imwrite(file, array, metadata=None, **options))


def _interlaced(image: NDArray[np.uint8]) -> bytes:
    """Encode an interlaced PNG, which neither Pillow nor gradcon writes."""
    passes = ((0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1))
    rows = io.BytesIO()
    for top, left, down, across in passes:
        for row in image[top::down, left::across]:
            if row.size:
                rows.write(b"\0" + row.tobytes())
    height, width = image.shape
    chunks = [
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 1)),
        (b"IDAT", zlib.compress(rows.getvalue())),
        (b"IEND", b""),
    ]
    return own_png.SIGNATURE + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in chunks
    )
