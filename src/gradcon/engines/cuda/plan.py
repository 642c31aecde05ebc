"""What a stage of a run needs on the GPU, laid out once: its views, its scales with their fields, its bands of rows.

The fields of the coarser scales, some hundred numbers per pixel, are made and used in bands of rows, so that they do
not grow with the image.  Those of scale 0 are kept whole, because the weights of the coarser scales need them blurred.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradcon.engines import cascade, model
from gradcon.engines.cascade import Taps
from gradcon.engines.choices import BY_DEFAULT, Choices
from gradcon.engines.contract import Stage, Weighting
from gradcon.engines.cuda.device import Gpu
from gradcon.engines.cuda.solver import ARRAYS
from gradcon.engines.cuda.source import FIXED
from gradcon.engines.filters import filters_of
from gradcon.engines.views import GENERAL, PLANAR, kind_of, order_of
from gradcon.errors import InputError
from gradcon.scene import geometry

TILE_ROWS, TILE_WIDTH, RUN = 32, 128, 8  # as in kernels/filters.h
BAND_BYTES = 768 << 20  # of the coarser scales' fields: less would leave a large GPU idle
GROUP = 16  # views that are weighed together

# The structs of kernels/geometry.h.
VIEW = np.dtype(
    [("kind", "i4"), ("target", "i4"), ("frame", "i4", 4), ("bx", "f4"), ("by", "f4"), ("M", "f8", 9), ("m", "f8", 3)],
    align=True,
)  # fmt: skip
TRUST = np.dtype([("reach", "i4"), ("group_end", "i4"), ("first_share", "i4"), ("belongs", "f4", model.DIRECTIONS)])
SCALE = np.dtype(
    [("taps", "u8"), ("dI", "u8"), ("g", "u8"), ("G", "u8"), ("blurred_g2", "u8"), ("reference", "u8"),
     ("stride", "i8"), ("first_row", "i4"), ("radius", "i4"), ("steps", "i4"), ("has_scale_term", "i4"),
     ("noise", "f4"), ("padding", "i4")], align=True
)  # fmt: skip

Buffer = Callable[[str, tuple[int, ...]], Any]


@dataclass(frozen=True)
class Filter:
    """A smoothing filter and its derivative on the device."""

    radius: int
    steps: int  # taps of each, padded with zeros to whole runs
    taps: Any


class Tiling(NamedTuple):
    """How filters cut the image into tiles."""

    width: int
    shared: int  # bytes of a block


class Band(NamedTuple):
    """A band of rows, and tables that say where the scales' fields for it are."""

    first_row: int
    end_row: int
    scales: Any  # coarser scales first, then scale 0
    blurs: Any  # the scales with a scale term, with the filters that blur what it is made of


@dataclass(frozen=True)
class Plan:
    """What a stage's data term needs."""

    views: Any
    trusts: Any
    shares: Any
    group: int  # views whose N^2 the largest group needs
    general: bool  # whether any view is not planar
    T: int
    Q: int  # number of scales
    coarser: int  # number of scales above scale 0
    blurs: int  # number of scales with a scale term
    finest: Any | None  # the table of scale 0, if it is needed
    finest_tiling: Tiling
    coarser_tiling: Tiling
    blur_tiling: Tiling
    bands: list[Band]


def bytes_needed(shape: tuple[int, int], stage: Stage, choices: Choices = BY_DEFAULT) -> int:
    """Estimate how many bytes the engine needs for a stage."""
    T, coarser = len(stage.views), sum(q > 0 for q in stage.scales)
    pixels = shape[0] * (shape[1] + 31)
    whole = 6 * T + 1 + 3 * (max(stage.scales) + 1) + 4 * ARRAYS // 3 + 12  # planes
    if 0 in scales_with_term(stage, Weighting(), choices):
        whole += T + 1
    return 4 * pixels * whole + min(BAND_BYTES, 4 * pixels * (4 * T + 1) * coarser)


def scales_with_term(stage: Stage, weighting: Weighting, choices: Choices) -> list[int]:
    """Return the scales whose weights have a scale inconsistency."""
    if not (weighting.model and weighting.scale):
        return []
    return [q for q in stage.scales if q > 0 or choices.scale_term == "every"]


def make_filter(device: Gpu, even: Taps, odd: Taps) -> Filter:
    """Bring a smoothing filter and its derivative to the device."""
    pair = told_apart(even, odd)
    length = pair.shape[1]
    taps = np.zeros((2, _steps(length)), np.float32)
    taps[:, :length] = pair
    return Filter(length // 2, taps.shape[1], device.put(taps))


def told_apart(even: Taps, odd: Taps) -> Taps:
    """Return two filters as the rows of one array, so that the kernels do not take them for others.

    The kernels know the filters of the cascade's finest scales by their radii.  Another filter with such a radius gets
    a zero on each side.
    """
    pair = np.stack([even, odd])
    while (q := FIXED.get(pair.shape[1] // 2)) is not None:
        if np.array_equal(pair, [cascade.smoothing(q), cascade.derivative(q)]):
            break
        pair = np.pad(pair, ((0, 0), (1, 1)))
    return pair


def tiling(steps: int, planes: int, shared_limit: int) -> Tiling:
    """Choose tiles as wide as a block's shared memory allows, so that their margins do not dominate."""
    found = _tiling(steps, planes, shared_limit)
    if found is None:
        raise InputError("scales", "need filters that are too long for this GPU", "use fewer scales, or the engine cpu")
    return found


def tiling_of_scale(q: int, shared_limit: int, choices: Choices = BY_DEFAULT) -> Tiling | None:
    """Return the tiling of scale q with all three planes, or None if none fits."""
    filters = filters_of(choices)
    taps = told_apart(filters.smoothing(q), filters.derivative(q))
    return _tiling(_steps(taps.shape[1]), 3, shared_limit)


def _steps(taps: int) -> int:
    return -(-(taps + RUN - 1) // RUN) * RUN


def _tiling(steps: int, planes: int, shared_limit: int) -> Tiling | None:
    def skewed(n: int) -> int:
        return (n + 27) // 32 * 32 + 4

    for width in (TILE_WIDTH >> k for k in range(5)):
        shared = 4 * (2 * steps + TILE_ROWS * (skewed(width + steps - RUN) + planes * skewed(width)))
        if shared <= shared_limit:
            return Tiling(width, shared)
    return None


def fill_scale(row: Any, filter_: Filter, device: Gpu, **fields: Any) -> None:
    """Fill a row of a SCALE table; arrays become their addresses."""
    row["taps"], row["radius"], row["steps"] = device.address(filter_.taps), filter_.radius, filter_.steps
    for name, value in fields.items():
        row[name] = value if np.isscalar(value) else device.address(value)


def view_table(M: geometry.Floats, m: geometry.Floats, frames: NDArray[np.int64], chosen: tuple[int, ...]) -> Any:
    """Return the chosen views as the kernels read them."""
    table = np.zeros(len(chosen), VIEW)
    for row, t in zip(table, chosen, strict=True):
        row["kind"], row["target"] = kind_of(M[t], m[t]), t
        row["frame"], row["bx"], row["by"] = frames[t], *m[t, :2]
        row["M"], row["m"] = M[t].ravel(), m[t]
    return table


def trust_table(baselines: NDArray[np.float64], closed: bool = False) -> tuple[Any, Any]:
    """Return the tables by which the kernels order the trust in views at these baselines: views, and their shares."""
    order = order_of(baselines, closed)
    table = np.zeros(len(baselines), TRUST)
    firsts, ring = [0], 0  # where groups begin, and the last place where a cut parts no ring
    for k, reach in enumerate(order.ends):
        if k - firsts[-1] == GROUP:
            firsts.append(ring if ring > firsts[-1] else k)
        if reach == k + 1:
            ring = k + 1
    for first, end in pairwise([*firsts, len(table)]):
        table["group_end"][first:end] = end
    table["reach"], table["first_share"] = order.ends, order.starts
    table["belongs"][:, : len(order.memberships)] = order.memberships.T
    return table, order.shares


def largest_group(trusts: Any) -> int:
    """Return the largest number of views whose N^2 a group needs: its own, and those that its views look ahead to."""
    ends = np.unique(trusts["group_end"])
    return int((trusts["reach"][ends - 1] - np.append(0, ends[:-1])).max())


def make_plan(
    device: Gpu,
    stage: Stage,
    weighting: Weighting,
    M: geometry.Floats,
    m: geometry.Floats,
    frames: NDArray[np.int64],
    baselines: NDArray[np.float64],
    plane: tuple[int, int],
    filters: dict[int, Filter],
    blurring: dict[int, Filter],
    references: dict[int, Any],
    epsilon: float,
    choices: Choices,
    buffer: Buffer,
) -> Plan:
    """Lay out a stage.

    `filters`, `blurring` (those of the scale terms) and `references` hold its scales and scale 0.  `frames` are where
    the views are coupled to the disparity, and `plane` is (height, pitch).
    """
    T, (height, pitch) = len(stage.views), plane
    coarser = [q for q in stage.scales if q > 0]
    blurred = scales_with_term(stage, weighting, choices)
    needs_finest = bool(blurred) or 0 in stage.scales
    listed = [*coarser, 0] if needs_finest else coarser
    row_bytes = 4 * pitch * (4 * T + 1) * max(len(coarser), 1)
    rows = min(height, max(1, BAND_BYTES // row_bytes // TILE_ROWS) * TILE_ROWS)
    names = ("dI", "g", "G")
    fields = {name: buffer(name, (len(coarser), T, rows, pitch)) for name in names}
    fields["blurred_g2"] = buffer("blurred g2", (len(coarser), T + 1, rows, pitch) if blurred else (len(coarser), 1))
    finest = {name: buffer(f"finest {name}", (T, *plane) if needs_finest else (1,)) for name in names}
    finest["blurred_g2"] = buffer("finest blurred g2", (T + 1, *plane) if 0 in blurred else (1,))
    bands = []
    for first_row in range(0, height, rows):
        used = [(q, filters[q]) for q in listed] + [(q, blurring[q]) for q in blurred]
        table = np.zeros(len(used), SCALE)
        for row, (q, filter_) in zip(table, used, strict=True):
            common = {
                "reference": references[q],
                "noise": model.acquisition_noise(epsilon, model.sigma(q)),
                "has_scale_term": int(q in blurred),
            }
            where = {**finest, "stride": height * pitch, "first_row": 0}
            if q > 0:
                where = {name: field[coarser.index(q)] for name, field in fields.items()}
                where |= {"stride": rows * pitch, "first_row": first_row}
            fill_scale(row, filter_, device, **common, **where)
        there = device.put(table)
        bands.append(Band(first_row, min(first_row + rows, height), there, there[len(listed) * SCALE.itemsize :]))
    limit = device.shared_limit
    table = view_table(M, m, frames, stage.views)
    trusts, shares = trust_table(baselines[list(stage.views)], choices.sectors == "closed")
    planes = 3 if (table["kind"] >= PLANAR).any() else 2  # smooth, d/dx and d/dy; or smooth and one of the two
    return Plan(
        views=device.put(table),
        trusts=device.put(trusts),
        shares=device.put(shares),
        group=largest_group(trusts),
        general=bool((table["kind"] == GENERAL).any()),
        T=T,
        Q=len(stage.scales),
        coarser=len(coarser),
        blurs=len(blurred),
        finest=bands[0].scales[len(coarser) * SCALE.itemsize :] if needs_finest else None,
        finest_tiling=tiling(filters[0].steps, planes, limit),
        coarser_tiling=tiling(max((filters[q].steps for q in coarser), default=RUN), planes, limit),
        blur_tiling=tiling(max((blurring[q].steps for q in blurred), default=RUN), 1, limit),
        bands=bands,
    )
