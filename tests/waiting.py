"""How tests wait: as long as a busy machine may take, but not for ever."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

PATIENCE = 600.0  # seconds after which something is taken to hang


def wait_until(condition: Callable[[], Any], pause: float = 0.02) -> Any:
    """Wait until a condition holds; return its value."""
    end = time.monotonic() + PATIENCE
    while not (value := condition()):
        assert time.monotonic() < end, f"not within {PATIENCE:.0f} s"
        time.sleep(pause)
    return value
