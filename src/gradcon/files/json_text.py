"""Encode what files and commands say as JSON that every reader and every terminal takes."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

_UNPRINTED = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")  # what JSON leaves as it is


def to_json(value: Any) -> str:
    """Encode as strict JSON: NaN and infinities become null, and NumPy's numbers and arrays become plain ones."""
    text = json.dumps(_plain(value), indent=2, allow_nan=False, ensure_ascii=False)
    text = _UNPRINTED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)  # so that it can be shown on a terminal
    return text.encode("utf-8", "backslashreplace").decode()  # a file name that is not valid text becomes escapes


def _plain(value: Any) -> Any:
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(item) for item in value]
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)
