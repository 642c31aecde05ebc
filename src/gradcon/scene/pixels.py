"""The pixels of a scene's views, which scenes of the same views share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.arrays import module_of, to_host
from gradcon.scene.luma import Planes


class SharedPixels:
    """The part of `Scene` that holds the colours of its views.

    A scene that is seen from another of its views has the same pixels in another order.  It holds that order, so that
    a rig of a hundred views needs memory for a hundred images and not for a hundred times as many.
    """

    _pixels: Planes
    _places: NDArray[np.intp] | None = None  # which of the pixels each view has; None if they are in order
    _grey: NDArray[np.bool_]
    _given: Any  # the reference image as it was given

    @property
    def colours(self) -> Planes:
        """The pixels of the reference and then of the targets; a copy if another scene holds them in its own order."""
        return self._pixels if self._places is None else self._pixels[self._places]

    @colours.setter
    def colours(self, colours: Planes) -> None:
        self._pixels, self._places = colours, None

    @property
    def colour(self) -> NDArray[Any]:
        """The reference image as it was given, for pictures."""
        return to_host(self._given)

    def reorder(self, views: NDArray[np.intp]) -> None:
        """Take these views in this order, the new reference first, without a copy of their pixels."""
        self._places = views if self._places is None else self._places[views]
        self._grey = self._grey[views]
        planes = self._pixels[int(self._places[0])]
        self._given = planes[0] if self._grey[0] else module_of(planes).moveaxis(planes, 0, -1)
