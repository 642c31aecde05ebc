"""One video, or a folder of numbered frames, of a camera that slides past a still scene: a line of views (`--slide`).

The reference is the middle frame.  On each side of it there are up to 8 frames at even distances.  These are as long as
the clip allows, so that disparities are large enough to measure, but no longer than it takes the image to move by a
tenth of its width, so that the farthest frames still show what the reference shows.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradcon.errors import InputError
from gradcon.io.fields import hint
from gradcon.io.formats.format import Format, Hints
from gradcon.io.formats.image_folder import images_in
from gradcon.io.formats.slide_motion import image_motion
from gradcon.io.formats.video import VideoFile, is_video
from gradcon.io.images import read_image
from gradcon.io.listing import ImageFile, Listing, Read, View, stands_at

SIDE = 8  # frames on each side of the reference
REACH = 0.1  # of the image's width: how far it may move between the reference and the farthest frame
DIRECTIONS = {(1, 0): "to the right", (-1, 0): "to the left", (0, 1): "down", (0, -1): "up"}


class _Choice(NamedTuple):
    """The frames in use, and how the camera moves."""

    frames: range
    direction: tuple[int, int]  # of the camera: (x, y)
    seen: bool  # in the images, and not only assumed


def list_slide(path: Path, hints: Hints) -> Listing:
    """List the chosen frames; the reference is the middle frame of the clip unless `hints` names another."""
    names, read_frame, reader = _clip(path)
    if len(names) < 2:
        raise InputError(path, f"holds {len(names)} frame, but a slide needs at least two", "give a longer clip")
    middle = len(names) // 2 if hints.reference is None else _asked_for(str(hints.reference), names, path)
    choice = _choose(read_frame, middle, len(names))
    x, y = choice.direction
    views = {
        k: View(names[k], stands_at(y * place, x * place), read)
        for k, place, read in zip(
            choice.frames, range(-choice.frames.index(middle), len(choice.frames)), reader(choice.frames), strict=False
        )
    }
    metadata = {"format": "slide", "frames": len(names), "step": choice.frames.step, "slide": _described(choice, names)}
    return Listing(path, list(views.values()), views[middle], metadata=metadata, name=path.stem)


def _choose(read: Callable[[int], NDArray[Any]], middle: int, count: int) -> _Choice:
    """Choose the frames around the middle one, so that they reach as far as is useful."""
    forward = middle < count - 1
    first, last = (middle, count - 1) if forward else (0, count - 1)
    motion = image_motion(read, first, last)
    before, after = middle, count - 1 - middle
    step = max(1, max(before, after) // SIDE)
    direction, seen = (1, 0), motion is not None
    if motion is not None:
        axis = int(abs(motion[1]) > abs(motion[0]))
        direction = (int(-np.sign(motion[0])), 0) if axis == 0 else (0, int(-np.sign(motion[1])))
        useful = REACH * read(middle).shape[1 - axis] / abs(motion[axis])  # frames
        step = max(1, min(step, int(useful / SIDE)))
        side = min(SIDE, max(2, int(useful / step)))
    else:
        side = SIDE
    low, high = min(side, before // step), min(side, after // step)
    return _Choice(range(middle - low * step, middle + high * step + 1, step), direction, seen)


def _described(choice: _Choice, names: list[str]) -> str:
    frames, count = choice.frames, len(names)
    every = "all" if len(frames) == count else f"{len(frames)} of the"
    step = f", {frames.step} frames apart" if frames.step > 1 else ""
    towards = DIRECTIONS[choice.direction]
    moves = f"slides {towards}, as the images show" if choice.seen else (
        f"is assumed to slide {towards}, because the images do not show it; if the result is wrong, use --flip x"
    )  # fmt: skip
    return f"{every} {count} frames{step}, from {names[frames[0]]} to {names[frames[-1]]}; the camera {moves}"


def _clip(path: Path) -> tuple[list[str], Callable[[int], NDArray[Any]], Callable[[range], list[Read]]]:
    """Return the names of all frames, a function that reads one, and one that makes the views' readers."""
    if path.is_dir():
        files = images_in(path)
        return (
            [file.name for file in files],
            lambda k: read_image(files[k]),
            lambda frames: [ImageFile(files[k]) for k in frames],
        )
    video = VideoFile(path)
    return [f"frame {k}" for k in range(video.frames)], video.read, partial(_from_video, video)


def _from_video(video: VideoFile, frames: range) -> list[Read]:
    """Return the readers of some frames, which decode the video once for all of them."""
    decoded: dict[int, NDArray[Any]] = {}
    lock = threading.Lock()

    def read(k: int, frame: int) -> NDArray[Any]:
        with lock:
            if not decoded:
                decoded.update({number: video.read(number) for number in frames})
        return decoded[k]

    return [partial(read, k) for k in frames]


def _asked_for(told: str, names: list[str], path: Path) -> int:
    """Return the index of the frame that is called `told`, or of that number in a video."""
    named = f"frame {told}" if re.fullmatch("[0-9]+", told) and names[0] == "frame 0" else told
    if named not in names:
        problem = f"the reference {told!r} is not one of its {len(names)} frames"
        raise InputError(path, problem, hint(named, names))
    return names.index(named)


def _recognise(path: Path, hints: Hints) -> str | None:
    if not hints.slide:
        return None
    if os.path.isfile(path):
        return "a slide was given, in one video" if is_video(path) else None
    return "a slide was given, in a folder of frames" if len(images_in(path)) > 1 else None


SLIDE = Format("the frames of one sliding camera", _recognise, list_slide, frozenset({"slide"}))
