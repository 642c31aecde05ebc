"""The cloud that the maps of several views make together, and what became of their pixels."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from gradcon.progress import counted
from gradcon.result.points import PointCloud

if TYPE_CHECKING:
    from gradcon.fusion.mesh import Mesh

Numbers = NDArray[np.int32]


@dataclass(frozen=True)
class Counts:
    """What became of the pixels of all maps.

    Attributes
    ----------
    views : int
        The number of maps.
    pixels : int
        The number of their pixels, which is the sum of all that follow.
    points : int
        Pixels that became points of the cloud.
    merged : int
        Pixels on a surface that an earlier map has shown already.
    unknown : int
        Pixels without a disparity, or without a depth.
    floating : int
        Pixels in the gap between two surfaces.
    unsure : int
        Pixels that are not among the surest ones, of which `keep` is the share.
    unconfirmed : int
        Pixels whose surface too few other maps show.
    seen_through : int
        Pixels at which other maps see through to a surface farther away.
    """

    views: int
    pixels: int
    points: int = 0
    merged: int = 0
    unknown: int = 0
    floating: int = 0
    unsure: int = 0
    unconfirmed: int = 0
    seen_through: int = 0

    def reasons(self) -> str:
        """Say how many pixels were dropped, and why."""
        dropped = {
            "unknown": self.unknown,
            "between two surfaces": self.floating,
            "among the least certain": self.unsure,
            "not confirmed by other views": self.unconfirmed,
            "seen through by other views": self.seen_through,
        }
        return ", ".join(f"{number:,} {why}" for why, number in dropped.items() if number) or "0"


@dataclass(frozen=True, eq=False, repr=False)
class FusedCloud(PointCloud):
    """The points of several maps, each surface once, in the frame of the first view's camera.

    It is a `PointCloud` with more attributes.  Its `deviation` is that of the distance from the camera that shows the
    point, as if the errors of the maps were independent.

    Attributes
    ----------
    views : (n,) uint16
        How many maps show each point, its own included.
    counts : Counts
        What became of the pixels of all maps.
    """

    deviation_of: ClassVar[str] = "the distance from the camera"

    views: NDArray[np.uint16]
    counts: Counts
    _numbers: list[Numbers] = field(default_factory=list)  # for each map, the point that each pixel shows, or -1
    _centres: list[NDArray[np.float64]] = field(default_factory=list)  # where the cameras stand

    def __repr__(self) -> str:
        of = counted(self.counts.views, "view")
        return f"<FusedCloud of {self.name!r}: {len(self)} points from {of}, in {self.unit or 'unknown units'}>"

    def spread(self, most: int) -> NDArray[np.intp]:
        """Return the numbers of at most so many points, in an order whose first n are spread evenly over each view.

        The ranks of the pixels are those of the two-dimensional sequence of the plastic number.
        """
        rank = np.empty(len(self))
        known = 0  # points of the views before
        for number in self._numbers:
            v, u = np.nonzero(number >= known)
            rank[number[v, u]] = (0.7548776662 * u + 0.569840291 * v) % 1
            known += len(v)
        return np.argsort(rank, kind="stable")[:most]

    def mesh(self) -> Mesh:
        """Connect neighbouring points by triangles; the mesh is cut where the depth jumps."""
        from gradcon.fusion.mesh import connect

        return connect(self, self._numbers, self._centres)
