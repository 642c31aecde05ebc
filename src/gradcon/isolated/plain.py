"""Say values and types of a file in JSON."""

from __future__ import annotations

from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """Return a number, a text or a list of them.

    An array of one element becomes that element, bytes become text, and anything else None.
    """
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.item() if value.size == 1 else value.tolist()
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value if isinstance(value, (bool, int, float, str)) else None


def type_name(dtype: np.dtype[Any]) -> str:
    """Return the name of a type for `np.dtype`; a type that is not one of numbers becomes mere bytes."""
    return dtype.str if dtype.kind in "buifcO" else f"|V{dtype.itemsize}"
