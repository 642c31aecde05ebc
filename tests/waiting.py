"""How tests wait: for as long as a busy machine may take, and no longer than a hang should."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

PATIENCE = 600.0  # seconds after which what has not come is taken never to come


def wait_until(condition: Callable[[], Any], pause: float = 0.02) -> Any:
    """Until something is so; what it is."""
    end = time.monotonic() + PATIENCE
    while not (value := condition()):
        assert time.monotonic() < end, f"not within {PATIENCE:.0f} s"
        time.sleep(pause)
    return value
