"""What a child process says about an array in a file (Zarr, HDF5), judged before any of its values are read."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gradcon.damage import MAX_GROWTH, claims_too_much, refuse_large
from gradcon.errors import InputError
from gradcon.files import MAX_FILE_BYTES
from gradcon.isolated import Limits
from gradcon.scene.array_axes import Shape, image_bytes


@dataclass(frozen=True)
class StoredArray:
    """An array that has not been read yet."""

    name: str  # for messages
    shape: Shape
    dtype: np.dtype[Any]
    chunks: Shape  # the shape of what is unpacked at once

    @classmethod
    def of(cls, name: str, facts: Mapping[str, Any] | None, path: Path) -> StoredArray | None:
        """Take what the child says, if there is such an array; refuse chunks that no memory holds."""
        if facts is None:
            return None
        shape, chunks = (tuple(int(count) for count in facts[field]) for field in ("shape", "chunks"))
        array = cls(name, shape, np.dtype(str(facts["dtype"])), chunks)
        if array.chunk_bytes > MAX_FILE_BYTES:
            raise InputError(path, f"its {name} claims chunks of {chunks}", "check the program that wrote it")
        return array

    @property
    def nbytes(self) -> int:
        """The size of all its values in bytes."""
        return image_bytes(self.shape, self.dtype)

    @property
    def chunk_bytes(self) -> int:
        """The size of a chunk in bytes."""
        return image_bytes(self.chunks, self.dtype)

    def part_bytes(self, axes: int) -> int:
        """Return the bytes of the part that an index of the first axes chooses."""
        return image_bytes(self.shape[axes:], self.dtype)

    def unpacked(self, axes: int) -> int:
        """Return the bytes of all chunks that this part touches."""
        counts = [
            chunk * (1 if axis < axes else math.ceil(length / max(1, chunk)))
            for axis, (length, chunk) in enumerate(zip(self.shape, self.chunks, strict=True))
        ]
        return image_bytes(tuple(counts), self.dtype)

    def limits(self, axes: int) -> Limits:
        """Return the limits on reading this part."""
        return Limits.of(self.part_bytes(axes) + self.unpacked(axes))

    def refuse_large(self, path: Path, stored: int, axes: int) -> None:
        """Refuse parts that memory cannot hold, and a small file whose values as a whole would fill it.

        All parts together may be larger than memory, because only some of them may be read.
        """
        where, whole = f"{path}, {self.name}", max(self.nbytes, self.chunk_bytes)
        if claims_too_much(whole, stored, MAX_GROWTH):
            refuse_large(where, whole, stored)
        refuse_large(where, self.part_bytes(axes) + self.unpacked(axes))
