"""Images as 8-bit colours, whatever they were given as."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.scene.luma import white_of


def to_rgb(image: NDArray[Any]) -> NDArray[np.uint8]:
    """8-bit colours of an image as it was given: grey becomes three equal channels, alpha is dropped."""
    array = image[..., None] if image.ndim == 2 else image
    array = array[..., :3] if array.shape[2] >= 3 else np.repeat(array[..., :1], 3, axis=2)
    if array.dtype == np.uint8:
        return array
    values = array.astype(np.float64)
    full = float(np.iinfo(array.dtype).max) if array.dtype.kind in "ui" else 1.0
    white = full * white_of(float(values.max()) / full, array.dtype)
    return np.rint(255 * np.clip(values / white, 0, 1)).astype(np.uint8)
