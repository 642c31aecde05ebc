"""The points that a page shows of a fused cloud."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gradcon.fusion.cloud import FusedCloud

MAX_POINTS = 100_000


@dataclass(frozen=True, eq=False)
class FusedPoints:
    """The points of several maps that a page shows, in the frame of the reference's camera.

    Attributes
    ----------
    positions, colours : (n, 3) float32 and (n, 3) uint8
        In an order whose first points are spread evenly.
    of : int
        The number of points of the whole cloud.
    maps : int
        How many maps were fused.
    confirmed : int
        How many other maps confirm a point, in the median.
    pixels, merged : int
        How many pixels the maps have, and how many of them are merged into points of other maps.
    dropped : str
        How many pixels were dropped, and why.
    """

    positions: NDArray[np.float32]
    colours: NDArray[np.uint8]
    of: int
    maps: int
    confirmed: int
    pixels: int
    merged: int
    dropped: str

    @staticmethod
    def of_cloud(cloud: FusedCloud) -> FusedPoints:
        shown = cloud.spread(MAX_POINTS)
        return FusedPoints(
            positions=cloud.positions[shown],
            colours=cloud.colours[shown],
            of=len(cloud),
            maps=cloud.counts.views,
            confirmed=int(np.median(cloud.views)) - 1,
            pixels=cloud.counts.pixels,
            merged=cloud.counts.merged,
            dropped=cloud.counts.reasons(),
        )
