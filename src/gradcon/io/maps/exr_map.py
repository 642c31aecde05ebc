"""Maps in OpenEXR: one float channel, named by what it is, and the description as string attributes.

Depth is the channel Z, by which the format's users know it; a disparity is V of the layer `disparity`, as renderers
call a plain value of a layer.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from gradcon.errors import InputError
from gradcon.files import file_size
from gradcon.io.claims import claims_too_much
from gradcon.io.maps.map import DESCRIPTION, MAX_PIXELS, STEPS, Map, described, plain_number, reading

CHANNELS = {"disparity": "disparity.V", "uncertainty": "uncertainty.V", "depth": "Z", None: "V"}
KEY = "gradcon."  # before each name of an attribute
DEFLATED = ("NO_COMPRESSION", "RLE_COMPRESSION", "ZIPS_COMPRESSION", "ZIP_COMPRESSION")


def read(path: Path) -> Map:
    """The map in an OpenEXR file of one float channel; of others' files, the channel may tell the quantity."""
    exr = _library(path)
    size = file_size(path)
    with reading(path, "OpenEXR"):
        with _silence():
            with exr.File(str(path), separate_channels=True, header_only=True) as file:
                _refuse_what_is_no_map(file, size)
            with exr.File(str(path), separate_channels=True) as file:
                header, channels = dict(file.header()), dict(file.channels())
                ((name, channel),) = channels.items()
                values = np.array(channel.pixels)
        if values.dtype != np.float32:
            raise InputError(f"holds {values.dtype} pixels, not the 32-bit floats of a map")
        if values.shape != _size(header):
            raise InputError("holds fewer pixels than it says")
        fields: dict[str, Any] = {key: header.get(KEY + key) for key in DESCRIPTION}
        fields |= {key: plain_number(str(header[KEY + key])) for key in STEPS if KEY + key in header}
        if fields["quantity"] is None:
            fields["quantity"] = {channel: quantity for quantity, channel in CHANNELS.items()}.get(name)
        return described(values, fields)


def encode(map_: Map) -> bytes:
    exr = _library(None)
    header = {"compression": exr.ZIP_COMPRESSION, "type": exr.scanlineimage}
    texts = map_.texts()
    if map_.steps is not None:
        texts |= {"scale": repr(map_.steps.scale), "offset": repr(map_.steps.offset)}
    header |= {KEY + name: text for name, text in texts.items()}
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "map.exr"  # the library writes to names alone
            with exr.File(header, {CHANNELS[map_.quantity]: map_.values}) as file:
                file.write(str(path))
            return path.read_bytes()
    except (OSError, RuntimeError) as error:
        raise InputError(
            f"{tempfile.gettempdir()}: cannot hold an .exr for a while ({error}); free some space."
        ) from None


def _library(path: Path | None) -> Any:
    try:
        import OpenEXR
    except ImportError:
        what = "an .exr file" if path is None else str(path)
        raise InputError(f"{what}: needs the package OpenEXR; pip install 'gradcon[exr]'.") from None
    return OpenEXR


def _refuse_what_is_no_map(file: Any, size: int) -> None:
    if len(file.parts) != 1:
        raise InputError(f"holds {len(file.parts)} parts, not one map")
    header = file.header()
    names = [channel.name for channel in header["channels"]]
    if len(names) != 1:
        raise InputError(f"holds the channels {', '.join(names)}, not one map")
    if "deep" in str(header.get("type")):
        raise InputError("holds deep pixels, not one map")
    height, width = _size(header)
    if [list(map(int, corner)) for corner in header["displayWindow"]] != [[0, 0], [width - 1, height - 1]]:
        raise InputError("holds a part of a larger picture, not a whole map")
    deflated = getattr(header["compression"], "name", "") in DEFLATED
    if width * height > MAX_PIXELS or (deflated and claims_too_much(4 * width * height, size)):
        raise InputError(f"says it is {width} x {height} pixels, more than can be meant")


def _size(header: dict[str, Any]) -> tuple[int, int]:
    """(height, width) of the data window."""
    (left, top), (right, bottom) = header["dataWindow"]
    return int(bottom) - int(top) + 1, int(right) - int(left) + 1


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Keep the library's own complaints, through Python to stdout and past it to stderr, from the user."""
    sys.stderr.flush()
    kept = os.dup(2)
    try:
        with open(os.devnull, "wb") as nowhere, contextlib.redirect_stdout(io.StringIO()):
            os.dup2(nowhere.fileno(), 2)
            yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
