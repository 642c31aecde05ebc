"""The messages between the two processes: JSON, and perhaps an array as plain bytes; nothing that could run code."""

from __future__ import annotations

import json
import math
import struct
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

MAX_TEXT = 2**24  # bytes of JSON
KINDS = "buif"  # of the values that an array may have
_LENGTH = struct.Struct("<I")


class Message(NamedTuple):
    """The fields of a message, and the array that follows them."""

    fields: dict[str, Any]
    array: NDArray[Any] | None


def send(stream: BinaryIO, fields: dict[str, Any], array: NDArray[Any] | None = None) -> None:
    """Write a message; a ValueError means that nothing has been written, as it would not be accepted."""
    if array is not None:
        array = np.ascontiguousarray(array)
        if array.dtype.kind not in KINDS:
            raise ValueError(f"values of the type {array.dtype}")
        fields = {**fields, "array": [array.dtype.str, list(array.shape)]}
    text = json.dumps(fields).encode()
    if len(text) > MAX_TEXT:
        raise ValueError("more text than is accepted")
    stream.write(_LENGTH.pack(len(text)) + text)
    if array is not None and array.size:
        stream.write(array.data.cast("B"))
    stream.flush()


def receive(stream: BinaryIO, most: int = 0) -> Message:
    """Read a message, with an array of at most that many bytes.

    An EOFError says that the other process has ended, and a ValueError that the message makes no sense.
    """
    (length,) = _LENGTH.unpack(_read(stream, _LENGTH.size))
    if length > MAX_TEXT:
        raise ValueError("too long a message")
    try:
        fields = json.loads(_read(stream, length))
        if not isinstance(fields, dict):
            raise ValueError("not an object")
        if "array" not in fields:
            return Message(fields, None)
        name, shape = fields.pop("array")
        dtype, counts = np.dtype(str(name)), [int(count) for count in shape]
    except (TypeError, RecursionError) as error:
        raise ValueError(str(error)) from None
    if dtype.kind not in KINDS or any(count < 0 for count in counts) or math.prod(counts) * dtype.itemsize > most:
        raise ValueError(f"an array of {dtype} and the shape {counts}")
    array = np.empty(counts, dtype)
    if array.size and stream.readinto(array.data.cast("B")) != array.nbytes:  # type: ignore[attr-defined]
        raise EOFError
    return Message(fields, array)


def _read(stream: BinaryIO, count: int) -> bytes:
    found = stream.read(count)
    if len(found) < count:
        raise EOFError
    return found
