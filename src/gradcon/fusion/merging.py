"""Fuse the maps of several views into one cloud in which every surface is one layer.

The views take turns, the first one foremost.  A pixel of a view

1. belongs to a point that exists already, if an earlier view shows the same surface there;
2. is dropped if too few other views confirm it, or if many see through it;
3. otherwise becomes a point, at the mean of all views that confirm it, weighted by their inverse variances.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gradcon.errors import InputError
from gradcon.fusion.agreement import Opinion, Pixels, Sheet, opinion
from gradcon.fusion.cloud import Counts, FusedCloud, Numbers
from gradcon.fusion.maps import ViewMaps
from gradcon.fusion.placement import Floats, camera_centre, point_rate, points
from gradcon.fusion.surface import Planes, normals
from gradcon.result.points import KEEP, check_keep, surest
from gradcon.scene.numbers import whole_number

if TYPE_CHECKING:
    from gradcon.result import Result
    from gradcon.result.every_view import EveryView

SEE_THROUGH = 0.5  # a point is dropped if more views see through it than this share of those that confirm it


def fuse(
    results: EveryView | Result | Mapping[str, Result] | Iterable[Result],
    *,
    keep: float | None = None,
    confirm: int = 1,
) -> FusedCloud:
    """Fuse the results of several views of a scene into one point cloud.

    Points of different views that lie on the same surface become one point, at their mean weighted by the inverse
    variances that the results predict, in the mean of their colours.  Points that no other view confirms, or that
    others see through, are dropped.

    Parameters
    ----------
    results : EveryView, or Result, or several of these in a list or a dictionary
        What `estimate_views` returns, or estimates of one scene with different references; the scene of the first one
        must hold the references of the others.  The cloud is in the frame of the first one's camera.
    keep : float, optional
        The share of the surest pixels of each map to use, above 0 and at most 1.  By default all are used if there
        are several maps, and 0.8 of a single one, as by `Result.points`.
    confirm : int
        How many other views must confirm a point.  It has no effect on a single map.

    Returns
    -------
    FusedCloud
        Its `counts` say what became of the pixels, and `mesh()` connects the points.

    Raises
    ------
    InputError
        The scene has no calibration, a result is of another scene, a view has nothing in common with the others, or no
        point is left.

    Examples
    --------
    >>> import gradcon
    >>> scene = gradcon.synth.render("sphere", size=(48, 48), views=5)
    >>> cloud = gradcon.fuse(gradcon.estimate(scene, engine="cpu"))  # a single map
    >>> cloud.counts.views
    1
    """
    return fuse_maps(ViewMaps.of(results), keep, confirm)


def fuse_maps(maps: ViewMaps, keep: float | None = None, confirm: int = 1) -> FusedCloud:
    """Do what `fuse` does for the maps of views."""
    several = len(maps.views) > 1
    share = check_keep((1.0 if several else KEEP) if keep is None else keep)
    needed = check_confirm(confirm) if several else 0
    sheets = [Sheet(view, maps.calibration) for view in maps.views]
    counts = Counter(pixels=sum(sheet.disparity.size for sheet in sheets))
    fused: list[Sheet] = []
    numbers: list[Numbers] = []
    parts: list[_Points] = []
    for sheet in sheets:
        counts["unknown"] += int(sheet.unknown.sum())
        counts["floating"] += int(sheet.gaps.sum())
        pixels = sheet.pixels()
        sure = surest(sheet.view.uncertainty, share)[pixels.v, pixels.u]
        counts["unsure"] += int((~sure).sum())
        number, rest = _merged(sheet, pixels.only(sure), fused, numbers)
        counts["merged"] += int(sure.sum()) - len(rest)
        votes = _Votes(sheet, rest)
        for other in sheets:
            if other is not sheet:
                votes.add(other, opinion(other, sheet, rest))
        if several and len(rest) == np.count_nonzero(sure) > 0 and not votes.seen.any():
            problem = "no other view shows anything of what this view shows"
            where = sheet.view.folder or f"{maps.scene}, {sheet.view.name}"
            raise InputError(where, problem, "leave it out, or add views between")
        through = votes.through > SEE_THROUGH * votes.confirmed
        unconfirmed = ~through & (votes.confirmed < needed)
        counts["seen_through"] += int(through.sum())
        counts["unconfirmed"] += int(unconfirmed.sum())
        good = ~(through | unconfirmed)
        chosen = votes.mean().only(good)
        number[chosen.v, chosen.u] = counts["points"] + np.arange(len(chosen))
        counts["points"] += len(chosen)
        fused.append(sheet.replaced(chosen))
        numbers.append(number)
        parts.append(_Points.of(fused[-1], chosen, votes.colours()[good], 1 + votes.confirmed[good]))
    told = Counts(views=len(sheets), **counts)
    if not told.points:
        where = maps.views[0].folder or maps.scene
        raise InputError(where, f"no point is left: {told.reasons()}", "give other maps, or a larger keep")
    return FusedCloud(
        positions=np.concatenate([part.positions for part in parts]).astype(np.float32),
        colours=np.concatenate([part.colours for part in parts]),
        deviation=np.concatenate([part.deviation for part in parts]).astype(np.float32),
        normals=np.concatenate([part.normals for part in parts]).astype(np.float32),
        unit=maps.calibration.unit,
        name=maps.scene,
        reference=maps.views[0].name,
        views=np.concatenate([part.views for part in parts]).astype(np.uint16),
        counts=told,
        _numbers=numbers,
        _centres=[camera_centre(sheet.space) for sheet in sheets],
    )


def check_confirm(confirm: int) -> int:
    """Refuse anything but a number of views."""
    number = whole_number(confirm)
    if number is None or number < 1:
        raise InputError("confirm", f"{confirm!r} is not a number of views", "give 1 or more")
    return number


def _merged(sheet: Sheet, pixels: Pixels, fused: list[Sheet], numbers: list[Numbers]) -> tuple[Numbers, Pixels]:
    """Give pixels the numbers of points that earlier views show there; return the numbers and the other pixels."""
    number = np.full(sheet.shape, -1, np.int32)
    for earlier, points_of in zip(fused, numbers, strict=True):
        said = opinion(earlier, sheet, pixels)
        same = said.same
        number[pixels.v[same], pixels.u[same]] = points_of[said.row[same], said.column[same]]
        pixels = pixels.only(~same)
    return number, pixels


class _Votes:
    """What the other views say about pixels of a view, added up."""

    def __init__(self, sheet: Sheet, pixels: Pixels) -> None:
        self.pixels = pixels
        self.seen = np.zeros(len(pixels), bool)
        self.confirmed = np.zeros(len(pixels), int)
        self.through = np.zeros(len(pixels), int)
        self._weight = pixels.deviation**-2
        self._shift = np.zeros(len(pixels))
        self._colour = sheet.view.colours[pixels.v, pixels.u].astype(np.float64)

    def add(self, other: Sheet, said: Opinion) -> None:
        yes = said.confirms
        self.seen |= said.inside
        self.confirmed += yes
        self.through += said.through
        weight = said.deviation[yes] ** -2
        self._weight[yes] += weight
        self._shift[yes] += weight * said.difference[yes]
        self._colour[yes] += other.view.colours[said.row[yes], said.column[yes]]

    def mean(self) -> Pixels:
        """Return the pixels at the disparities that they and the views that confirm them find together."""
        w = self.pixels.w + self._shift / self._weight
        return Pixels(self.pixels.u, self.pixels.v, w, self._weight**-0.5)

    def colours(self) -> Floats:
        return np.asarray(self._colour / (1 + self.confirmed)[:, None])


@dataclass(frozen=True)
class _Points:
    """The points that one view adds to the cloud."""

    positions: Floats
    colours: np.ndarray
    deviation: Floats
    normals: Floats
    views: np.ndarray

    @staticmethod
    def of(sheet: Sheet, pixels: Pixels, colours: Floats, views: np.ndarray) -> _Points:
        u, v, w = pixels.u, pixels.v, pixels.w
        X, scale = points(sheet.space, u, v, w)
        planes = Planes(sheet.planes.x[v, u], sheet.planes.y[v, u])
        deviation = pixels.deviation * point_rate(sheet.space, X, scale)
        towards = normals(np.linalg.inv(sheet.space).astype(np.float64), u, v, w, planes)
        return _Points(X, np.rint(colours).astype(np.uint8), deviation, towards, views)
