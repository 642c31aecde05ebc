"""What the cameras of a scene saw of their undistorted views."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradcon.damage import refuse_large
from gradcon.lens.undistortion import Undistortion


class Areas(NamedTuple):
    """Which pixels the cameras saw, and what a scene's metadata say about the lenses."""

    seen: NDArray[np.bool_] | None  # (view, height, width); None if they saw them all
    metadata: dict[str, Any]


def undistorted_areas(lenses: Sequence[Undistortion | None], shape: tuple[int, int]) -> Areas:
    """Return what the cameras of views of this size saw; refuse a lens whose view cannot be undistorted."""
    known = [lens for lens in lenses if lens is not None]
    if not known:
        return Areas(None, {})
    by_key = {lens.key: lens for lens in known}
    areas = {key: lens.seen(shape) for key, lens in by_key.items()}
    masks = [areas[lens.key] if lens is not None else None for lens in lenses]
    seen = None
    if any(mask is not None for mask in masks):
        refuse_large("what the undistorted views show", len(masks) * shape[0] * shape[1])
        seen = np.ones((len(masks), *shape), bool)
        for view, mask in enumerate(masks):
            if mask is not None:
                seen[view] = mask
    found = {
        "views": len(known),
        "models": sorted({lens.distortion.model for lens in known}),
        "unseen": 0.0 if seen is None else float(1 - seen.mean()),  # share of the pixels
    }
    return Areas(seen, {"undistorted": found})
