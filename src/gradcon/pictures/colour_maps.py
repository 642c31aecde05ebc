"""The colour maps to choose from: the few that suit a disparity map."""

from __future__ import annotations

from typing import Any

from gradcon.errors import InputError

# Each name, what matplotlib calls the map, and what it is good for.
_KNOWN = {
    "viridis": ("viridis", "equal steps look equal, from dark blue to yellow"),
    "cividis": ("cividis", "the same, and it looks alike to colour-blind readers"),
    "magma": ("magma", "equal steps look equal, from black through red to near white"),
    "turbo": ("turbo", "many hues, which bring out small steps"),
    "grey": ("gray", "black to white, for print"),
    "coolwarm": ("coolwarm", "blue below 0, pale grey at 0, red above"),
}
DEFAULT_MAP = "viridis"
COLOUR_MAPS = {name: meaning for name, (_, meaning) in _KNOWN.items()}
AROUND_ZERO = {"coolwarm"}  # their middle colour stands for 0


def check_colour_map(name: str) -> str:
    """Return the name of a colour map; refuse one that is not offered."""
    if name not in COLOUR_MAPS:
        *others, last = COLOUR_MAPS
        raise InputError("cmap", f"{name!r} is not a colour map", f"use {', '.join(others)} or {last}")
    return name


def colour_map(name: str) -> Any:
    """Return one of the colour maps, as matplotlib's."""
    from matplotlib import colormaps

    return colormaps[_KNOWN[check_colour_map(name)][0]]


def range_for(name: str, low: float, high: float) -> tuple[float, float]:
    """Return the range that a colour map spans to show the values from `low` to `high`."""
    if check_colour_map(name) not in AROUND_ZERO:
        return low, high
    most = max(abs(low), abs(high))
    return -most, most
