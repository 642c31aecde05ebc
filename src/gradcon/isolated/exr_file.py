"""What the child process does with OpenEXR files: describe the picture, and read its only channel."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import OpenEXR
from numpy.typing import NDArray

from gradcon.isolated.plain import plain


def describe(path: Path, attributes: list[str]) -> tuple[dict[str, Any], None]:
    """Describe the header of the first part, and say how many parts there are."""
    with OpenEXR.File(str(path), separate_channels=True, header_only=True) as file:
        header = file.header()
        return {
            "parts": len(file.parts),
            "channels": [str(channel.name) for channel in header["channels"]],
            "type": str(header.get("type")),
            "compression": getattr(header["compression"], "name", ""),
            "data": _corners(header["dataWindow"]),
            "shown": _corners(header["displayWindow"]),
            "attributes": {name: plain(header[name]) for name in attributes if name in header},
        }, None


def read(path: Path) -> tuple[dict[str, Any], NDArray[Any]]:
    """Read the pixels of the only channel."""
    with OpenEXR.File(str(path), separate_channels=True) as file:
        ((name, channel),) = file.channels().items()
        return {"channel": str(name)}, np.array(channel.pixels)


def _corners(window: Any) -> list[list[int]]:
    return [[int(place) for place in corner] for corner in window]
