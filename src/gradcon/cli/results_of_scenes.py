"""A scene and a disparity map of it, as the commands that need both are given them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from gradcon.cli.app import say
from gradcon.cli.disparities import read_disparity, refuse_another_size, refuse_another_view
from gradcon.cli.openings import Told
from gradcon.errors import InputError

if TYPE_CHECKING:
    from gradcon.io.maps import Map
    from gradcon.scene import Scene


class Both(NamedTuple):
    """A scene with all its views, and a disparity map of its reference."""

    scene: Scene
    disparity: Map
    used: list[str] | None  # the views that the map was made from, if the result says so


def open_both(scene: Path, result: Path, told: Told, views: str = "all") -> Both:
    """Open a scene and a result of it; refuse a result of another scene."""
    from gradcon import open_frames
    from gradcon.io.maps.folder import entry, is_map_file, read_summary

    disparity = read_disparity(result)
    frames = open_frames(scene, views=views, **told)
    if frames.is_video:
        say(f"{scene}: is a video, whose first frame is taken", aside=True)
    opened = frames[0]
    refuse_another_view(disparity, result, frames.listing)
    refuse_another_size(disparity, result, opened.shape, f"a view of {scene}")
    used = None
    if result.is_dir() or is_map_file(result):
        source = entry(read_summary(result if result.is_dir() else result.parent), "source")
        stated = source.get("reference_sha256")
        if stated is not None and stated != opened.reference_fingerprint():
            problem = f"was estimated from other pixels than those of {opened.reference_name} of {scene}"
            raise InputError(result, problem, "give the result of this scene")
        targets = source.get("targets")
        used = [str(name) for name in targets] if isinstance(targets, list) else None
    return Both(opened, disparity, used)


def parse_pair(option: str, text: str, what: str) -> tuple[float, float]:
    """Parse two numbers that a comma separates."""
    try:
        first, second = (float(part) for part in text.split(","))
        if not (math.isfinite(first) and math.isfinite(second)):
            raise ValueError
    except ValueError:
        raise InputError(option, f"{text!r} is not {what}", f"give two numbers, such as --{option}=1,0.5") from None
    return first, second
