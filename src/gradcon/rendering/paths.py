"""Paths of a camera for a film, which end where they begin."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from gradcon.errors import InputError
from gradcon.rendering.synthesis import Position

MOST_FRAMES = 10_000


def _circle(right: float, down: float, share: float) -> Position:
    angle = 2 * math.pi * share
    return right * math.cos(angle), down * math.sin(angle)


def _line(right: float, down: float, share: float) -> Position:
    where = math.cos(2 * math.pi * share)
    return right * where, down * where


PATHS: dict[str, Callable[[float, float, float], Position]] = {"circle": _circle, "line": _line}


def check_path(path: str, frames: int) -> None:
    """Refuse a path that does not exist, and a number of frames that makes no film."""
    if path not in PATHS:
        raise InputError("path", f"{path!r} is not one of {', '.join(PATHS)}")
    check_frames(frames)


def check_frames(frames: int) -> None:
    """Refuse a number of frames that makes no film."""
    if not 2 <= frames <= MOST_FRAMES:
        raise InputError("frames", f"{frames} is not a number of frames", f"give 2 to {MOST_FRAMES}")


def places_along(path: str, middle: Position, reach: Position, frames: int) -> list[Position]:
    """Return the places of a film: on an ellipse around a place with these half axes, or on a line through it."""
    steps = (PATHS[path](*reach, k / frames) for k in range(frames))
    return [(middle[0] + right, middle[1] + down) for right, down in steps]


def corners_of(places: Sequence[Position]) -> tuple[Position, Position]:
    """Return the lower right and the upper left corner of the rectangle around some places."""
    across, down = zip(*places, strict=True)
    return (max(across), max(down)), (min(across), min(down))
