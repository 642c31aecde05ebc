"""Maps in TIFF: one page of uncompressed 32-bit floats, which most programs open; the description is JSON."""

from __future__ import annotations

import io
import logging
from pathlib import Path

import numpy as np

from gradcon.errors import InputError
from gradcon.files import read_bytes
from gradcon.io.images import tiff
from gradcon.io.maps.map import Map, described, parse_description, reading


def read(path: Path) -> Map:
    """Read the map in a TIFF; one that another program wrote has no description."""
    import tifffile

    data = read_bytes(path)
    logging.getLogger("tifffile").addHandler(logging.NullHandler())  # an InputError reports damage instead
    with reading(path, "TIFF"):
        with tifffile.TiffFile(io.BytesIO(data)) as file:
            if len(file.pages) != 1:
                raise InputError("", f"holds {len(file.pages)} pages, not one map")
            text = str(getattr(file.pages[0], "description", ""))
        values = tiff.decode(data)
        if values.ndim != 2:
            raise InputError("", f"holds {values.shape[2]} channels, not one map")
        if values.dtype != np.float32:
            raise InputError("", f"holds {values.dtype} pixels, not the 32-bit floats of a map")
        return described(values, parse_description(text))


def encode(map_: Map) -> bytes:
    import tifffile

    buffer = io.BytesIO()
    tifffile.imwrite(
        buffer,
        map_.values,
        photometric="minisblack",
        description=map_.description(),
        metadata=None,  # otherwise tifffile would add a description of its own
        software="gradcon",
    )
    return buffer.getvalue()
