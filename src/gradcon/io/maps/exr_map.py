"""Maps in OpenEXR: one float channel, named after the quantity, and the description as string attributes.

Depth is the channel Z, as is usual in this format; a disparity is the channel V of the layer `disparity`, as renderers
call the plain value of a layer.
"""

from __future__ import annotations

import importlib.util
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from gradcon.damage import claims_too_much, refuse_large
from gradcon.errors import InputError
from gradcon.extras import install_extra
from gradcon.files import file_size
from gradcon.io.maps.map import DESCRIPTION, MAX_PIXELS, OLD_NAMES, STEPS, Map, described, plain_number, reading
from gradcon.isolated import LibraryError, Limits, call

CHANNELS = {"disparity": "disparity.V", "uncertainty": "uncertainty.V", "depth": "Z", None: "V"}
QUANTITY_OF = {channel: quantity for quantity, channel in CHANNELS.items()}
QUANTITY_OF |= {f"{old}.V": quantity for old, quantity in OLD_NAMES.items()}
KEY = "gradcon."  # put before the name of each attribute
DEFLATED = ("NO_COMPRESSION", "RLE_COMPRESSION", "ZIPS_COMPRESSION", "ZIP_COMPRESSION")


def read(path: Path) -> Map:
    """Read an OpenEXR file of one float channel, whose name tells the quantity if the description does not."""
    if importlib.util.find_spec("OpenEXR") is None:
        raise InputError(path, "needs the package OpenEXR", install_extra("exr"))
    size = file_size(path)
    wanted = [KEY + key for key in (*DESCRIPTION, *STEPS)]
    try:
        facts = call("exr_file.describe", path, Limits.of(size), attributes=wanted).facts
        with reading(path, "OpenEXR"):
            _refuse_other_images(facts, size)
        height, width = _size(facts)
        found, values = call("exr_file.read", path, Limits.of(size + 4 * height * width), 4 * height * width)
    except LibraryError as error:
        with reading(path, "OpenEXR"):
            raise error
    with reading(path, "OpenEXR"):
        if values is None or values.dtype != np.float32:
            kind = "no" if values is None else values.dtype
            raise InputError("", f"holds {kind} pixels, not the 32-bit floats of a map")
        if values.shape != (height, width):
            raise InputError("", "holds fewer pixels than it claims")
        header = facts["attributes"]
        fields: dict[str, Any] = {key: header.get(KEY + key) for key in DESCRIPTION}
        fields |= {key: plain_number(str(header[KEY + key])) for key in STEPS if KEY + key in header}
        if fields["quantity"] is None:
            fields["quantity"] = QUANTITY_OF.get(found["channel"])
        return described(values, fields)


def encode(map_: Map) -> bytes:
    try:
        import OpenEXR
    except ImportError:
        raise InputError("an .exr file", "needs the package OpenEXR", install_extra("exr")) from None
    header = {"compression": OpenEXR.ZIP_COMPRESSION, "type": OpenEXR.scanlineimage}
    texts = map_.texts()
    if map_.steps is not None:
        texts |= {"scale": repr(map_.steps.scale), "offset": repr(map_.steps.offset)}
    header |= {KEY + name: text for name, text in texts.items()}
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "map.exr"  # the library only writes to files
            with OpenEXR.File(header, {CHANNELS[map_.quantity]: map_.values}) as file:
                file.write(str(path))
            return path.read_bytes()
    except (OSError, RuntimeError) as error:
        problem = f"cannot hold a temporary .exr file ({error})"
        raise InputError(tempfile.gettempdir(), problem, "free some space") from None


def _refuse_other_images(facts: Mapping[str, Any], size: int) -> None:
    if facts["parts"] != 1:
        raise InputError("", f"holds {facts['parts']} parts, not one map")
    if len(facts["channels"]) != 1:
        raise InputError("", f"holds the channels {', '.join(facts['channels'])}, not one map")
    if "deep" in facts["type"]:
        raise InputError("", "holds deep pixels, not one map")
    height, width = _size(facts)
    if facts["shown"] != [[0, 0], [width - 1, height - 1]]:
        raise InputError("", "holds a part of a larger picture, not a whole map")
    deflated = facts["compression"] in DEFLATED
    if width * height > MAX_PIXELS or (deflated and claims_too_much(4 * width * height, size)):
        raise InputError("", f"claims {width} x {height} pixels, which is more than it can hold")
    refuse_large("", 4 * width * height, size)


def _size(facts: Mapping[str, Any]) -> tuple[int, int]:
    """Return (height, width) of the data window."""
    (left, top), (right, bottom) = facts["data"]
    return bottom - top + 1, right - left + 1
