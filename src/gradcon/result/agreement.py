"""What the maps of the other views say about each pixel of a view's map."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gradcon.errors import InputError
from gradcon.npz import open_npz

COUNTS = ("confirming", "contradicting", "hidden")  # arrays in the file
MASKS = ("corrected", "unknown")
MOST_VIEWS = 65535
MAX_BYTES = 2**31  # of an array in the file

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Agreement:
    """What the other views' maps say about each pixel of a map.

    Attributes
    ----------
    confirming : (height, width) uint16
        How many views see the same surface there, within the predicted deviations of both maps.
    contradicting : (height, width) uint16
        How many views look through the place where the map has its surface.
    hidden : (height, width) uint16
        How many views cannot see the pixel because a nearer surface is in front of it.
    views : int
        How many other views were asked.  Those that are not counted above have the pixel outside their frame.
    corrected : (height, width) bool
        Pixels that the other views moved to another surface.
    unknown : (height, width) bool
        Pixels that more views contradict than confirm, or that no other view has in its frame.  Their disparity is a
        guess, and their uncertainty is the whole range of the disparities.
    """

    confirming: NDArray[np.uint16]
    contradicting: NDArray[np.uint16]
    hidden: NDArray[np.uint16]
    views: int
    corrected: Mask
    unknown: Mask

    @property
    def unseeing(self) -> NDArray[np.uint16]:
        """How many views cannot see the pixel, because it is hidden or outside their frame."""
        return (self.views - self.confirming - self.contradicting).astype(np.uint16)

    @property
    def occluded(self) -> Mask:
        """The occlusion mask: pixels that a nearer surface hides from at least one other view."""
        return self.hidden > 0

    def summary(self) -> dict[str, float | int]:
        """Return the main numbers: views, and percentages of the pixels."""
        shares = {name: 100 * float(np.mean(getattr(self, name))) for name in ("occluded", *MASKS)}
        seen = np.maximum(self.confirming + self.contradicting, 1)
        return {"views": self.views, "confirmed": 100 * float(np.mean(self.confirming / seen)), **shares}

    def encode(self) -> bytes:
        """Return the content of agreement.npz."""
        buffer = io.BytesIO()
        arrays = {name: getattr(self, name) for name in (*COUNTS, *MASKS)}
        np.savez_compressed(buffer, views=np.int32(self.views), **arrays)
        return buffer.getvalue()


def read_agreement(path: Path, shape: tuple[int, ...]) -> Agreement:
    """Read an agreement.npz, and check it against the (height, width) of the map that it belongs to."""
    members = open_npz(path)
    if missing := [name for name in ("views", *COUNTS, *MASKS) if name not in members]:
        raise InputError(path, f"holds no {missing[0]}", "estimate the views again")
    views = members["views"].read(MAX_BYTES)
    if views.shape != () or views.dtype.kind not in "iu" or not 0 < int(views) <= MOST_VIEWS:
        raise InputError(path, "does not say how many views were asked", "estimate the views again")
    arrays = {name: members[name].read(MAX_BYTES) for name in (*COUNTS, *MASKS)}
    for name, array in arrays.items():
        kind = np.uint16 if name in COUNTS else np.bool_
        if array.shape != shape or array.dtype != kind:
            problem = f"{name} is {array.dtype} of the shape {array.shape}, which does not fit the disparity"
            raise InputError(path, problem, "estimate the views again")
    total = sum(arrays[name].astype(np.int64) for name in COUNTS)
    if int(np.max(total, initial=0)) > int(views):
        raise InputError(path, "counts more views than there are", "estimate the views again")
    return Agreement(views=int(views), **arrays)
