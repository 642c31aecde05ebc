"""Maps in OpenEXR: one float channel, named after the quantity, and the description as string attributes.

Depth is the channel Z, as is usual in this format; a disparity is the channel V of the layer `disparity`, as renderers
call the plain value of a layer.
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

from gradcon.damage import claims_too_much
from gradcon.errors import InputError
from gradcon.extras import install_extra
from gradcon.files import file_size
from gradcon.io.maps.map import DESCRIPTION, MAX_PIXELS, OLD_NAMES, STEPS, Map, described, plain_number, reading

CHANNELS = {"disparity": "disparity.V", "uncertainty": "uncertainty.V", "depth": "Z", None: "V"}
QUANTITY_OF = {channel: quantity for quantity, channel in CHANNELS.items()}
QUANTITY_OF |= {f"{old}.V": quantity for old, quantity in OLD_NAMES.items()}
KEY = "gradcon."  # put before the name of each attribute
DEFLATED = ("NO_COMPRESSION", "RLE_COMPRESSION", "ZIPS_COMPRESSION", "ZIP_COMPRESSION")


def read(path: Path) -> Map:
    """Read an OpenEXR file of one float channel, whose name tells the quantity if the description does not."""
    exr = _library(path)
    size = file_size(path)
    with reading(path, "OpenEXR"):
        with _silence():
            with exr.File(str(path), separate_channels=True, header_only=True) as file:
                _refuse_other_images(file, size)
            with exr.File(str(path), separate_channels=True) as file:
                header, channels = dict(file.header()), dict(file.channels())
                ((name, channel),) = channels.items()
                values = np.array(channel.pixels)
        if values.dtype != np.float32:
            raise InputError("", f"holds {values.dtype} pixels, not the 32-bit floats of a map")
        if values.shape != _size(header):
            raise InputError("", "holds fewer pixels than it claims")
        fields: dict[str, Any] = {key: header.get(KEY + key) for key in DESCRIPTION}
        fields |= {key: plain_number(str(header[KEY + key])) for key in STEPS if KEY + key in header}
        if fields["quantity"] is None:
            fields["quantity"] = QUANTITY_OF.get(name)
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
            path = Path(folder) / "map.exr"  # the library only writes to files
            with exr.File(header, {CHANNELS[map_.quantity]: map_.values}) as file:
                file.write(str(path))
            return path.read_bytes()
    except (OSError, RuntimeError) as error:
        problem = f"cannot hold a temporary .exr file ({error})"
        raise InputError(tempfile.gettempdir(), problem, "free some space") from None


def _library(path: Path | None) -> Any:
    try:
        import OpenEXR
    except ImportError:
        where = "an .exr file" if path is None else path
        raise InputError(where, "needs the package OpenEXR", install_extra("exr")) from None
    return OpenEXR


def _refuse_other_images(file: Any, size: int) -> None:
    if len(file.parts) != 1:
        raise InputError("", f"holds {len(file.parts)} parts, not one map")
    header = file.header()
    names = [channel.name for channel in header["channels"]]
    if len(names) != 1:
        raise InputError("", f"holds the channels {', '.join(names)}, not one map")
    if "deep" in str(header.get("type")):
        raise InputError("", "holds deep pixels, not one map")
    height, width = _size(header)
    if [list(map(int, corner)) for corner in header["displayWindow"]] != [[0, 0], [width - 1, height - 1]]:
        raise InputError("", "holds a part of a larger picture, not a whole map")
    deflated = getattr(header["compression"], "name", "") in DEFLATED
    if width * height > MAX_PIXELS or (deflated and claims_too_much(4 * width * height, size)):
        raise InputError("", f"claims {width} x {height} pixels, which is more than it can hold")


def _size(header: dict[str, Any]) -> tuple[int, int]:
    """Return (height, width) of the data window."""
    (left, top), (right, bottom) = header["dataWindow"]
    return int(bottom) - int(top) + 1, int(right) - int(left) + 1


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Hide the library's own messages, which it prints to Python's stdout and directly to stderr."""
    sys.stderr.flush()
    kept = os.dup(2)
    try:
        with open(os.devnull, "wb") as nowhere, contextlib.redirect_stdout(io.StringIO()):
            os.dup2(nowhere.fileno(), 2)
            yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
