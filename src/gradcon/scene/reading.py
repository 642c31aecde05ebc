"""Read the views of a scene one by one into one array of colours."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradcon.arrays import as_array, module_of, on_device, to_device
from gradcon.damage import refuse_large
from gradcon.errors import InputError
from gradcon.scene.levels import Levels, levels_of, refuse_mixed_ranges
from gradcon.scene.luma import Planes, full_scale, to_planes

Source = ArrayLike | Callable[[], ArrayLike]  # an image, or a function that returns it
READERS = 8  # the most images that are read at once


class Read(NamedTuple):
    """The colours of all views, the reference first."""

    colours: Planes  # (view, channel, height, width)
    grey: NDArray[np.bool_]  # which views came without colours
    brightest: float  # the largest luma of all views, as a fraction of their type's range


def read_colours(
    reference: Planes,
    targets: Sequence[Source],
    names: Sequence[str],
    reference_name: str,
    dtype: np.dtype[Any],
) -> Read:
    """Read the targets, and return the colours of all views.

    Besides these colours, memory holds only a few views at a time.  `dtype` is the type of the reference's pixels
    before they became planes.
    """
    xp = module_of(reference)
    if xp is np:  # a GPU's memory is the business of its library
        at_once = 4 * min(READERS, os.cpu_count() or 1)  # views, and copies of them, while they are read
        refuse_large(f"the {1 + len(targets)} views", (1 + len(targets) + at_once) * reference.nbytes)
    stack = _Stack(reference, 1 + len(targets))

    def fill(k: int) -> Levels:
        source: Any = targets[k]
        image = as_array(source() if callable(source) else source, names[k])
        if full_scale(image.dtype) != full_scale(dtype):  # one white value must hold for all views
            raise InputError(
                names[k],
                f"its pixels are {image.dtype.name} but those of {reference_name} are {dtype.name}",
                "store all views in one type, with one bit depth",
            )
        planes = to_planes(to_device(image) if xp is not np else image, names[k])
        if planes.shape[1:] != reference.shape[1:]:
            (height, width), (h, w) = reference.shape[1:], planes.shape[1:]
            raise InputError(
                names[k],
                f"is {w} x {h} pixels but {reference_name} is {width} x {height}",
                "give views that all have the same size",
            )
        stack.put(1 + k, planes)
        return levels_of(planes)

    if xp is np and any(callable(target) for target in targets):  # then most of the time goes into reading
        with ThreadPoolExecutor(min(READERS, os.cpu_count() or 1)) as pool:
            found = list(pool.map(fill, range(len(targets))))
    else:
        found = [fill(k) for k in range(len(targets))]
    levels = [levels_of(reference), *found]
    refuse_mixed_ranges(levels, [reference_name, *names])
    return Read(stack.colours, stack.grey, max(level.brightest for level in levels))


class _Stack:
    """An array of views that gets three channels as soon as one of them has colours."""

    def __init__(self, reference: Planes, count: int) -> None:
        self.colours = module_of(reference).empty((count, *reference.shape), reference.dtype)
        self.grey = np.zeros(count, bool)
        self.lock = threading.Lock()
        self.put(0, reference)

    def put(self, k: int, planes: Planes) -> None:
        with self.lock:
            if len(planes) > self.colours.shape[1]:
                self.colours = module_of(planes).repeat(self.colours, len(planes), axis=1)
            self.colours[k] = planes
            self.grey[k] = len(planes) == 1


def any_on_device(sources: Sequence[Source]) -> bool:
    """Return whether any image that was given as an array is in a GPU's memory."""
    return any(on_device(source) for source in sources if not callable(source))
