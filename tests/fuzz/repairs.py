"""Correct the checksums of a mutated file, because otherwise nearly all mutations end at the first checksum."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Callable, Mapping

from gradcon.io.images.png import SIGNATURE
from gradcon.jobs.job import sha256_of

_LOCAL, _CENTRAL, _END = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"


def png(data: bytes) -> bytes:
    """Correct the checksum of every chunk of a PNG, as far as its chunks can be followed."""
    fixed, at = bytearray(data), len(SIGNATURE)
    while at + 12 <= len(fixed):
        size = int.from_bytes(fixed[at : at + 4], "big")
        if at + 12 + size > len(fixed):
            break
        fixed[at + 8 + size : at + 12 + size] = struct.pack(">I", zlib.crc32(fixed[at + 4 : at + 8 + size]))
        at += 12 + size
    return bytes(fixed)


def zip_(data: bytes) -> bytes:
    """Correct the checksum of every member of a zip archive, in its list of members too."""
    fixed = bytearray(data)
    at = fixed.find(_CENTRAL)
    while at >= 0 and at + 46 <= len(fixed):
        method, packed = struct.unpack_from("<H", fixed, at + 10)[0], struct.unpack_from("<I", fixed, at + 20)[0]
        local = struct.unpack_from("<I", fixed, at + 42)[0]
        if fixed[local : local + 4] == _LOCAL and local + 30 <= len(fixed):
            name, extra = struct.unpack_from("<HH", fixed, local + 26)
            start = local + 30 + name + extra
            crc = struct.pack("<I", zlib.crc32(_unpacked(method, bytes(fixed[start : start + packed]))))
            fixed[at + 16 : at + 20] = fixed[local + 14 : local + 18] = crc
        at = fixed.find(_CENTRAL, at + 4)
    return bytes(fixed)


def job(data: bytes) -> bytes:
    """Correct the hash that the file of a finished job carries."""
    try:
        kept = json.loads(data)
        kept.pop("sha256", None)
        return json.dumps({**kept, "sha256": sha256_of(kept)}).encode()
    except (ValueError, TypeError, AttributeError, RecursionError):
        return data


def _unpacked(method: int, data: bytes) -> bytes:
    if method != 8:
        return data
    try:
        return zlib.decompressobj(-15).decompress(data, 2**20)
    except zlib.error:
        return data


REPAIRS: Mapping[str, Callable[[bytes], bytes]] = {"png": png, "zip": zip_, "job": job, "": bytes}
