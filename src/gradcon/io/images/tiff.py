"""TIFF: the first page, integer or float, grey or colour, uncompressed or compressed by deflate, PackBits or LZW.

tifffile does the work, but needs another package for LZW, which many programs write by default; so LZW is decoded here.
"""

from __future__ import annotations

import io
import logging
import math
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.damage import MAX_DEFLATE, claims_too_much, refuse_large
from gradcon.errors import InputError

MAX_GROWTH = 2048  # no supported compression shrinks data by more than this factor
COMPRESSIONS = (1, 5, 8, 32773, 32946)  # none, LZW, deflate, PackBits, deflate under its old number
DEFLATE = (8, 32946)
_NUMBERS = ("imagewidth", "imagelength", "samplesperpixel", "bitspersample", "rowsperstrip", "tilewidth", "tilelength")
_PIECE, _HARMLESS = 2**20, 2**26  # bytes
LZW, MINISWHITE, HORIZONTAL = 5, 0, 2


def decode(data: bytes) -> NDArray[Any]:
    """Decode the first page in its own type, (h, w) or (h, w, 3); drop alpha, resolve a palette.

    An InputError has only a `problem`, such as "is truncated": the caller knows the file.
    """
    import tifffile

    logging.getLogger("tifffile").addHandler(logging.NullHandler())  # an InputError reports damage instead
    with tifffile.TiffFile(io.BytesIO(data)) as file:
        page: Any = file.pages[0]
        _refuse_false_claims(page, data)
        pixels = _lzw_page(page, data) if page.compression == LZW else page.asarray(maxworkers=1)
        colours, axes = page.colormap if page.photometric == 3 else None, page.axes
        inverted = page.photometric == MINISWHITE
    if colours is not None:
        return np.moveaxis(colours[:, pixels], 0, -1)
    if axes == "SYX":
        pixels = np.moveaxis(pixels, 0, -1)
    if pixels.dtype == bool:
        pixels = pixels.astype(np.uint8) * np.uint8(255)
    if inverted and pixels.dtype.kind == "u":
        pixels = np.iinfo(pixels.dtype).max - pixels
    if pixels.ndim == 3:
        pixels = pixels[..., :3] if pixels.shape[2] >= 3 else pixels[..., 0]
    return np.ascontiguousarray(pixels)


def _refuse_false_claims(page: Any, data: bytes) -> None:
    """Check what the page claims against the size of the file, before that much memory is allocated."""
    for name in _NUMBERS:
        if type(number := getattr(page, name)) is not int or number < 0:
            raise InputError("", f"is corrupt (its {name} is {number!r:.60}, not a whole number)")
    if page.compression not in COMPRESSIONS:
        how = getattr(page.compression, "name", page.compression)
        problem = f"is a TIFF compressed by {how}, which is not supported"
        raise InputError("", problem, "compress it by deflate, LZW or PackBits, or not at all")
    if page.axes not in ("YX", "YXS", "SYX") or page.dtype is None:
        raise InputError("", f"holds no picture of rows and columns (its axes are {page.axes!r})")
    if page.imagelength * page.imagewidth * page.samplesperpixel <= 0:
        raise InputError("", "is corrupt (it has no pixels)")
    if page.samplesperpixel > 16:
        raise InputError("", f"claims {page.samplesperpixel} channels, but at most 16 are allowed")
    if page.photometric not in (0, 1, 2, 3):
        raise InputError("", f"stores its colours as {page.photometric!r}, not as grey or RGB")
    counts, offsets = page.databytecounts, page.dataoffsets
    if len(counts) != len(offsets) or len(counts) == 0 or min(counts) <= 0:
        raise InputError("", "is truncated or corrupt (a part of the picture is missing)")
    if any(offset < 8 or offset + count > len(data) for offset, count in zip(offsets, counts, strict=True)):
        raise InputError("", "is truncated")
    samples = page.imagelength * page.imagewidth * page.samplesperpixel
    size, stored = samples * page.bitspersample // 8, min(sum(counts), len(data))  # parts may overlap
    if size > stored if page.compression == 1 else claims_too_much(size, stored, MAX_GROWTH):
        raise InputError("", "holds too little data for its size, so it is truncated or corrupt")
    part = math.prod(page.chunks) * page.dtype.itemsize  # a tile may be larger than the picture
    copies = page.dtype.itemsize * (2 if page.compression == 1 else 3) + (12 if page.photometric == 3 else 0)
    refuse_large("", len(data) + samples * copies + part, len(data))
    if page.compression in DEFLATE:
        for offset, count in zip(offsets, counts, strict=True):
            _refuse_inflation(data[offset : offset + count], part)


def _refuse_inflation(packed: bytes, part: int) -> None:
    """Refuse a strip or tile that inflates to more than its size, because tifffile would inflate all of it."""
    if MAX_DEFLATE * len(packed) <= max(part, _HARMLESS):
        return
    inflater, left = zlib.decompressobj(), part + _HARMLESS
    while packed and not inflater.eof:
        left -= len(inflater.decompress(packed, _PIECE))
        packed = inflater.unconsumed_tail
        if left < 0:
            raise InputError("", "is corrupt (a part of the picture unpacks to more than its size)")


def _lzw_page(page: Any, data: bytes) -> NDArray[Any]:
    if page.is_tiled or page.axes == "SYX" or page.predictor not in (1, HORIZONTAL) or page.bitspersample % 8:
        raise InputError("", "is compressed by LZW in a way that is not supported", "save it without compression")
    dtype = page.dtype.newbyteorder(page.parent.byteorder)
    row = page.imagewidth * page.samplesperpixel * dtype.itemsize
    strips, left = [], page.imagelength
    for offset, count in zip(page.dataoffsets, page.databytecounts, strict=True):
        rows = min(page.rowsperstrip, left)
        strips.append(_lzw(data[offset : offset + count], rows * row))
        left -= rows
    flat = b"".join(strips)
    if len(flat) != page.imagelength * row:
        raise InputError("", "is truncated or corrupt (its LZW data end early)")
    pixels = np.frombuffer(flat, dtype).reshape(page.imagelength, page.imagewidth, page.samplesperpixel)
    pixels = pixels.astype(page.dtype.newbyteorder("="))
    if page.predictor == HORIZONTAL:
        pixels = np.cumsum(pixels, axis=1, dtype=pixels.dtype)
    return pixels[..., 0] if page.samplesperpixel == 1 else pixels


def _lzw(data: bytes, size: int) -> bytes:
    """Decode one strip of codes with 9 to 12 bits, high bit first; 256 resets the table and 257 ends the strip."""
    start = [bytes([k]) for k in range(256)] + [b"", b""]
    table, width, previous = list(start), 9, b""
    out, length, buffer, bits = [], 0, 0, 0
    for byte in data:
        buffer, bits = buffer << 8 | byte, bits + 8
        if bits < width:
            continue
        bits -= width
        code, buffer = buffer >> bits, buffer & ((1 << bits) - 1)
        if code == 257 or length >= size:
            break
        if code == 256:
            table, width, previous = list(start), 9, b""
            continue
        if code < len(table):
            word = table[code]
        elif code == len(table) and previous:
            word = previous + previous[:1]
        else:
            raise InputError("", "is corrupt (its LZW data make no sense)")
        if previous:
            table.append(previous + word[:1])
        out.append(word)
        length += len(word)
        previous = word
        width = min(12, max(9, (len(table) + 1).bit_length()))
    return b"".join(out)[:size]
