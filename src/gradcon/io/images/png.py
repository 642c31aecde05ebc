"""PNG: a reader that keeps the full depth of every kind of pixel, and a writer of 8- and 16-bit images.

Pillow inflates and unfilters, but reduces 16-bit colour to 8 bits, so such an image is decoded twice: once for the high
bytes and once for the low ones.  Before Pillow sees a file, every chunk's checksum is verified, and all chunks but the
header, the palette and the pixels are left out, so that damage never passes for an image and metadata can do no harm.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.damage import claims_too_much, refuse_large
from gradcon.errors import InputError
from gradcon.io.images import orientation as tag

SIGNATURE = b"\x89PNG\r\n\x1a\n"
CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}  # by colour type
GREY, RGB, PALETTE, GREY_ALPHA, RGBA = CHANNELS
_PEAK_8 = {0: 4, 2: 11, 3: 12, 4: 6, 6: 12}  # bytes a pixel, by colour type, at up to 8 bits and at 16
_PEAK_16 = {0: 7, 2: 17, 3: 12, 4: 13, 6: 19}
COMPRESSION = 4  # of 9: 6 takes three times as long, for files that are 1 to 8 % smaller
MAX_TEXT = 2**16  # bytes; longer text chunks are ignored


@dataclass(frozen=True)
class Header:
    """The content of the IHDR chunk."""

    width: int
    height: int
    depth: int
    colour: int
    rest: bytes  # compression, filter, interlace

    def chunk(self) -> bytes:
        return _chunk(b"IHDR", struct.pack(">IIBB", self.width, self.height, self.depth, self.colour) + self.rest)

    def white(self) -> int:
        """Return the largest value that a pixel can have once a palette is resolved."""
        return 255 if self.colour == PALETTE else 2**self.depth - 1

    def raw_bytes(self) -> int:
        """Return the size of the pixels before compression, without the filter bytes."""
        return self.height * ((self.width * self.depth * CHANNELS[self.colour] + 7) // 8)

    def peak_bytes(self) -> int:
        """Return the memory that decoding takes at the most: Pillow's pixels, and up to three copies of the values."""
        return self.width * self.height * (_PEAK_16 if self.depth == 16 else _PEAK_8)[self.colour]


def decode(data: bytes) -> NDArray[Any]:
    """Decode a PNG to uint8 or uint16, (h, w) or (h, w, 3); drop alpha, resolve a palette.

    An InputError has only a `problem`, such as "is truncated": the caller knows the file.
    """
    header, palette, pixels = _read_chunks(data)
    if claims_too_much(header.raw_bytes(), len(pixels)):
        raise InputError("", "holds too little data for its size, so it is truncated or corrupt")
    refuse_large("", 3 * len(data) + header.peak_bytes(), len(data))

    def unpack(shown: Header, rawmode: str | None = None) -> NDArray[Any]:
        return _unpack(b"".join([SIGNATURE, shown.chunk(), palette, pixels, _chunk(b"IEND", b"")]), rawmode)

    if header.colour == GREY and header.depth < 8:
        return unpack(header) // np.uint8(255 // header.white())  # Pillow spreads them over 8 bits
    if header.depth < 16:
        return unpack(header)
    if header.colour == GREY:
        return unpack(header).astype(np.uint16)
    if header.colour == GREY_ALPHA:  # four bytes a pixel, as in 8-bit RGBA: only their meaning differs
        pairs = unpack(Header(header.width, header.height, 8, RGBA, header.rest), "RGBA")
        return pairs[..., :2].copy().view(">u2")[..., 0].astype(np.uint16)
    mode = "RGB" if header.colour == RGB else "RGBA"
    values = np.empty((header.height, header.width, 3), np.uint16)
    values[...] = unpack(header, f"{mode};16B")[..., :3]
    values <<= 8
    values |= unpack(header, f"{mode};16L")[..., :3]
    return values


def white(data: bytes) -> int:
    """Return the value of white in the pixels that `decode` returns."""
    kind, chunk = next(_chunks(data))
    return _header(kind, chunk[8:-4]).white()


def orientation(data: bytes) -> int:
    """Return the orientation in the eXIf chunk, or 1 (upright) if there is none."""
    blocks = (chunk[8:-4] for kind, chunk in _chunks(data) if kind == b"eXIf")
    return tag.orientation(next(blocks, b""))


def read_text(data: bytes) -> tuple[Header, dict[str, str]]:
    """Read the header and the uncompressed texts (tEXt, iTXt), by keyword, of a PNG without damaged chunks.

    A text that is compressed, longer than `MAX_TEXT` or not decodable is left out; of two with the same keyword, the
    first one counts.
    """
    header, texts = None, dict[str, str]()
    for kind, chunk in _chunks(data):
        content = chunk[8:-4]
        if header is None:
            header = _header(kind, content)
        elif kind in (b"tEXt", b"iTXt") and len(content) <= MAX_TEXT:
            keyword, _, rest = content.partition(b"\0")
            try:
                text = rest.decode("latin-1") if kind == b"tEXt" else _international(rest)
            except ValueError:
                continue
            texts.setdefault(keyword.decode("latin-1"), text)
    assert header is not None
    return header, texts


def encode(image: NDArray[Any], texts: Mapping[str, str] | None = None) -> bytes:
    """Encode a uint8 or uint16 image, (h, w) or (h, w, 3), with texts by keyword."""
    array = np.asarray(image)
    if array.dtype not in (np.uint8, np.uint16) or array.ndim not in (2, 3) or array.shape[2:] not in ((), (3,)):
        problem = f"{array.dtype} values of the shape {array.shape} cannot be written as a PNG"
        raise InputError("image", problem, "give uint8 or uint16, (height, width) or (height, width, 3)")
    if array.size == 0:
        raise InputError("image", "has no pixels", "give at least one")
    height, width = array.shape[:2]
    depth = 8 * array.itemsize
    rows = np.ascontiguousarray(array.astype(array.dtype.newbyteorder(">"))).view(np.uint8).reshape(height, -1)
    step = rows.shape[1] // width
    filtered = np.ones((height, 1 + rows.shape[1]), np.uint8)  # filter 1: less the pixel to the left
    filtered[:, 1:] = rows
    filtered[:, 1 + step :] -= rows[:, :-step]
    header = Header(width, height, depth, GREY if array.ndim == 2 else RGB, bytes(3))
    pixels = _chunk(b"IDAT", zlib.compress(filtered.tobytes(), COMPRESSION))
    notes = [_text_chunk(keyword, text) for keyword, text in (texts or {}).items()]
    return b"".join([SIGNATURE, header.chunk(), *notes, pixels, _chunk(b"IEND", b"")])


def _read_chunks(data: bytes) -> tuple[Header, bytes, bytes]:
    """Read the header, the palette chunk and the pixel chunks of a PNG without damaged chunks."""
    header, palette, pixels = None, b"", []
    for kind, chunk in _chunks(data):
        if header is None:
            header = _header(kind, chunk[8:-4])
        elif kind == b"PLTE":
            palette = chunk
        elif kind == b"IDAT":
            pixels.append(chunk)
    assert header is not None
    return header, palette, b"".join(pixels)


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the kind and the bytes of every chunk up to and including IEND; refuse one whose checksum is wrong."""
    position = len(SIGNATURE)
    kind = b""
    while kind != b"IEND":
        if position + 12 > len(data):
            raise InputError("", "is truncated")
        length, kind = struct.unpack_from(">I4s", data, position)
        end = position + 12 + length
        if end > len(data):
            raise InputError("", "is truncated")
        (checksum,) = struct.unpack_from(">I", data, end - 4)
        if zlib.crc32(data[position + 4 : end - 4]) != checksum:
            raise InputError("", "is corrupt (a checksum is wrong)")
        yield kind, data[position:end]
        position = end


def _header(kind: bytes, content: bytes) -> Header:
    if kind != b"IHDR" or len(content) != 13:
        raise InputError("", "is corrupt (it has no header)")
    width, height, depth, colour = struct.unpack_from(">IIBB", content)
    if colour not in CHANNELS or depth not in (1, 2, 4, 8, 16) or width == 0 or height == 0:
        raise InputError("", "is corrupt (its header makes no sense)")
    return Header(width, height, depth, colour, content[10:])


def _unpack(data: bytes, rawmode: str | None) -> NDArray[Any]:
    """Decode the pixels with Pillow; `rawmode` overrides how it splits the bytes."""
    from PIL import PngImagePlugin

    image: Any = PngImagePlugin.PngImageFile(io.BytesIO(data))
    if rawmode is not None:
        image.tile = [(*image.tile[0][:3], rawmode)]
    image.load()
    if image.mode in ("P", "RGBA") and rawmode is None:
        image = image.convert("RGB")
    elif image.mode in ("1", "LA"):
        image = image.convert("L")
    return np.array(image)


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def _text_chunk(keyword: str, text: str) -> bytes:
    """Encode ASCII as tEXt, which every reader knows, and other text as iTXt in UTF-8."""
    if not 0 < len(keyword) < 80 or not (keyword.isascii() and keyword.isprintable()) or "\0" in text:
        problem = f"the text {keyword!r} cannot be written into a PNG"
        raise InputError("texts", problem, "use a short keyword in ASCII, and no NUL in the text")
    if text.isascii():
        return _chunk(b"tEXt", keyword.encode() + b"\0" + text.encode())
    return _chunk(b"iTXt", keyword.encode() + b"\0\0\0\0\0" + text.encode())


def _international(content: bytes) -> str:
    """Decode what follows the keyword in an iTXt chunk: compression flag and method, language, translation, text."""
    if content[:1] != b"\0":
        raise ValueError("compressed")
    _, _, text = content[2:].split(b"\0", 2)
    return text.decode()
