"""Pack arrays as text for a page: short codes, deflated, in base64.  script/data.js unpacks them."""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
CODES = 65534  # a code of 0 means unknown, so the values have codes 1 to 65535


def packed(content: bytes) -> str:
    """Deflate bytes and encode them in base64."""
    return base64.b64encode(zlib.compress(content, 6)).decode("ascii")


def pack_map(values: Array, *, decades: bool = False) -> tuple[dict[str, Any], str]:
    """Pack a (height, width) map as 16-bit codes; return what the codes mean, and the text.

    With `decades`, positive values are coded by their logarithm, so that small ones keep their digits.  Values that
    are not finite become unknown.
    """
    known = np.isfinite(values)
    finite = values[known].astype(np.float64)
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    logarithmic = decades and low > 0
    if logarithmic:
        finite, low, high = np.log(finite), float(np.log(low)), float(np.log(high))
    codes = np.zeros(values.shape, np.uint16)
    codes[known] = 1 + np.rint((finite - low) * (CODES / (high - low or 1.0))).astype(np.uint16)
    return {"low": low, "high": high, "log": logarithmic}, packed(_differences(codes))


def _differences(codes: NDArray[np.uint16]) -> bytes:
    """Return the steps from pixel to pixel along each row, low bytes first: deflate compresses these better."""
    steps = np.diff(codes, axis=1, prepend=np.uint16(0))  # modulo 65536
    return (steps & 255).astype(np.uint8).tobytes() + (steps >> 8).astype(np.uint8).tobytes()


def pack_mask(mask: NDArray[np.bool_]) -> str:
    """Pack one bit per pixel; the first pixel is the lowest bit of its byte."""
    return packed(np.packbits(mask, bitorder="little").tobytes())


def pack_records(records: NDArray[np.uint8]) -> str:
    """Pack a sequence of similar arrays as the changes from each to the next, most of which are small."""
    return packed(np.diff(records, axis=0, prepend=np.uint8(0)).tobytes())  # modulo 256


def pack_points(positions: NDArray[np.float32], colours: NDArray[np.uint8]) -> str:
    """Pack the places and colours of points, (n, 3) each: all x, all y and all z as 32-bit numbers, then colours."""
    return packed(positions.astype("<f4").T.tobytes() + colours.tobytes())
